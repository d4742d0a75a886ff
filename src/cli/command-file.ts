import type { Command } from 'commander'
import type { CliIo } from './io.js'

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
