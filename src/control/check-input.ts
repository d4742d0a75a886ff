import * as v from 'valibot'
import { type Path, pathText, writeIssues } from '../options/problem.js'
import { fields } from './fields.js'
import { type Verb, VerbError } from './verb.js'

/** Checks the input of a verb. @throws VerbError that reports all problems at once */
export function checkInput({ input: schema, body }: Pick<Verb, 'input' | 'body'>, input: unknown): unknown {
  const result = v.safeParse(schema ?? NOTHING, input ?? {})
  if (result.success) return result.output
  const problems = writeIssues(result.issues, (path) => partOf(path.filter((part) => part !== body)))
  throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

/** `for`, `used.sandbox`, `[0].fault` */
function partOf(path: Path): string {
  const [first, ...deeper] = path
  if (first === undefined) return 'The input'
  return typeof first === 'number' ? pathText('', path) : pathText(first, deeper)
}

const NOTHING = fields({})
