/** What a command's end says. @source interface, "Exit codes" */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
} as const

/** Exit code of a process that a signal ended. */
export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const

/** Failures that are the caller's, by their code. */
const USAGE_CODES: readonly string[] = [
  'INVALID_OPTIONS',
  'FIXTURES_MISSING',
  'UNKNOWN_OPERATION',
  'UNKNOWN_KEY',
  'SPEC_INVALID',
  'INVALID_TARGET',
  'UNKNOWN_TARGET',
  'TARGET_NOT_SET',
  'INVALID_CONFIG',
]

export function exitCodeOf(errorCode: string): number {
  return USAGE_CODES.includes(errorCode) ? EXIT.usage : EXIT.failed
}

export const EXIT_CODES_HELP = `Exit codes:
  0                      done
  1                      failed; stderr says why, as CODE: message
  2                      wrong usage: a flag, variable, config file or scenario
  130, 143               ended by SIGINT, SIGTERM before it could stop cleanly`
