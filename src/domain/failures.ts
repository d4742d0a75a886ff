interface FailureKind {
  /** @source docs/cli.md, "Exit codes" */
  readonly exit: 1 | 2 | 7 | 126 | 127
  readonly meaning: string
}

/**
 * Failures of the tool itself. Commands print the code before the message; programs catch errors by `code`. What
 * to do about them is in fixes.ts.
 */
export const FAILURES = {
  USAGE: { exit: 2, meaning: 'The command line cannot be understood.' },
  INVALID_OPTIONS: { exit: 2, meaning: 'An option is unknown, or its value is not allowed.' },
  FIXTURES_MISSING: { exit: 2, meaning: 'The fixtures folder has no fixture files.' },
  FIXTURES_INVALID: { exit: 1, meaning: 'A fixture file cannot be read, or its content is wrong.' },
  SPEC_INVALID: { exit: 2, meaning: 'The OpenAPI document cannot be served as a contract.' },
  UNKNOWN_OPERATION: { exit: 2, meaning: 'The contract does not have the operation.' },
  CANNOT_GENERATE: { exit: 2, meaning: 'Records of that resource cannot be generated.' },
  UNKNOWN_KEY: {
    exit: 2,
    meaning: 'The scenario names an unknown API key, or bans one that is never banned.',
  },
  LABEL_TAKEN: { exit: 2, meaning: 'The label of an API key is already in use.' },
  PORT_IN_USE: { exit: 1, meaning: 'Another process is listening on the port.' },
  PORT_FORBIDDEN: { exit: 1, meaning: 'This user may not open the port.' },
  HOST_UNAVAILABLE: { exit: 1, meaning: 'The host is not an address of this machine.' },
  STORE_LOCKED: { exit: 1, meaning: 'Another process is using the store.' },
  STORE_CORRUPT: { exit: 1, meaning: 'The store, its journal or a snapshot is damaged.' },
  STORE_VERSION: { exit: 1, meaning: 'The store was written by another release.' },
  STORE_UNREADABLE: {
    exit: 1,
    meaning: 'A file of the store cannot be read, or is a broken symbolic link.',
  },
  STORE_UNWRITABLE: { exit: 1, meaning: 'A file of the store cannot be written.' },
  STORE_WRITE_FAILED: { exit: 1, meaning: 'A change could not be written to the journal.' },
  STORE_CLOSED: { exit: 1, meaning: 'The sandbox has stopped and does not accept changes.' },
  STORE_LOST: { exit: 1, meaning: 'The files of the store were removed while the sandbox was running.' },
  LOG_UNAVAILABLE: {
    exit: 1,
    meaning: 'The Redis with the log of the replicas cannot be reached or used.',
  },
  LOG_VERSION: { exit: 1, meaning: 'The log of the replicas was written by another release.' },
  GROUP_DIFFERS: { exit: 2, meaning: 'The running replicas were started with other options.' },
  INVALID_REQUEST: { exit: 2, meaning: 'The request breaks the contract and was not sent.' },
  INVALID_FLAG: { exit: 2, meaning: 'A flag of call has an invalid value.' },
  CONFIRMATION_NEEDED: { exit: 2, meaning: 'A write to production was not confirmed and was not sent.' },
  INVALID_TARGET: { exit: 2, meaning: 'An address, key file or target setting cannot be used.' },
  UNKNOWN_TARGET: { exit: 2, meaning: 'The target does not exist.' },
  TARGET_NOT_SET: { exit: 2, meaning: 'The target has no base address.' },
  INVALID_CONFIG: { exit: 2, meaning: 'The file of targets cannot be read, or its content is wrong.' },
  CANNOT_WRITE: { exit: 1, meaning: 'An output file could not be written.' },
  NO_RESPONSE: { exit: 7, meaning: 'The request got no complete response in time.' },
  NOT_CHECKED: {
    exit: 1,
    meaning: 'verify could not check any operation; with `verify --fail-on not-checked`, not all.',
  },
  NO_SANDBOX: {
    exit: 7,
    meaning: 'No sandbox was found in this folder. One on port 4010 is only read.',
  },
  STILL_RUNNING: { exit: 1, meaning: 'The sandbox did not stop in time.' },
  NOT_EXECUTABLE: { exit: 126, meaning: 'The command given to exec cannot be run.' },
  NO_SUCH_COMMAND: { exit: 127, meaning: 'The command given to exec does not exist.' },
  INTERNAL: { exit: 1, meaning: 'An unexpected error occurred.' },
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof FAILURES

/** The message has the problem and its solution. */
export class Failure extends Error {
  override readonly name: string = 'Failure'
  readonly code: FailureCode

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
