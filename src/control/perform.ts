import { Failure } from '../domain/failures.js'
import { splitKey } from '../domain/keys.js'
import { LogUnavailable, StoreFull } from '../domain/problems.js'
import { RecordRefused } from '../domain/records.js'
import type { EpochMs } from '../domain/time.js'
import { OptionsError } from '../options/options.js'
import { systemClock } from '../system/system-clock.js'
import { applyVerb } from './apply-verb.js'
import {
  type ControlTarget,
  checkInput,
  checkSpaceName,
  findSpace,
  type Verb,
  type VerbContext,
  VerbError,
} from './verb.js'
import type { VerbName, VerbOutput } from './verb-map.js'
import { reportVerb } from './verb-text.js'
import { VERBS } from './verbs.js'

/**
 * Runs a verb on a space, for remote and in-process calls. Resolves once its changes are stored. A reading verb does
 * not open the space.
 * @param space empty for the default space
 * @throws VerbError if it was refused, without any change
 * @source docs/behaviour.md, "Spaces"
 */
export async function perform<Name extends VerbName>(
  sandbox: ControlTarget,
  space: string,
  name: Name,
  input: unknown,
): Promise<VerbOutput<Name>>
export async function perform(sandbox: ControlTarget, named: string, name: VerbName, given: unknown): Promise<unknown> {
  const verb: Verb = VERBS[name]
  const { space, input } = inSpaceOfKey(name, named, given)
  const checked = checkInput(verb, input)
  const { spaces, readFixtures, checkFaults } = sandbox
  const read = <T>(act: (context: VerbContext) => T) =>
    sandbox.read((wall) => act({ space: findSpace(spaces, space), spaces, replicas: sandbox.replicas(wall), wall }))
  const report = (output: unknown, wall: EpochMs) =>
    sandbox.onVerb?.(reportVerb(spaces, { space, name, input, output }, wall))
  try {
    checkSpaceName(space)
    const known = spaces.get(space)
    const snapshots = known && sandbox.snapshotsOf(known)
    const local = { target: sandbox, snapshots, read: () => read((context) => context) }
    const done = await verb.runOutsideCore?.(local, checked)
    if (done === undefined && verb.method === 'GET') return await read((context) => verb.run(context, checked))
    if (done !== undefined) {
      if (verb.method !== 'GET') report(done, systemClock.wall())
      return done
    }
    const files = await verb.useFiles?.({ snapshots, readFixtures, checkFaults, read: local.read }, checked)
    const { output, wall } = await sandbox.change({ kind: 'verb', space, verb: name, input, files }, applyVerb)
    report(output, wall)
    return output
  } catch (error) {
    throw asVerbError(error)
  }
}

/** A key as clients send it may name its space: `sandbox-pro~checkout`. @throws VerbError if another one is named beside it */
function inSpaceOfKey(name: VerbName, space: string, input: unknown) {
  const { key } = Object(input)
  if (typeof key !== 'string' || !/^keys\.(?!add)/.test(name)) return { space, input }
  const sent = splitKey(key)
  if (sent.space !== '' && space !== '' && sent.space !== space)
    throw new VerbError('invalid_request', `The key is in the space "${sent.space}", not in "${space}".`)
  return { space: sent.space || space, input: { ...Object(input), key: sent.key } }
}

/** Includes messages of disk errors: the caller owns the sandbox. */
export function asVerbError(error: unknown): unknown {
  if (error instanceof LogUnavailable) return new VerbError('log_unavailable', error.message)
  if (error instanceof OptionsError) return new VerbError('invalid_request', `${error.problems.join('; ')}.`)
  if (error instanceof StoreFull) return new VerbError('store_full', error.message)
  if (error instanceof RecordRefused) return new VerbError(error.code, error.message)
  if (!(error instanceof Failure)) return error
  // A damaged or incompatible snapshot is not a failure of the sandbox.
  const isConflict = error.code === 'STORE_CORRUPT' || error.code === 'STORE_VERSION'
  return new VerbError(isConflict ? 'conflict' : 'internal_error', error.message)
}
