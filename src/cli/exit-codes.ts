import { FAILURES, type FailureCode } from '../domain/failures.js'

/** Exit codes of commands. @source docs/cli.md, "Exit codes" */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
} as const

export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const

export const EXIT_NO_RESPONSE = FAILURES.NO_RESPONSE.exit

/** Other codes are the system's: ENOENT, EACCES … */
export function exitCodeOf(errorCode: string): number {
  return Object.hasOwn(FAILURES, errorCode) ? FAILURES[errorCode as FailureCode].exit : EXIT.failed
}

export const EXIT_CODES_HELP = `Exit codes:
  0                      done; call: 2xx
  1                      failed; stderr says why, as CODE: message
  2                      usage error: a flag, variable, config file or scenario;
                         call: a request that breaks the contract
  3, 4, 5                call: the class of the final HTTP status
  6                      call --check, verify: a response breaks the contract
  7                      no response: connection, DNS, TLS, timeout
  125, 126, 127          exec: no sandbox, no runnable command, no such command;
                         otherwise the command's own, 128+n after signal n
  130, 143               ended by SIGINT, SIGTERM before it could stop cleanly`
