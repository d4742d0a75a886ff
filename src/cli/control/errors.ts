import { FAILURES, type FailureCode } from '../../domain/failures.js'

/** Exit code where nobody answers. @source docs/cli.md, "Exit codes" */
export const EXIT_NO_ANSWER = FAILURES.NO_ANSWER.exit

/** No sandbox answers; the message says where it was looked for, and what to do. */
export class NoSandboxError extends Error {
  override readonly name = 'NoSandboxError'
  readonly code = 'NO_SANDBOX' satisfies FailureCode
}

/** A flag, argument or variable cannot be used. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'USAGE' satisfies FailureCode
}
