import { type Command, Help, type Option } from 'commander'
import { didYouMean } from '../domain/suggest.js'

interface Explanation {
  /** Whole command lines, the most common first. Continuation lines begin with blanks. */
  readonly examples?: readonly string[]
  readonly notes?: string
  readonly rare?: readonly Option[]
  /** Options that are explained in the help of another command, and only named here. */
  readonly elsewhere?: { readonly title: string; readonly options: readonly Option[]; readonly command: string }
}

const EXPLANATIONS = new WeakMap<Command, Explanation>()
const FULL = new WeakSet<Command>()
const FULL_HELP = '--help-all'
const HELP = 'help'
const MAX_TEXT_WIDTH = 80

export function explain<C extends Command>(command: C, explanation: Explanation): C {
  EXPLANATIONS.set(command, { ...EXPLANATIONS.get(command), ...explanation })
  return command
}

function formatHelp(command: Command, helper: Help): string {
  const { examples = [], notes, elsewhere, rare = [] } = EXPLANATIONS.get(command) ?? {}
  const width = helper.helpWidth ?? 80
  const left = FULL.has(command) ? [] : rare
  const hidden = new Set([...left, ...(elsewhere?.options ?? [])])
  const shown: Help = Object.assign(Object.create(helper), {
    commandDescription: () => '',
    visibleOptions: (of: Command) => helper.visibleOptions(of).filter((option) => !hidden.has(option)),
  })
  const description = helper.commandDescription(command)
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}${/[.:\u2026]$/.test(description) ? '' : '.'}`
  const names = elsewhere?.options.map(({ long, flags }) => long ?? flags) ?? []
  const list = helper.boxWrap(names.join(', '), width - 2).replace(/^/gm, '  ')
  // Lines of notes without indentation are one paragraph.
  const text = notes?.replace(/^(\S.*)\n(?=\S)/gm, '$1 ')
  return [
    helper.boxWrap(sentence, width),
    '',
    ...(examples.length === 0 ? [] : ['Examples:', ...examples.map((example) => `  ${example}`), '']),
    new Help().formatHelp(command, shown),
    ...(left.length === 0 ? [] : [`${left.length} more options: ${commandPath(command)} ${FULL_HELP}`, '']),
    ...(elsewhere === undefined ? [] : [`${elsewhere.title} (see ${elsewhere.command} --help):`, list, '']),
    ...(text === undefined ? [] : [helper.boxWrap(text, Math.min(width, MAX_TEXT_WIDTH)), '']),
  ].join('\n')
}

/** Descriptions also wrap on a terminal of 60 columns. */
export const HELP_FORMAT = { formatHelp, minWidthToWrap: 20, subcommandTerm: (command: Command) => command.name() }

export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`
}

export function addFullHelp(command: Command): void {
  command.option(FULL_HELP, 'print this help with all options')
  command.on(`option:${FULL_HELP.slice(2)}`, () => {
    FULL.add(command)
    command.help()
  })
}

export function seeHelp(command: Command): string {
  // An operation's parameter may be called --help.
  const { long = '--help' } = Object(command.createHelp().visibleOptions(command).at(-1)) as Partial<Option>
  return `See ${commandPath(command)} ${/help$/.test(long) ? long : '--help'}.`
}

export function addHelpCommand(parent: Command): void {
  parent.helpCommand(false)
  // An operation of a contract may have this name.
  if (parent.commands.some((command) => command.name() === HELP)) return
  parent
    .command(HELP)
    .argument('[command...]', 'which one')
    .description('print the help of a command')
    .action((names: readonly string[]) => {
      let command = parent
      for (const name of names) {
        const next = command.commands.find((item) => item.name() === name || item.aliases().includes(name))
        if (next === undefined) command.error(unknownCommand(command, name))
        else command = next
      }
      command.help()
    })
}

function unknownCommand(command: Command, name: string): string {
  const known = command.createHelp().visibleCommands(command)
  const names = known.flatMap((item) => [item.name(), ...item.aliases()])
  return `unknown command '${name}'${didYouMean(name, names)}`
}

/** One line that ends with a pointer to the help. @param code commander's; undefined for our own messages */
export function usageMessage(command: Command, message: string, code?: string): string {
  const group = code === 'commander.excessArguments' ? groupOf(command) : undefined
  if (group !== undefined) return usageMessage(group, unknownCommand(group, group.args[0] ?? ''))
  const isPort = /'(?:-p|--port)'/.test(message) && command.options.some(({ long }) => long === '--url')
  const text = (isPort ? `${message}: name the sandbox with --url http://127.0.0.1:<port>` : message)
    .replace(/^error: (?:command-argument )?/, '')
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

/** Whether everything after the first argument belongs to another program, as in `exec npx vitest --run`. */
export function passesThrough(command: Command): boolean {
  // Commander has no getter for it.
  return Reflect.get(command, '_passThroughOptions') === true
}
