/**
 * Failures of the tool itself, with exit codes. Commands print the code before the message; programs catch errors by
 * `code`. What to do about them is in fixes.ts. @source docs/cli.md, "Exit codes"
 */
export const FAILURE_EXIT_CODES = {
  USAGE: 2,
  INVALID_OPTIONS: 2,
  FIXTURES_MISSING: 2,
  FIXTURES_INVALID: 1,
  SPEC_INVALID: 2,
  UNKNOWN_OPERATION: 2,
  CANNOT_GENERATE: 2,
  UNKNOWN_KEY: 2,
  LABEL_TAKEN: 2,
  PORT_IN_USE: 1,
  PORT_FORBIDDEN: 1,
  HOST_UNAVAILABLE: 1,
  STORE_LOCKED: 1,
  STORE_CORRUPT: 1,
  STORE_VERSION: 1,
  STORE_UNREADABLE: 1,
  STORE_UNWRITABLE: 1,
  STORE_WRITE_FAILED: 1,
  STORE_CLOSED: 1,
  STORE_LOST: 1,
  LOG_UNAVAILABLE: 1,
  LOG_VERSION: 1,
  GROUP_DIFFERS: 2,
  INVALID_REQUEST: 2,
  INVALID_FLAG: 2,
  CONFIRMATION_NEEDED: 2,
  INVALID_TARGET: 2,
  UNKNOWN_TARGET: 2,
  TARGET_NOT_SET: 2,
  INVALID_CONFIG: 2,
  CANNOT_WRITE: 1,
  NO_RESPONSE: 7,
  NOT_CHECKED: 1,
  NO_SANDBOX: 7,
  STILL_RUNNING: 1,
  NOT_EXECUTABLE: 126,
  NO_SUCH_COMMAND: 127,
  INTERNAL: 1,
} as const satisfies Record<string, 1 | 2 | 7 | 126 | 127>

export type FailureCode = keyof typeof FAILURE_EXIT_CODES

/** Each problem has its solution; the message has a line for each. */
export class Failure extends Error {
  override readonly name: string = 'Failure'
  readonly code: FailureCode
  readonly problems: readonly string[]

  constructor(code: FailureCode, problems: string | readonly string[], options?: ErrorOptions) {
    super([problems].flat().join('\n'), options)
    this.code = code
    this.problems = [problems].flat()
  }
}
