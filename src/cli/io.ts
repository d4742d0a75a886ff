import type { Writable } from 'node:stream'
import type { Environment } from '../system/environment.js'

/** A stream that a person or a program reads. */
export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

export type StopSignal = 'SIGINT' | 'SIGTERM'

/** A terminal whose keys can be read one by one. */
export interface Keyboard {
  /** Begins to read, now if the terminal is this process's, else as soon as it is. */
  listen(events: KeyboardEvents): KeyboardSession
  /** Sends a signal to all that the terminal would have sent it to. */
  raise(signal: 'SIGINT' | 'SIGQUIT'): void
}

export interface KeyboardEvents {
  /** What has come from the terminal: a key, the sequence of one, or what was pasted. */
  onKeys(piece: string): void
  /** The terminal was closed. */
  onHangup(): void
}

export interface KeyboardSession {
  /** False in the background. */
  readonly isReading: boolean
  /** Stops the process as Ctrl-Z does, with the terminal as it was; reads again once it is back in the foreground. */
  suspend(): void
  /** Leaves the terminal as it was. */
  stop(): void
}

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
  /** Opened only where keys are read; undefined if stdin is no terminal. */
  keyboard?(): Promise<Keyboard | undefined>
  /** Ends the process at once. */
  exit(code: number): void
  /** Milliseconds from an arbitrary start, never going back. */
  monotonic(): number
  /** A whole number >= 0, a different one each time. */
  randomSeed(): number
}
