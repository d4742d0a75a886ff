import { FAILURES, type FailureCode } from '../../domain/failures.js'

/** Exit code if there is no response. @source docs/cli.md, "Exit codes" */
export const EXIT_NO_ANSWER = FAILURES.NO_ANSWER.exit

/** The message names where the sandbox was looked for, and what to do. */
export class NoSandboxError extends Error {
  override readonly name = 'NoSandboxError'
  readonly code = 'NO_SANDBOX' satisfies FailureCode
}

/** A flag, argument or variable cannot be used. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'USAGE' satisfies FailureCode
}
