/** Violations must not happen, warnings should not; notes concern the sandbox. @source docs/conduct.md, "The rules" */
export const VIOLATIONS = [
  'early-retry',
  'no-backoff',
  'request-while-banned',
  'repeated-write',
  'invalid-request',
  'unauthenticated',
  'undocumented-endpoint',
] as const
export const WARNINGS = [
  'early-retry-likely',
  'no-backoff-likely',
  'repeated-write-likely',
  'weak-backoff',
  'request-while-limited',
  'deprecated-operation',
  'unknown-parameter',
  'unknown-field',
  'undocumented-shape',
  'unknown-space',
] as const
export const NOTES = ['ignored-parameter'] as const
export type ViolationRule = (typeof VIOLATIONS)[number]
export type WarningRule = (typeof WARNINGS)[number]
export type NoteRule = (typeof NOTES)[number]
export type ConductRule = ViolationRule | WarningRule | NoteRule

export interface Otherwise {
  /** With at least this number of senders, no occurrence violates the rule. */
  readonly senders: number
}

/** All violations of a rule by one key with the same detail. */
export interface Finding<Rule extends ConductRule = ConductRule> {
  readonly rule: Rule
  /** Label of the key; `none` without a key, `unknown` for an unknown key. */
  readonly key: string
  /** Null for an unknown operation. */
  readonly operation: string | null
  /** Empty without a name. */
  readonly sender: string
  /** Describes the problem and its solution. */
  readonly message: string
  readonly request: { readonly method: string; readonly path: string; readonly query: string }
  /** The response that was ignored; null for rules on a single exchange. */
  readonly disobeyed: DisobeyedResponse | null
  readonly count: number
  /** Products of up to 200 User-Agents: `curl`. */
  readonly clients: readonly string[]
  /** How often each of them occurs. */
  readonly countByClient: Readonly<Record<string, number>>
  /** The first 20 ids. */
  readonly exchanges: readonly number[]
  /** ISO 8601, UTC, by the space's clock. */
  readonly firstAt: string
  readonly lastAt: string
  /** Absent if the number of senders does not matter. */
  readonly otherwise?: Otherwise
}

export interface DisobeyedResponse {
  readonly exchange: number
  /** ISO 8601, UTC, by the space's clock. */
  readonly at: string
  /** 0 if the response was broken or lost. */
  readonly status: number
  readonly retryAfter: string | null
  /** Milliseconds from the response to the request. */
  readonly laterMs: number
}

export interface Refusals {
  /** The sum of `refused`. */
  readonly refusals: number
  readonly refused: { readonly minute: number; readonly day: number; readonly ban: number }
}

export interface PlanOutcome extends Refusals {
  readonly plan: string
  readonly perMinute: number
  readonly perDay: number
}

export interface WhatIf {
  /** With a valid key; neither forced nor refused by a storm or a fault. */
  readonly requests: number
  /** The most requests of one key in one window, without any refusals. */
  readonly peakMinute: number
  readonly peakDay: number
  /** Smallest plan first. */
  readonly plans: readonly PlanOutcome[]
  /** With the actual limits of the keys. */
  readonly configured: Refusals
  /** The smallest plan without refusals; null if all have some. */
  readonly cheapest: string | null
}

export interface Conduct {
  /** Empty for the default space. */
  readonly space: string
  readonly requests: number
  /** Requests that reached an operation with the key that it requires. */
  readonly reached: number
  /** Senders that share a key: as configured, or else the most with the same request in flight at once. */
  readonly senders: number
  readonly sendersStated: boolean
  readonly violations: readonly Finding<ViolationRule>[]
  readonly warnings: readonly Finding<WarningRule>[]
  /** Requests that the sandbox could not serve in full. The client did nothing wrong. */
  readonly notes: readonly Finding<NoteRule>[]
  /** Sums the refusals of all keys. Peaks are the largest of one key. Absent if the contract has no plans. */
  readonly whatIf?: WhatIf
  /** Empty if the contract has no plans. */
  readonly keys: readonly ({ readonly key: string; readonly plan: string } & WhatIf)[]
}
