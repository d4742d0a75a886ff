import type { Command } from 'commander'
import type { CliIo } from './io.js'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  /** The module of a command, loaded when it runs. */
  load(): Promise<{ define: DefineCommand }>
}

/**
 * Adds flags and the action to a command.
 *
 * @param finish   called with the exit code
 * @param commands all commands, for completion
 */
type DefineCommand = (
  command: Command,
  io: CliIo,
  finish: (exitCode: number) => void,
  commands: readonly CommandEntry[],
) => void
