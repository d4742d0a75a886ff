import * as v from 'valibot'
import { writeIssues } from '../options/problem.js'
import { fields } from './fields.js'
import { type Verb, VerbError } from './verb.js'

/** Checks the input of a verb. @throws VerbError that reports all problems at once */
export function checkInput({ input: schema, body }: Pick<Verb, 'input' | 'body'>, input: unknown): unknown {
  const result = v.safeParse(schema ?? NOTHING, input ?? {})
  if (result.success) return result.output
  const problems = writeIssues(result.issues, (path) => path.filter((part) => part !== body).join('.') || 'The input')
  throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

const NOTHING = fields({})
