import * as v from 'valibot'
import { quoted, writeIssues } from '../options/problem.js'
import { isSpaceName } from '../space/authorization.js'
import { fields } from './fields.js'
import { type Steerable, type Steered, type Verb, VerbError } from './verb.js'

/**
 * Does a verb to a space: the one way in, whether the call came over the
 * network or from the same process.
 *
 * @param space empty for the default one; another is opened by this
 * @throws VerbError when it cannot be done; then nothing was changed
 */
export async function perform(sandbox: Steerable, space: string, verb: Verb, input: unknown): Promise<unknown> {
  const steered = findSpace(sandbox, space)
  const checked = checkInput(verb, input)
  return verb.method === 'GET' ? verb.run(steered, checked) : steered.world.inTurn(() => verb.run(steered, checked))
}

export function findSpace(sandbox: Steerable, name: string): Steered {
  if (name !== '' && !isSpaceName(name)) {
    throw new VerbError('invalid_request', `${quoted(name)} is no name of a space. Use 1 to 64 of A-Z a-z 0-9 . _ -`)
  }
  const world = sandbox.spaces.open(name)
  if (world === undefined) throw new VerbError('too_many_spaces', sandbox.spaces.fullMessage())
  return { world, sandbox }
}

/** Every problem is named at once. */
export function checkInput({ input: schema, body }: Pick<Verb, 'input' | 'body'>, input: unknown): unknown {
  const result = v.safeParse(schema ?? NOTHING, input ?? {})
  if (result.success) return result.output
  const problems = writeIssues(result.issues, (path) => path.filter((part) => part !== body).join('.') || 'The input')
  throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

const NOTHING = fields({})
