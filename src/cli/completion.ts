import { join } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { contractData } from '../contract/generated/contract-data.js'
import { FAULTS } from '../domain/faults.js'
import { allowedWords, pathKind } from '../options/allowed.js'
import { toCamelCase } from '../options/letter-case.js'
import { isOptionName } from '../options/table.js'
import { fixturesDirectory, packageDirectory } from '../system/package-files.js'
import { readRegularFile } from '../system/regular-file.js'
import { FAIL_ON_WORDS } from './conduct/conduct-report.js'
import { explain, passesThrough } from './help.js'
import { type CliIo, type CommandEntry, EXIT } from './io.js'
import { print } from './print.js'

/** Each script under the name that its shell looks for. The build copies them from completion/scripts. */
const SCRIPTS = {
  bash: 'petstore-sandbox.bash',
  zsh: '_petstore-sandbox',
  fish: 'petstore-sandbox.fish',
} as const
type Shell = keyof typeof SCRIPTS
export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[]

const NOTES = `\
Prints the script. To load it in every new shell:
  bash   echo 'eval "$(petstore-sandbox completion bash)"' >> ~/.bashrc
  zsh    echo 'source <(petstore-sandbox completion zsh)' >> ~/.zshrc    (after compinit)
  fish   petstore-sandbox completion fish > ~/.config/fish/completions/petstore-sandbox.fish`

export function define(
  command: Command,
  io: CliIo,
  finish: (exitCode: number) => void,
  commands: readonly CommandEntry[],
): void {
  explain(command, { examples: ['petstore-sandbox completion bash'], notes: NOTES })
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
    .addOption(new Option('--line <text>', 'for the scripts: the command line up to the cursor').hideHelp())
    .option('--debug', 'show stack traces')
    .action(async (shell: Shell, { line }: { readonly line?: string }) => {
      await print(io.stdout, line === undefined ? readScript(shell) : await complete(command, line, io, commands))
      finish(EXIT.ok)
    })
}

export function readScript(shell: Shell): string {
  return readRegularFile(join(packageDirectory, 'dist', 'completion', SCRIPTS[shell])).toString()
}

/** For the scripts: a line on paths (`:none`, `:file`, `:folder`), then a line for each word, its meaning after a tab. */
async function complete(own: Command, line: string, io: CliIo, commands: readonly CommandEntry[]): Promise<string> {
  const all = splitLine(line)
  // Variables may be set before the program: `PETSTORE_SANDBOX_PLAN=pro petstore-sandbox serve`.
  const words = all.slice(all.findIndex((word) => !/^\w+=/.test(word)) + 1)
  const typed = words.pop() ?? ''
  const program = own.parent ?? own
  const open = async (command: Command) => {
    if (command === own || command.parent !== program) return
    const entry = commands.find(({ name }) => name === command.name())
    if (entry !== undefined) (await entry.load()).define(command, io, () => {}, commands)
  }
  const suggestions = await suggest(program, open, words, typed)
  const lines = suggestions.words
    .filter(({ value }) => value.startsWith(typed))
    .map(({ value, description = '' }) => `${value}\t${description.replace(/\s+/g, ' ')}`)
  return `${[`:${suggestions.paths}`, ...lines].join('\n')}\n`
}

/** Splits a line into words, as shells do; the last one is being typed, empty after a blank. A quote may be open. */
export function splitLine(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (const [, single, double, escaped, blank, plain] of line.matchAll(
    /'([^']*)'?|"((?:[^"\\]|\\.)*)\\?"?|\\(.?)|(\s)|(.)/gs,
  )) {
    if (blank !== undefined) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + (single ?? double?.replace(/\\(.)/gs, '$1') ?? escaped ?? plain ?? '')
  }
  return [...words, word ?? '']
}

interface Suggestions {
  readonly words: readonly { readonly value: string; readonly description?: string }[]
  readonly paths: 'file' | 'folder' | 'none'
}

const NONE: Suggestions = { words: [], paths: 'none' }

/** Words that need no quotes in any shell. */
const PLAIN = /^[\w.:@/+-]+$/

function valuesOf(words: readonly string[], paths: Suggestions['paths'] = 'none'): Suggestions {
  return { words: words.filter((word) => PLAIN.test(word)).map((value) => ({ value })), paths }
}

interface Cursor {
  readonly command: Command
  readonly pending?: Option | undefined
  readonly givenOptions: ReadonlySet<Option>
  readonly count: number
  /** After `--`, or within the command line of another program. */
  readonly onlyArguments: boolean
}

