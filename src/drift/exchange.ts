import type { AnswerRules } from '../contract/answer-rules.js'
import type { Operation } from '../contract/contract.js'
import type { Plans } from '../contract/contract-data.js'
import type { EngineAnswer, EngineRequest } from '../contract/engine.js'

/** A request and its answer, as whoever stands between the two has seen them. */
export interface SeenExchange {
  readonly operation: Operation
  /** The path's parameters, as they were sent. */
  readonly captured: readonly string[]
  readonly request: EngineRequest
  /** Header names in lower case. */
  readonly answer: EngineAnswer
}

/** What exchanges are held against. */
export interface Promises {
  readonly rules: AnswerRules
  readonly plans: Plans
  /** Path of the instance, ending in the version segment: `/v1`. */
  readonly basePath: string
}

/** Which promise was broken. */
export type BreachRule =
  | 'status'
  | 'headers'
  | 'body'
  | 'authentication'
  | 'query'
  | 'identity'
  | 'rate-limit-headers'
  | 'retry-after'
  | 'deprecation-headers'

/** One way in which an answer drifts from the contract. */
export interface Breach {
  readonly rule: BreachRule
  /** A sentence part: `X-RateLimit-Limit is missing`. */
  readonly detail: string
}

/** Header names in lower case. */
export type Headers = EngineAnswer['headers']

/** Every limit that a plan of the contract states. */
export function statedLimits(plans: Plans): readonly number[] {
  return Object.values(plans).flatMap(({ perMinute, perDay }) => [perMinute ?? [], perDay ?? []].flat())
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
