import type { Command } from 'commander'
import type { CliIo } from './io.js'

/** The module of a command. Only the one that runs is loaded, and that of `serve`, which must start fast. */
interface CommandFile {
  /**
   * Gives the command its flags and its action.
   *
   * @param finish   takes the exit code
   * @param commands every command there is, for completion
   */
  define(command: Command, io: CliIo, finish: (exitCode: number) => void, commands: readonly CommandEntry[]): void
}

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<CommandFile>
}
