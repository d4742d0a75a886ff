import type { PlanName } from '../domain/keys.js'

/** Violations must not happen, warnings should not. @source docs/conduct.md, "The rules" */
export const VIOLATIONS = [
  'early-retry',
  'no-backoff',
  'request-while-banned',
  'invalid-request',
  'unauthenticated',
  'undocumented-endpoint',
] as const
export const WARNINGS = [
  'early-retry-likely',
  'no-backoff-likely',
  'weak-backoff',
  'request-while-limited',
  'deprecated-operation',
  'unknown-parameter',
  'unknown-field',
  'undocumented-shape',
] as const
export type ViolationRule = (typeof VIOLATIONS)[number]
export type WarningRule = (typeof WARNINGS)[number]
export type ConductRule = ViolationRule | WarningRule

/** What a finding would be with another number of senders. */
export interface Otherwise {
  /** The smallest number with which no occurrence breaks this rule. */
  readonly senders: number
  /** The rule that they break then; null for none. */
  readonly rule: ConductRule | null
}

/** Breaches of one rule: all occurrences for one key with the same detail. */
export interface Finding<Rule extends ConductRule = ConductRule> {
  readonly rule: Rule
  /** Label of the key; `none` without a key, `unknown` for a key that the sandbox does not know. */
  readonly key: string
  /** Null if the request matched no operation. */
  readonly operation: string | null
  /** Name of the sender; empty if it has none. */
  readonly sender: string
  /** What the client did, and what to do about it. */
  readonly message: string
  /** The first request concerned. */
  readonly request: { readonly method: string; readonly path: string; readonly query: string }
  /** The response that this request disobeyed; null for rules on a single exchange. */
  readonly disobeyed: DisobeyedResponse | null
  /** Number of occurrences. */
  readonly count: number
  /** Ids of the first exchanges concerned, at most 20. */
  readonly exchanges: readonly number[]
  /** ISO 8601, UTC, by the space's clock. */
  readonly firstAt: string
  readonly lastAt: string
  /** Absent where the number of senders changes nothing. */
  readonly otherwise?: Otherwise
}

export interface DisobeyedResponse {
  readonly exchange: number
  /** ISO 8601, UTC, by the space's clock. */
  readonly at: string
  /** 0 if a fault broke the response. */
  readonly status: number
  readonly retryAfter: string | null
  /** Milliseconds from the response to the request. */
  readonly laterMs: number
}

/** Requests that were refused, or would have been. */
export interface Refusals {
  /** The sum of `refused`. */
  readonly refusals: number
  readonly refused: { readonly minute: number; readonly day: number; readonly ban: number }
}

export interface PlanOutcome extends Refusals {
  readonly plan: PlanName
  readonly perMinute: number
  readonly perDay: number
}

/** Traffic that reached the quota, and what each plan would have done with it. */
export interface WhatIf {
  /** Requests with a valid key, neither forced nor refused by a storm or a fault. */
  readonly requests: number
  /** The most requests of one key in one window, if none had been refused. */
  readonly peakMinute: number
  readonly peakDay: number
  /** Smallest plan first. */
  readonly plans: readonly PlanOutcome[]
  /** With the limits that the keys really had. */
  readonly configured: Refusals
  /** The smallest plan that refuses none; null if all refuse some. */
  readonly cheapest: PlanName | null
}

/** How well clients kept the service's rules. */
export interface Conduct {
  /** Empty for the default space. */
  readonly space: string
  /** Judged exchanges. */
  readonly requests: number
  /** Requests with a valid key that reached an operation. */
  readonly reached: number
  /** Senders that share a key: as stated, otherwise the most that had the same request in flight at once. */
  readonly senders: number
  readonly sendersStated: boolean
  readonly violations: readonly Finding<ViolationRule>[]
  readonly warnings: readonly Finding<WarningRule>[]
  /** Of all keys: refusals are summed, peaks are the largest of one key. */
  readonly whatIf: WhatIf
  readonly keys: readonly ({ readonly key: string; readonly plan: PlanName } & WhatIf)[]
}
