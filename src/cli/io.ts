import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Environment } from '../system/this-process.js'

export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

export type StopSignal = 'SIGINT' | 'SIGTERM'

export interface Keyboard {
  /** Starts reading, in the background as soon as the process is in the foreground. */
  listen(events: KeyboardEvents): KeyboardSession
  /** Sends a signal to the whole process group, as the terminal would. */
  raise(signal: 'SIGINT' | 'SIGQUIT'): void
}

export interface KeyboardEvents {
  /** A key, the sequence of a key, or pasted text. */
  onKeys(piece: string): void
  onHangup(): void
}

export interface KeyboardSession {
  readonly isReading: boolean
  /** Stops the process as Ctrl-Z does; reads again once it is in the foreground. */
  suspend(): void
  stop(): void
}

export interface CliIo {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Environment
  readonly cwd: string
  readonly pid: number
  /** Handles stop signals, which then no longer end the process. @returns a function that unsubscribes */
  onSignal(listener: (signal: StopSignal) => void): () => void
  /** Undefined if stdin is not a terminal. */
  keyboard?(): Promise<Keyboard | undefined>
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
