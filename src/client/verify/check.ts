/** How well one promise of the contract was kept. */
export type CheckOutcome =
  | 'kept'
  | 'drift'
  /** It could not be checked; the details say why. */
  | 'skipped'
  /** The connection gave no answer. */
  | 'unanswered'

export interface Check {
  /** The operation's id. */
  readonly operation: string
  /** What was checked against the contract: `two-newest`, `401 without a key`. */
  readonly name: string
  /** Method, path and query of what was asked; undefined if nothing was. */
  readonly request?: string
  readonly outcome: CheckOutcome
  /** Each way in which it drifts, or why it was not checked. */
  readonly details: readonly string[]
}

export interface Verification {
  readonly checks: readonly Check[]
  /** Operations of which a response to the key was checked against the contract. */
  readonly reached: readonly string[]
  /** What was left behind. */
  readonly notes: readonly string[]
}
