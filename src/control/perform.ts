import * as v from 'valibot'
import { Failure } from '../domain/failures.js'
import { InvalidPet } from '../domain/pets.js'
import { StoreFull } from '../domain/store-full.js'
import { writeIssues } from '../options/problem.js'
import { fields } from './fields.js'
import { findSpace, openSpace } from './find-space.js'
import { type ControlTarget, type Verb, VerbError } from './verb.js'
import type { VerbName, VerbOutput } from './verb-map.js'
import { VERBS } from './verbs.js'

/**
 * Runs a verb on a space: the only way in, whether the call came over the
 * network or from the same process.
 *
 * A verb that changes something opens its space; one that only reads, or takes
 * away, finds nothing in a space that is not there.
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
  const isOpening = verb.method !== 'GET' && verb.method !== 'DELETE'
  const openedAt = isOpening && sandbox.spaces.get(space) === undefined ? sandbox.wall() : undefined
  const target = openedAt === undefined ? findSpace(sandbox, space) : openSpace(sandbox, space, openedAt)
  // Not before its turn: while it waited for other verbs, requests were served.
  const run = () => verb.run({ space: target, sandbox, wall: openedAt ?? sandbox.wall() }, checked)
  try {
    if (verb.method === 'GET') return await run()
    return await (verb.turn === 'sandbox' ? sandbox.spaces.default : target).inTurn(run)
  } catch (error) {
    // Unless a request has come to it meanwhile, a space that was opened for nothing is closed again.
    if (openedAt !== undefined && target.log.total === 0) sandbox.spaces.remove(space)
    throw asVerbError(error)
  }
}

/** Who steers a sandbox is its owner, and may know what its disk said. */
function asVerbError(error: unknown): unknown {
  if (error instanceof StoreFull) return new VerbError('store_full', error.message)
  if (error instanceof InvalidPet) return new VerbError('invalid_request', error.message)
  if (!(error instanceof Failure)) return error
  // A snapshot that is damaged, or of another release, is no failure of the sandbox.
  const isConflict = error.code === 'STORE_CORRUPT' || error.code === 'STORE_VERSION'
  return new VerbError(isConflict ? 'conflict' : 'internal_error', error.message)
}

/** Reports all problems at once. */
export function checkInput({ input: schema, body }: Pick<Verb, 'input' | 'body'>, input: unknown): unknown {
  const result = v.safeParse(schema ?? NOTHING, input ?? {})
  if (result.success) return result.output
  const problems = writeIssues(result.issues, (path) => path.filter((part) => part !== body).join('.') || 'The input')
  throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

const NOTHING = fields({})
