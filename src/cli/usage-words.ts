import type { Command } from 'commander'
import { seeHelp, unknownCommand } from './help.js'

/** One line that ends with a pointer to the help. @param code commander's; undefined for our own messages */
export function usageWords(command: Command, message: string, code?: string): string {
  const group = code === 'commander.excessArguments' ? groupOf(command) : undefined
  if (group !== undefined) return usageWords(group, unknownCommand(group, group.args[0] ?? ''))
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.*)\?\)$/s, '; did you mean $1?')
    .replace(/' is invalid( for argument '[^']*')?\. (?=[a-z{<])/, "' is invalid$1: ")
  return `${text}${/[.?!]$/.test(text) ? '' : '.'} ${seeHelp(command)}`
}

/** The command without a verb of the given name: `clock advnce` leads to `clock show`, the default. */
function groupOf(command: Command): Command | undefined {
  if (command.commands.length > 0) return command
  const { parent } = command
  // Commander has no getter for it.
  const isDefault = parent !== null && Reflect.get(parent, '_defaultCommandName') === command.name()
  return isDefault && parent.args[0] !== command.name() ? parent : undefined
}
