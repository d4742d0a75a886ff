import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Argument, Command, type Option } from 'commander'
import type { CliIo } from '../src/cli/io.js'
import type { OptionName } from '../src/options/table.js'
import { fixturesDirectory, packageDirectory } from '../src/system/package-files.js'

const TEMPLATES = join(packageDirectory, 'scripts/completion')

interface Word {
  readonly word: string
  readonly about: string
}

type Values = readonly Word[] | 'paths'

/** A command by the words that lead to it: ` control clock`. */
interface CompletedCommand {
  readonly at: string
  /** Its arguments belong to another program. */
  readonly isRunner: boolean
  /** Without those of the commands above it. */
  readonly options: readonly { readonly option: Option; readonly values: Values | undefined }[]
  /** By position; the first may be a subcommand. */
  readonly arguments: readonly Values[]
}

/** Writes a script for each shell, with the commands, flags and values that commander knows. */
export async function buildCompletion(folder: string): Promise<void> {
  const commands = await completedCommands()
  const read = (name: string) => readFile(join(TEMPLATES, name), 'utf8')
  await mkdir(folder)
  const find = fill(await read('find.sh'), inPosixShells(commands)).trimEnd()
  for (const shell of ['bash', 'zsh', 'fish']) {
    const name = `petstore-sandbox.${shell}`
    const parts = shell === 'fish' ? inFish(commands) : { FIND: find }
    await writeFile(join(folder, name), fill(await read(name), parts))
  }
}

function fill(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replace(/@([A-Z_]+)@/g, (_, name: string) => parts[name] ?? '')
}

async function completedCommands(): Promise<readonly CompletedCommand[]> {
  // Only after the contract has been generated, which the commands import.
  const { COMMANDS } = await import('../src/cli/run-cli.js')
  const { addHelpCommand, passesThrough } = await import('../src/cli/help.js')
  const valuesOf = await valueFinder()
  const program = new Command('petstore-sandbox').version('', '-V, --version', 'print the version')
  program.enablePositionalOptions()
  for (const { name, summary, load } of COMMANDS)
    (await load()).define(program.command(name).description(summary), {} as CliIo, () => {})
  addHelpCommand(program)

  const complete = (command: Command, at: string, known: ReadonlySet<string>): readonly CompletedCommand[] => {
    const help = command.createHelp()
    const options = help.visibleOptions(command).filter((option) => !known.has(nameOf(option)))
    const subcommands = help.visibleCommands(command)
    const siblings = command.name() === 'help' ? (command.parent?.commands ?? []) : subcommands
    const own = command.registeredArguments.map((argument) => valuesOf(argument, command) ?? [])
    // The program's own --version is no flag of its commands.
    const inherited = at === '' ? known : new Set([...known, ...options.map(nameOf)])
    return [
      {
        at,
        isRunner: passesThrough(command),
        options: options.map((option) => ({
          option,
          values: option.required ? (valuesOf(option, command) ?? []) : undefined,
        })),
        arguments: siblings.length > 0 ? [siblings.map(wordOf)] : own,
      },
      ...subcommands.flatMap((below) =>
        [below.name(), ...below.aliases()].flatMap((name) => complete(below, `${at} ${name}`, inherited)),
      ),
    ]
  }
  return complete(program, '', new Set())
}

function wordOf(command: Command): Word {
  return { word: command.name(), about: oneLine(command.summary() || command.description()) }
}

function nameOf({ long, flags }: Option): string {
  return long ?? flags
}

