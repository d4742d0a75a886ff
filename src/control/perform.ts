import * as v from 'valibot'
import type { Spaces } from '../core/spaces.js'
import { Failure } from '../domain/failures.js'
import { isSpaceName } from '../domain/space-name.js'
import { StoreFull } from '../domain/store-full.js'
import { quoted, writeIssues } from '../options/problem.js'
import { didYouMean } from '../options/suggest.js'
import { fields } from './fields.js'
import { type Steerable, type Steered, type Verb, VerbError } from './verb.js'
import type { VerbName, VerbOutput } from './verb-map.js'
import { VERBS } from './verbs.js'

/**
 * Does a verb to a space: the one way in, whether the call came over the
 * network or from the same process.
 *
 * A verb that changes something opens its space; one that only reads, or takes
 * away, finds nothing in a space that is not there.
 *
 * @param space empty for the default one
 * @throws VerbError when it cannot be done; then nothing was changed
 * @source core, "Reads open nothing"
 */
export async function perform<Name extends VerbName>(
  sandbox: Steerable,
  space: string,
  name: Name,
  input: unknown,
): Promise<VerbOutput<Name>>
export async function perform(sandbox: Steerable, space: string, name: VerbName, input: unknown): Promise<unknown> {
  const verb: Verb = VERBS[name]
  const checked = checkInput(verb, input)
  const isOpening = verb.method !== 'GET' && verb.method !== 'DELETE'
  const steered = isOpening ? openSpace(sandbox, space) : findSpace(sandbox, space)
  const run = () => verb.run(steered, checked)
  try {
    return await (verb.method === 'GET' ? run() : steered.world.inTurn(run))
  } catch (error) {
    throw asVerbError(error)
  }
}

/** Who steers a sandbox is its owner, and may know what its disk said. */
function asVerbError(error: unknown): unknown {
  if (error instanceof StoreFull) return new VerbError('store_full', error.message)
  if (!(error instanceof Failure)) return error
  // A snapshot that is damaged, or of another release, is no failure of the sandbox.
  const isConflict = error.code === 'STORE_CORRUPT' || error.code === 'STORE_VERSION'
  return new VerbError(isConflict ? 'conflict' : 'internal_error', error.message)
}

/** @throws VerbError where there is no such space */
export function findSpace(sandbox: Steerable, name: string): Steered {
  checkName(name)
  const world = sandbox.spaces.get(name)
  if (world === undefined) throw noSuchSpace(sandbox.spaces, name)
  return { world, sandbox }
}

function openSpace(sandbox: Steerable, name: string): Steered {
  checkName(name)
  const world = sandbox.spaces.open(name)
  if (world === undefined) throw new VerbError('too_many_spaces', sandbox.spaces.fullMessage())
  return { world, sandbox }
}

function checkName(name: string): void {
  if (name === '' || isSpaceName(name)) return
  throw new VerbError('invalid_request', `${quoted(name)} is no name of a space. Use 1 to 64 of A-Z a-z 0-9 . _ -`)
}

/** Says that a space is not open, and how one is. */
export function noSuchSpace(spaces: Spaces, name: string): VerbError {
  const meant = didYouMean(name, spaces.names()) || '.'
  return new VerbError(
    'not_found',
    `There is no space ${quoted(name)}${meant} A space is opened by its first request (with a key such as sandbox~name), or by a verb that changes it.`,
  )
}

/** Every problem is named at once. */
export function checkInput({ input: schema, body }: Pick<Verb, 'input' | 'body'>, input: unknown): unknown {
  const result = v.safeParse(schema ?? NOTHING, input ?? {})
  if (result.success) return result.output
  const problems = writeIssues(result.issues, (path) => path.filter((part) => part !== body).join('.') || 'The input')
  throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

const NOTHING = fields({})
