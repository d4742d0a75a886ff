import { stringifyJson } from '../contract/json.js'
import type { Space } from '../core/space.js'
import { Failure } from '../domain/failures.js'
import { LogUnavailable } from '../domain/log-unavailable.js'
import { InvalidPet } from '../domain/pets.js'
import { StoreFull } from '../domain/store-full.js'
import type { EpochMs } from '../domain/time.js'
import { utf8Length } from '../system/utf8.js'
import { applyVerb } from './apply-verb.js'
import { checkInput } from './check-input.js'
import { checkSpaceName, findSpace } from './find-space.js'
import { tellOf } from './tell-of.js'
import { type ControlTarget, type Verb, type VerbContext, VerbError } from './verb.js'
import type { VerbName, VerbOutput } from './verb-map.js'
import { VERBS } from './verbs.js'

/** A change may take as much more room than the text that it came as, in bytes: quotes, field names, escapes. */
const MOST_FRAMING = 4096

/**
 * Runs a verb on a space: the only way in, whether the call came over the
 * network or from the same process. It is done when what it has changed is kept.
 *
 * A verb that only reads, or takes away, finds nothing in a space that is not there.
 *
 * @param space empty for the default one
 * @throws VerbError if it cannot be done; nothing has changed then
 * @source docs/behaviour.md, "Spaces"
 */
export async function perform<Name extends VerbName>(
  sandbox: ControlTarget,
  space: string,
  name: Name,
  input: unknown,
): Promise<VerbOutput<Name>>
export async function perform(sandbox: ControlTarget, space: string, name: VerbName, input: unknown): Promise<unknown> {
  const verb: Verb = VERBS[name]
  const checked = checkInput(verb, input)
  try {
    checkSpaceName(space)
    const known = sandbox.spaces.get(space)
    const snapshots = known && sandbox.snapshotsOf(known)
    if (known !== undefined && snapshots !== undefined && verb.outside !== undefined) {
      const context = await sandbox.read((wall) => contextOf(sandbox, known, wall))
      return await verb.outside(snapshots, context, checked)
    }
    if (verb.send !== undefined) {
      const context = await sandbox.read((wall) => contextOf(sandbox, findSpace(sandbox.spaces, space), wall))
      return await verb.send(sandbox, context, checked)
    }
    if (verb.method === 'GET')
      return await sandbox.read((wall) => verb.run(contextOf(sandbox, findSpace(sandbox.spaces, space), wall), checked))
    // It stops the process, and changes nothing of the sandbox in it.
    if (name === 'shutdown') sandbox.shutdown()
    const { readFixtures } = sandbox
    const fetched = await verb.fetch?.({ snapshots, readFixtures }, checked)
    if (space === '') await sandbox.makeRoom(sizeOf(input) + MOST_FRAMING)
    const { output, wall } = await sandbox.change({ kind: 'verb', space, verb: name, input, fetched }, applyVerb)
    sandbox.onVerb?.(tellOf(sandbox.spaces, { space, name, input, output }, wall))
    return output
  } catch (error) {
    throw asVerbError(error)
  }
}

function contextOf(sandbox: ControlTarget, space: Space, wall: EpochMs): VerbContext {
  return { space, spaces: sandbox.spaces, replicas: sandbox.replicas(wall), wall }
}

function sizeOf(input: unknown): number {
  return input === undefined ? 0 : utf8Length(stringifyJson(input))
}

/** Who steers a sandbox is its owner, and may know what its disk said. */
function asVerbError(error: unknown): unknown {
  if (error instanceof LogUnavailable) return new VerbError('log_unavailable', error.message)
  if (error instanceof StoreFull) return new VerbError('store_full', error.message)
  if (error instanceof InvalidPet) return new VerbError('invalid_request', error.message)
  if (!(error instanceof Failure)) return error
  // A snapshot that is damaged, or of another release, is no failure of the sandbox.
  const isConflict = error.code === 'STORE_CORRUPT' || error.code === 'STORE_VERSION'
  return new VerbError(isConflict ? 'conflict' : 'internal_error', error.message)
}
