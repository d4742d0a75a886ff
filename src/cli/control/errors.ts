import { FAILURES, type FailureCode } from '../../domain/failures.js'

/** Exit code if there is no response. @source docs/cli.md, "Exit codes" */
export const EXIT_NO_RESPONSE = FAILURES.NO_ANSWER.exit

export class NoSandboxError extends Error {
  override readonly name = 'NoSandboxError'
  readonly code = 'NO_SANDBOX' satisfies FailureCode
}

export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'USAGE' satisfies FailureCode
}
