import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import { FAILURE_EXIT_CODES, type FailureCode } from '../domain/failures.js'
import type { Environment } from '../system/this-process.js'

export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

export type StopSignal = 'SIGINT' | 'SIGTERM'

export interface CliIo {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Environment
  readonly cwd: string
  readonly pid: number
  /** Handles stop signals, which then no longer end the process. @returns a function that unsubscribes */
  onSignal(listener: (signal: StopSignal) => void): () => void
  exit(code: number): void
  monotonic(): number
  randomSeed(): number
}

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<{ define: DefineCommand }>
}

/** @param finish called with the exit code */
type DefineCommand = (command: Command, io: CliIo, finish: (exitCode: number) => void) => void

/** A second signal within this time counts as the first: npm sends each SIGINT twice. */
export const SAME_SIGNAL_MS = 100

export interface SignalHandlers<Signal> {
  graceful(signal: Signal): void
  force(signal: Signal): void
}

export function gracefulThenForce<Signal>(
  { monotonic }: Pick<CliIo, 'monotonic'>,
  { graceful, force }: SignalHandlers<Signal>,
): (signal: Signal) => void {
  let firstAt: number | undefined
  return (signal) => {
    const now = monotonic()
    if (firstAt === undefined) {
      firstAt = now
      graceful(signal)
    } else if (now - firstAt > SAME_SIGNAL_MS) force(signal)
  }
}

export function onStopSignals(io: CliIo, handlers: SignalHandlers<StopSignal>): () => void {
  return io.onSignal(gracefulThenForce(io, handlers))
}

/** Runs an action that the first stop signal aborts. @returns its exit code, or the signal's */
export async function abortOnSignal(io: CliIo, act: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const abort = new AbortController()
  let received: StopSignal | undefined
  const ignore = io.onSignal((signal) => {
    received ??= signal
    abort.abort()
  })
  try {
    return await act(abort.signal)
  } catch (error) {
    if (received === undefined) throw error
    return SIGNAL_EXIT[received]
  } finally {
    ignore()
  }
}

/** Exit codes of commands. @source docs/cli.md, "Exit codes" */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
} as const

export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const

export const EXIT_NO_RESPONSE = FAILURE_EXIT_CODES.NO_RESPONSE

/** Other codes are the system's: ENOENT, EACCES … */
export function exitCodeOf(errorCode: string): number {
  return Object.hasOwn(FAILURE_EXIT_CODES, errorCode) ? FAILURE_EXIT_CODES[errorCode as FailureCode] : EXIT.failed
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
