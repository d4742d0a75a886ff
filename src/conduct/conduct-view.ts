import type { PlanName } from '../domain/keys.js'

/** What a client must not do, and what it should not. @source docs/conduct.md, "The rules" */
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
  /** The smallest number with which none of its occurrences would be what it is. */
  readonly senders: number
  /** What they would be instead; null for nothing. */
  readonly rule: ConductRule | null
}

/** Breaches of one rule: all occurrences for one key with the same detail. */
export interface Finding<Rule extends ConductRule = ConductRule> {
  readonly rule: Rule
  /** Label of the key; `none` where none was sent, `unknown` for one that the sandbox does not know. */
  readonly key: string
  /** Null if the request matched no operation. */
  readonly operation: string | null
  /** One sentence for people on what the client did, from the newest occurrence. */
  readonly message: string
  /** How often. */
  readonly count: number
  /** Ids of the first exchanges concerned, at most 20. */
  readonly exchanges: readonly number[]
  /** ISO 8601, UTC, by the space's clock. */
  readonly firstAt: string
  readonly lastAt: string
  /** Absent where the number of senders changes nothing. */
  readonly otherwise?: Otherwise
}

/** What was refused of the traffic, or would have been. */
export interface Refusals {
  /** The sum of `refused`. */
  readonly refusals: number
  readonly refused: { readonly minute: number; readonly day: number; readonly ban: number }
}

/** What one plan would have done with the traffic. */
export interface PlanOutcome extends Refusals {
  readonly plan: PlanName
  readonly perMinute: number
  readonly perDay: number
}

/** Traffic that reached the quota, and what each plan would have done with it. */
export interface WhatIf {
  /** Requests counted here: with a valid key, neither forced nor refused by a storm or a fault. */
  readonly requests: number
  /** The most requests of one key in one window, had nothing been refused. */
  readonly peakMinute: number
  readonly peakDay: number
  /** Smallest plan first. */
  readonly plans: readonly PlanOutcome[]
  /** What the limits did that the keys really had, whatever plan they were on. */
  readonly configured: Refusals
  /** The smallest plan that refuses nothing; null if all refuse some. */
  readonly cheapest: PlanName | null
}

/** How well clients kept the service's rules. */
export interface Conduct {
  /** Empty for the default space. */
  readonly space: string
  /** Exchanges that were judged. */
  readonly requests: number
  /** How many senders of the same request were taken to share a key. */
  readonly senders: number
  readonly violations: readonly Finding<ViolationRule>[]
  readonly warnings: readonly Finding<WarningRule>[]
  /** Of all keys together: each key has a quota of its own; refusals are summed, peaks are the largest of one key. */
  readonly whatIf: WhatIf
  readonly keys: readonly ({ readonly key: string; readonly plan: PlanName } & WhatIf)[]
}