/** @param open defines the flags and subcommands of a command @param typed the word at the cursor */
export async function suggest(
  program: Command,
  open: (command: Command) => Promise<void>,
  words: readonly string[],
  typed: string,
): Promise<Suggestions> {
  const cursor = await walk(program, open, words)
  const { command, pending, count, onlyArguments } = cursor
  if (pending !== undefined) return valuesOfOption(command, pending)
  const ofArgument = valuesAt(cursor)
  if (onlyArguments) return ofArgument
  const [, flag] = /^(--[\w-]+)=/.exec(typed) ?? []
  if (flag !== undefined) {
    const option = findOption(command, flag)
    if (option === undefined) return NONE
    const values = valuesOfOption(command, option)
    return { ...values, words: values.words.map(({ value }) => ({ value: `${flag}=${value}` })) }
  }
  const flags = optionsOf(command)
    .filter((option) => !cursor.givenOptions.has(option) || option.parseArg !== undefined)
    .flatMap(({ long, short, description }) => ({ value: long ?? short ?? '', description }))
  if (typed.startsWith('-')) return { words: flags, paths: 'none' }
  const subcommands = commandsOf(command).map((one) => ({
    value: one.name(),
    description: one.summary() || one.description(),
  }))
  const here = [...(count === 0 ? subcommands : []), ...ofArgument.words]
  return { words: here.length > 0 || ofArgument.paths !== 'none' ? here : flags, paths: ofArgument.paths }
}

async function walk(
  program: Command,
  open: (command: Command) => Promise<void>,
  words: readonly string[],
): Promise<Cursor> {
  let command = program
  let pending: Option | undefined
  let givenOptions = new Set<Option>()
  let count = 0
  let onlyArguments = false
  for (const word of words) {
    if (pending !== undefined) pending = undefined
    else if (onlyArguments) count++
    else if (word === '--') onlyArguments = true
    else if (word.startsWith('-')) {
      const option = findOption(command, word.replace(/=.*/s, ''))
      if (option !== undefined) givenOptions.add(option)
      if (option?.required && !word.includes('=')) pending = option
    } else {
      const next = commandsOf(command).find((one) => one.name() === word || one.aliases().includes(word))
      if (next === undefined || count > 0) {
        count++
        onlyArguments = passesThrough(command)
      } else if (next.name() !== 'help' || next.registeredArguments[0]?.name() !== 'command') {
        // After `help` comes one of its siblings. An operation may also have this name.
        command = next
        await open(command)
        givenOptions = new Set()
      }
    }
  }
  return { command, pending, givenOptions, count, onlyArguments }
}

function commandsOf(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command)
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command)
}

function findOption(command: Command, flag: string): Option | undefined {
  return optionsOf(command).find((option) => option.long === flag || option.short === flag)
}

function valuesAt({ command, count, onlyArguments }: Cursor): Suggestions {
  const { registeredArguments: known } = command
  const last = known.at(-1)
  const argument = known[count] ?? (last?.variadic ? last : undefined)
  if (argument === undefined) return NONE
  const found = valuesOfArgument(command, argument)
  return found === NONE && (onlyArguments || passesThrough(command)) ? { words: [], paths: 'file' } : found
}

function valuesOfOption(command: Command, option: Option): Suggestions {
  const choices = valuesOf(option.argChoices ?? [])
  return choices.words.length > 0 ? choices : valuesNamed(option.attributeName(), command)
}

function valuesOfArgument(command: Command, argument: Argument): Suggestions {
  if (argument.argChoices !== undefined) return valuesOf(argument.argChoices)
  const found = valuesNamed(toCamelCase(argument.name()), command)
  const isOnly = command.registeredArguments.length === 1
  return found === NONE && isOnly ? valuesNamed(toCamelCase(command.name()), command) : found
}

const operationIds = () => contractData.operations.map(({ id }) => id)
const faultRules = () => operationIds().flatMap((operation) => FAULTS.map((fault) => `${operation}:${fault}`))
const packagedKeys = () => {
  const file = readRegularFile(join(fixturesDirectory, 'keys.json')).toString()
  return (JSON.parse(file) as readonly { readonly key: string }[]).map(({ key }) => key)
}

const LISTS: Readonly<Record<string, () => readonly string[]>> = {
  operation: operationIds,
  key: packagedKeys,
  fault: faultRules,
  rule: faultRules,
  failOn: () => FAIL_ON_WORDS,
}
const FILES: readonly string[] = ['report', 'apiKeyFile', 'file']

function valuesNamed(name: string, command: Command): Suggestions {
  const operation = contractData.operations.find(({ id }) => id === command.name())
  const known = [...(operation?.parameters ?? []), ...(operation?.body?.fields ?? [])].find((one) => one.name === name)
  if (known?.enum !== undefined) return valuesOf(known.enum.map(String))
  if (Object.hasOwn(LISTS, name)) return valuesOf(LISTS[name]?.() ?? [])
  if (FILES.includes(name)) return valuesOf([], 'file')
  return isOptionName(name) ? valuesOf(allowedWords(name), pathKind(name)) : NONE
}
