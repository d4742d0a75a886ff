import type { Command } from 'commander'
import { didYouMean } from '../domain/suggest.js'
import { seeHelp, unknownCommand } from './help.js'

/**
 * A usage error in our own words, as one line that ends with where to read on.
 *
 * @param message commander's own, or a sentence of ours
 * @param code    commander's own; none with a sentence of ours
 */
export function usageWords(command: Command, message: string, code?: string): string {
  const group = code === 'commander.excessArguments' ? groupOf(command) : undefined
  if (group !== undefined) return usageWords(group, unknownCommand(group, group.args[0] ?? ''))
  const words = sentence(command, message.replace(/^error: /, ''), code)
  return `${words}${/[.?!]$/.test(words) ? '' : '.'} ${seeHelp(command)}`
}

function sentence(command: Command, message: string, code: string | undefined): string {
  const [, quoted = ''] = /'(.*)'/s.exec(message) ?? []
  const option = quoted.replace(/^-\w, /, '')
  switch (code) {
    case 'commander.unknownOption':
      return unknownOption(command, quoted)
    case 'commander.unknownCommand':
      return unknownCommand(command, command.args[0] ?? '')
    case 'commander.missingArgument':
      return `<${quoted}> is missing`
    case 'commander.optionMissingArgument':
      return `${option.replace(/ .*$/s, '')} needs a value: ${option}`
    case 'commander.missingMandatoryOptionValue':
      return `${option} is missing`
    case 'commander.excessArguments':
      return tooMany(command)
    case 'commander.invalidArgument':
      return invalidValue(message)
    default:
      return message
  }
}

/** `unknown option --prot; did you mean --port?` */
export function unknownOption(command: Command, flag: string): string {
  const known = command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? [])
  return `unknown option ${flag}${didYouMean(flag, known, 2)}`
}

function tooMany(command: Command): string {
  const { args, registeredArguments: known } = command
  const taken = known.length === 0 ? 'no argument' : known.length === 1 ? 'one argument' : `${known.length} arguments`
  return `${command.name()} takes ${taken}, but was given ${args.map((word) => JSON.stringify(word)).join(' ')}`
}

/** The command whose verbs do not have the word that was given in place of one: `clock advnce` has led to `clock show`. */
function groupOf(command: Command): Command | undefined {
  if (command.commands.length > 0) return command
  const { parent } = command
  // Commander has no getter for it.
  const isDefault = parent !== null && Reflect.get(parent, '_defaultCommandName') === command.name()
  return isDefault && parent.args[0] !== command.name() ? parent : undefined
}

/** `--rate "1.5": must be a number from 0 to 1` */
function invalidValue(message: string): string {
  const [, ofArgument, argument] =
    /^command-argument value '(.*)' is invalid for argument '([^']*)'\./s.exec(message) ?? []
  const [, flags, ofOption] = /^option '(.*?)' argument '(.*)' is invalid\./s.exec(message) ?? []
  const where = argument === undefined ? (flags ?? '').replace(/^-\w, /, '').replace(/ .*$/, '') : `<${argument}>`
  const why = message.slice(message.lastIndexOf("' is invalid")).replace(/^' is invalid[^.]*\. /, '')
  const problem = why.replace(
    /^Allowed choices are (.*)\.$/,
    (_, all: string) => `must be ${all.replace(/, (?=[^,]*$)/, ' or ')}`,
  )
  return `${where} ${JSON.stringify(ofArgument ?? ofOption ?? '')}: ${problem}`
}
