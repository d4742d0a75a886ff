import type { FailureCode } from '../domain/failures.js'

/** Options that cannot be used: a usage error. It holds all that is wrong, not only the first. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  readonly code = 'INVALID_OPTIONS' satisfies FailureCode
  /** Each names where the value came from, the value, and what is allowed. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}
