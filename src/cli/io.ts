import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Environment } from '../system/this-process.js'
import { SIGNAL_EXIT } from './exit-codes.js'

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

/** @param finish called with the exit code @param commands all commands, for completion */
type DefineCommand = (
  command: Command,
  io: CliIo,
  finish: (exitCode: number) => void,
  commands: readonly CommandEntry[],
) => void

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
