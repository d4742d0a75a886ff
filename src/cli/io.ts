import type { Writable } from 'node:stream'
import type { Environment } from '../system/environment.js'

/** A stream that a person or a program reads. */
export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

export type StopSignal = 'SIGINT' | 'SIGTERM'

/** Everything that commands know about the process they run in. */
export interface CliIo {
  /** Results only. */
  readonly stdout: Output
  /** Everything else. */
  readonly stderr: Output
  readonly env: Environment
  readonly cwd: string
  readonly pid: number
  /** Calls back at each stop signal, which then no longer ends the process. @returns a function that unsubscribes */
  onSignal(listener: (signal: StopSignal) => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
  /** Milliseconds from an arbitrary start, never going back. */
  monotonic(): number
  /** A whole number >= 0, a different one each time. */
  randomSeed(): number
}
