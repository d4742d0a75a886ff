import type { Argument, Command, Help, Option } from 'commander'
import { didYouMean } from '../domain/suggest.js'

/** What the help of a command says besides what commander knows of it. */
interface Explanation {
  /** Whole command lines, the commonest first. A further line of one begins with blanks. */
  readonly examples?: readonly string[]
  /** What neither the examples nor the options say. */
  readonly notes?: string
  /** Options that are explained elsewhere, and only named here. */
  readonly elsewhere?: { readonly title: string; readonly options: readonly Option[]; readonly command: string }
}

const EXPLANATIONS = new WeakMap<Command, Explanation>()
const INDENT = '  '
const HELP = 'help'
/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST_TEXT = 80

/** Adds to what the help of a command says. */
export function explain<C extends Command>(command: C, explanation: Explanation): C {
  EXPLANATIONS.set(command, { ...EXPLANATIONS.get(command), ...explanation })
  return command
}

/**
 * The help of a command: what it does in one line, examples, what it takes, in groups, then notes. What many
 * commands share is explained in one place, and named in the others.
 */
function formatHelp(command: Command, helper: Help): string {
  const { examples = [], notes, elsewhere } = EXPLANATIONS.get(command) ?? {}
  const width = helper.helpWidth ?? 80
  const named = elsewhere?.options ?? []
  const sections = sectionsOf(command, helper, named)
  const widest = sections.flatMap(({ items }) => items).reduce((most, [term]) => Math.max(most, term.length), 0)
  const description = helper.commandDescription(command)
  return [
    helper.boxWrap(
      `${description.charAt(0).toUpperCase()}${description.slice(1)}${/[.:…]$/.test(description) ? '' : '.'}`,
      width,
    ),
    '',
    ...(examples.length === 0 ? [] : ['Examples:', ...examples.map((example) => INDENT + example), '']),
    `Usage: ${helper.commandUsage(command)}`,
    '',
    ...sections.flatMap(({ title, items }) => [
      title,
      ...items.map(([term, about]) => helper.formatItem(term, widest, about, helper)),
      '',
    ]),
    ...(elsewhere === undefined
      ? []
      : [
          `${elsewhere.title} (see ${elsewhere.command} --help):`,
          ...wrapped(named.map(shortestName), width - INDENT.length).map((line) => INDENT + line),
          '',
        ]),
    ...(notes === undefined ? [] : [helper.boxWrap(reflowed(notes), Math.min(width, WIDEST_TEXT)), '']),
  ].join('\n')
}

interface Section {
  readonly title: string
  readonly items: readonly (readonly [term: string, about: string])[]
}

function sectionsOf(command: Command, helper: Help, named: readonly Option[]): readonly Section[] {
  const options = helper.visibleOptions(command).filter((option) => !named.includes(option))
  const isOnlyHelp = named.length > 0 && options.every(({ long }) => long === '--help')
  return [
    section('Arguments:', helper.visibleArguments(command), (argument) => [
      helper.argumentTerm(argument),
      helper.argumentDescription(argument),
    ]),
    ...groupedBy(helpLast(helper.visibleCommands(command)), (below) => below.helpGroup() || 'Commands:').map(
      ([title, below]) =>
        section(title, below, (one) => [helper.subcommandTerm(one), helper.subcommandDescription(one)]),
    ),
    ...groupedBy(isOnlyHelp ? [] : options, (option) => option.helpGroupHeading ?? 'Options:').map(([title, group]) =>
      section(title, group, (option) => [helper.optionTerm(option), helper.optionDescription(option)]),
    ),
  ].filter(({ items }) => items.length > 0)
}

function helpLast(commands: readonly Command[]): readonly Command[] {
  return [...commands].sort((one, other) => Number(one.name() === HELP) - Number(other.name() === HELP))
}

function section<T>(title: string, all: readonly T[], itemOf: (one: T) => readonly [string, string]): Section {
  return { title, items: all.map(itemOf) }
}

function groupedBy<T>(all: readonly T[], groupOf: (one: T) => string): readonly (readonly [string, readonly T[]])[] {
  const titles = [...new Set(all.map(groupOf))]
  return titles.map((title) => [title, all.filter((one) => groupOf(one) === title)])
}

/** What commander writes in its own way: the choices of an argument, and those of an option with its default. */
export const HELP_WORDS = {
  formatHelp,
  subcommandTerm: (command: Command) => command.name(),
  argumentDescription: ({ description, argChoices, defaultValue }: Argument) =>
    withRemarks(description, argChoices, defaultValue),
  optionDescription: ({ description, argChoices, defaultValue }: Option) =>
    withRemarks(description, argChoices, defaultValue),
}

function withRemarks(description: string, choices: readonly string[] = [], fallback: unknown): string {
  const remarks = [
    choices.length === 0 ? [] : choices.join(', '),
    fallback === undefined ? [] : `default: ${String(fallback)}`,
  ].flat()
  return remarks.length === 0 ? description : `${description} (${remarks.join('; ')})`
}

/** A line that is not indented goes on with what was before it; the terminal says where lines end. */
function reflowed(text: string): string {
  return text.replace(/^(\S.*)\n(?=\S)/gm, '$1 ')
}

function shortestName({ short, long, flags }: Option): string {
  return short === undefined ? (long ?? flags) : `${short} ${long ?? ''}`.trim()
}

function wrapped(words: readonly string[], width: number): readonly string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 2 + word.length + 1 <= width) lines[lines.length - 1] = `${last}, ${word}`
    else lines.push(word)
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line},` : line))
}

/** `petstore-sandbox control clock`: the words that lead to a command. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

/** How every usage error ends. */
export function seeHelp(command: Command): string {
  const { long = '--help' } = Object(command.createHelp().visibleOptions(command).at(-1)) as Partial<Option>
  return `See ${pathOf(command)} ${/help$/.test(long) ? long : '--help'}.`
}

/** Gives a command a `help` of its own, which finds what is below it however deep. */
export function addHelpCommand(parent: Command): void {
  parent.helpCommand(false)
  // An operation of a contract may be called so.
  if (parent.commands.some((command) => command.name() === HELP)) return
  parent
    .command(HELP)
    .argument('[command...]', 'which one')
    .description('print the help of a command')
    .action((names: readonly string[]) => {
      let command = parent
      for (const name of names) {
        const next = command.commands.find((one) => one.name() === name || one.aliases().includes(name))
        if (next === undefined) command.error(unknownCommand(command, name))
        else command = next
      }
      command.help()
    })
}

/** `unknown command "serv"; did you mean serve?` */
export function unknownCommand(command: Command, name: string): string {
  const known = command.createHelp().visibleCommands(command)
  return `unknown command ${JSON.stringify(name)}${didYouMean(
    name,
    known.flatMap((one) => [one.name(), ...one.aliases()]),
  )}`
}