/** Finds the values of an option or argument; undefined if any text is allowed. */
async function valueFinder() {
  const { contractData } = await import('../src/contract/generated/contract-data.js')
  const { isOptionName, optionRow } = await import('../src/options/table.js')
  const { packagedScenarios } = await import('../src/options/scenario.js')
  const { FAIL_ON_WORDS } = await import('../src/cli/conduct/conduct-report.js')
  const { loadScenarios } = await import('../src/cli/conform/scenarios.js')
  const keys: readonly { readonly key: string }[] = JSON.parse(
    await readFile(join(fixturesDirectory, 'keys.json'), 'utf8'),
  )
  const lists: Readonly<Record<string, readonly string[]>> = {
    failOn: FAIL_ON_WORDS,
    key: keys.map(({ key }) => key),
    'conform.scenario': loadScenarios(packageDirectory, undefined).map((scenario) => scenario.name),
    plan: Object.keys(contractData.plans),
    scenario: packagedScenarios(),
  }

  /** The choices of a picklist, and the words of a union. */
  function wordsOfSchema(name: OptionName): readonly string[] {
    const { options = [] }: { readonly options?: readonly unknown[] } = Object(optionRow(name).schema)
    return options
      .map((choice) => Object(choice).literal ?? choice)
      .filter((choice) => typeof choice === 'string' || typeof choice === 'number')
      .map(String)
  }

  return (one: Option | Argument, command: Command): Values | undefined => {
    const name = 'attributeName' in one ? one.attributeName() : one.name()
    const text = 'flags' in one ? one.flags : one.name()
    const operation = contractData.operations.find(({ id }) => id === command.name())
    const field = [...(operation?.parameters ?? []), ...(operation?.body?.fields ?? [])].find(
      (parameter) => parameter.name === name,
    )
    const words =
      one.argChoices ??
      field?.enum?.map(String) ??
      lists[`${command.name()}.${name}`] ??
      lists[name] ??
      (isOptionName(name) ? wordsOfSchema(name) : [])
    if (words.length > 0) return words.filter((word) => /^[\w.-]+$/.test(word)).map((word) => ({ word, about: '' }))
    return /file|dir\b|yaml/.test(text) ? 'paths' : undefined
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** For Bash and Zsh. */
function inPosixShells(commands: readonly CompletedCommand[]): Readonly<Record<string, string>> {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const text = (words: readonly Word[]) => quote(words.map(({ word, about }) => `${word}:${about}\n`).join(''))
  const branch = (pattern: string, values: Values) =>
    `    ${pattern}) ${values === 'paths' ? 'files=1' : `found=${text(values)}`} ;;`
  const patterns = ({ at }: CompletedCommand, { long, short }: Option) =>
    [long ?? [], short ?? []].flat().map((flag) => `${quote(at)}*${quote(` ${flag}`)}`)
  const valued = commands.flatMap((command) =>
    command.options.flatMap(({ option, values }) => (values === undefined ? [] : [{ command, option, values }])),
  )
  return {
    COMMANDS: commands.flatMap(({ at }) => (at === '' ? [] : [quote(at)])).join(' | '),
    RUNNERS: runnersOf(commands)
      .map((at) => `${quote(`${at} `)}*`)
      .join(' | '),
    FLAGS_WITH_VALUE: valued.flatMap(({ command, option }) => patterns(command, option)).join(' | '),
    VALUES: valued
      .filter(({ values }) => values.length > 0)
      .map(({ command, option, values }) => branch(patterns(command, option).join(' | '), values))
      .join('\n'),
    ARGUMENTS: commands
      .flatMap(({ at, arguments: list }) => list.map((values, index) => branch(quote(`${at} ${index}`), values)))
      .join('\n'),
    FLAGS: commands
      .filter(({ options }) => options.length > 0)
      .map(({ at, options }) => {
        const words = options.map(({ option }) => ({ word: nameOf(option), about: oneLine(option.description) }))
        return `  if [[ ${at === '' ? '-z $at' : `"$at " == ${quote(`${at} `)}*`} ]]; then flags+=${text(words)}; fi`
      })
      .join('\n'),
  }
}

function inFish(commands: readonly CompletedCommand[]): Readonly<Record<string, string>> {
  const quote = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
  const complete = (condition: string, at: string, rest: string) =>
    `complete -c petstore-sandbox -n "__petstore_sandbox_${condition.replace('@', `'${at}'`)}" ${rest}`
  const valuesText = (values: Values) =>
    values === 'paths' ? '-r -F' : `-x${values.length === 0 ? '' : ` -a '${values.map(({ word }) => word).join(' ')}'`}`
  return {
    COMMANDS: commands.flatMap(({ at }) => (at === '' ? [] : [quote(at)])).join(' '),
    RUNNERS: runnersOf(commands).map(quote).join(' '),
    RUNNER_FLAGS: commands
      .filter(({ isRunner }) => isRunner)
      .flatMap(({ at, options }) =>
        options.flatMap(({ option: { long, short }, values }) =>
          values === undefined ? [] : [long ?? [], short ?? []].flat().map((flag) => quote(`${at} ${flag}`)),
        ),
      )
      .join(' '),
    COMPLETIONS: commands
      .flatMap(({ at, options, arguments: list }) => [
        ...list.flatMap((values, index) =>
          values === 'paths'
            ? [complete(`argument @ ${index}`, at, '-F')]
            : values.map(({ word, about }) =>
                complete(`argument @ ${index}`, at, `-a ${word}${about === '' ? '' : ` -d ${quote(about)}`}`),
              ),
        ),
        ...options.map(({ option: { long, short, description }, values }) => {
          const names = `${short === undefined ? '' : ` -s ${short.slice(1)}`}${long === undefined ? '' : ` -l ${long.slice(2)}`}`
          const value = values === undefined ? '' : ` ${valuesText(values)}`
          const about = ` -d ${quote(oneLine(description))}`
          return complete(at === '' ? 'argument @ 0' : 'below @', at, `${names.trimStart()}${value}${about}`)
        }),
      ])
      .join('\n'),
  }
}

function runnersOf(commands: readonly CompletedCommand[]): readonly string[] {
  return commands.filter(({ isRunner }) => isRunner).map(({ at }) => at)
}
