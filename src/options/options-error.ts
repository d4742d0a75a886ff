import type { FailureCode } from '../domain/failures.js'

/** Invalid options: a usage error. It lists all problems, not only the first. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  readonly code = 'INVALID_OPTIONS' satisfies FailureCode
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}
