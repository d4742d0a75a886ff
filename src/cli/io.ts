import type { Writable } from 'node:stream'
import type { Command } from 'commander'
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

/** @param finish called with the exit code @param commands all commands, for completion */
type DefineCommand = (
  command: Command,
  io: CliIo,
  finish: (exitCode: number) => void,
  commands: readonly CommandEntry[],
) => void
