import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { shellWord } from '../../advice/curl.js'
import type { Transport } from '../../api/call-verb.js'
import { type Controls, type SandboxControls, sandboxControls } from '../../api/controls.js'
import { overNetwork } from '../../api/over-network.js'
import { readKey, readKeyFile } from '../../client/api-key.js'
import { checkHealth } from '../../client/control-fetch.js'
import { ControlError } from '../../control/control-error.js'
import { CONTROL_PATH } from '../../control/path.js'
import type { VerbName } from '../../control/verb-map.js'
import { VERBS } from '../../control/verbs.js'
import { type DurationMs, formatDuration, SECOND_MS } from '../../domain/time.js'
import { addHelpCommand, explain } from '../help.js'
import { type CliIo, EXIT } from '../io.js'
import { printLine } from '../print.js'
import { addArguments, exampleLine, givenInput, timeoutMs, type VerbSyntax, wordsOf } from './arguments.js'
import { controlCommand, type FoundSandbox, findSandbox, noSandbox, noSandboxAt } from './find-sandbox.js'
import { type OutputForm, outputOptions, printResult, type Result, wantsJson } from './result.js'

export interface SharedFlags {
  readonly space?: string
  readonly url?: string
  readonly tokenFile?: string
  readonly output?: OutputForm
  readonly json?: boolean
  readonly timeout?: DurationMs
}

export interface ControlContext {
  readonly controls: Controls
  readonly sandbox: SandboxControls
  readonly space: string
  readonly transport: Transport
  readonly found: FoundSandbox
  readonly timeout: DurationMs
  readonly json: boolean
  readonly io: CliIo
}

/** The groups of verbs. Without a verb, a group runs its `list`, `show` or `resources`, the first that it has. */
const GROUPS: Readonly<Record<string, readonly [description: string, alias?: string]>> = {
  overrides: ['changes from the start configuration'],
  clock: ['the clock behind quotas, bans, storms and the sunset'],
  settings: ['the settings of a space'],
  keys: ['the API keys'],
  storm: ['random 429 responses'],
  fault: ['failing and broken responses', 'faults'],
  records: ['the records of each resource; needs neither key nor quota'],
  snapshot: ['the whole state of a space, saved under a name', 'snapshots'],
  spaces: ['isolated copies, opened by keys such as sandbox~checkout'],
  requests: ['requests and responses'],
}

export type VerbCommands = ReturnType<typeof verbCommands>

export function verbCommands(parent: Command, io: CliIo, finish: (exitCode: number) => void) {
  const groups = new Map<string, Command>()
  const withDefault = new Set<Command>()
  const program = 'petstore-sandbox control'

  function groupOf(name: string): Command {
    const known = groups.get(name)
    if (known !== undefined) return known
    const [description = '', alias] = GROUPS[name] ?? []
    const group = parent.command(name).description(description)
    if (alias !== undefined) group.alias(alias)
    groups.set(name, group)
    addHelpCommand(group)
    return explain(group, { examples: [`${program} ${name}`] })
  }

  /** Adds a command by its syntax: `ban <key> [--for <duration>]`. @param examples texts after `petstore-sandbox control` */
  function add(syntax: string, summary: string, examples: readonly string[] = [], verb: VerbSyntax = {}): Command {
    const words = wordsOf(syntax)
    const [name = '', group] = words.split(' ').reverse()
    const above = group === undefined ? parent : groupOf(group)
    const isDefault = above !== parent && /^(?:show|list|resources)$/.test(name) && !withDefault.has(above)
    if (isDefault) withDefault.add(above)
    const command = above.command(name, { isDefault }).description(summary)
    addArguments(command, syntax, verb)
    return explain(command, { examples: [exampleLine(syntax, verb), ...examples].map((text) => `${program} ${text}`) })
  }

  /** Runs an action on the sandbox. It returns what to print, or its exit code if it has printed. */
  const call =
    (act: (at: ControlContext, given: never) => Promise<Result | number>, verb: VerbSyntax = {}) =>
    async (...args: unknown[]) => {
      const command = args.at(-1) as Command
      const at = await connect(sharedFlags(command), io)
      const exitCode = await withLocation(at.found, async () => {
        const result = await act(at, givenInput(command, verb, SHARED_HEADING) as never)
        if (typeof result === 'number') return result
        await printResult(result, io, at.json)
        return EXIT.ok
      })
      finish(exitCode)
    }

  /** The action of `wait`, which runs before a sandbox is found. */
  const withoutSandbox =
    (act: (flags: SharedFlags) => Promise<void>) =>
    (...args: unknown[]) =>
      act(sharedFlags(args.at(-1) as Command))

  return { add, call, withoutSandbox }
}

const SHARED_FLAGS = 'Options of every verb'
const SHARED_HEADING = `${SHARED_FLAGS}:`
const DEFAULT_TIMEOUT_MS: DurationMs = 10 * SECOND_MS

export function addSharedFlags(command: Command): void {
  const options = [
    new Option('--space <name>', 'use this space instead of the default one'),
    new Option('--url <url>', 'control plane (default: the sandbox of this folder, or port 4010)'),
    new Option('--token-file <file>', 'file with the token of the control plane'),
    new Option(
      '--timeout <duration>',
      `time limit of a response (default: ${formatDuration(DEFAULT_TIMEOUT_MS)})`,
    ).argParser(timeoutMs),
    ...outputOptions(),
    new Option('--debug', 'show stack traces'),
  ]
  const own = new Set(command.options.map(({ long }) => long))
  const shared = options.filter(({ long }) => !own.has(long))
  for (const option of shared) command.addOption(option.helpGroup(SHARED_HEADING))
  if (command.name() !== 'control') {
    const named = shared.filter(({ hidden }) => !hidden)
    explain(command, { elsewhere: { title: SHARED_FLAGS, options: named, command: 'petstore-sandbox control' } })
  }
  for (const below of command.commands) if (below.name() !== 'help') addSharedFlags(below)
}

export async function connect(flags: SharedFlags, io: CliIo, known?: FoundSandbox): Promise<ControlContext> {
  const { url, tokenFile, space = '', timeout = DEFAULT_TIMEOUT_MS } = flags
  const token = await readToken(tokenFile, io)
  const found = known ?? (await findSandbox(url, io))
  if (found.note !== undefined) printLine(io.stderr, `note: ${found.note}`)
  const network = overNetwork(found.controlUrl, {
    timeout: formatDuration(timeout),
    ...(token === undefined ? {} : { token }),
  })
  const transport = found.isDefault === true ? readOnly(network, found) : network
  const sandbox = sandboxControls(transport)
  const controls = space === '' ? sandbox : sandbox.space(space)
  return { controls, sandbox, space, transport, found, timeout, json: wantsJson(flags), io }
}

export function verbCommand({ found, space, io }: ControlContext): string {
  return `${controlCommand(found.controlUrl, io)}${space === '' ? '' : ` --space ${shellWord(space)}`}`
}

function readOnly(transport: Transport, { controlUrl, how }: FoundSandbox): Transport {
  return {
    ...transport,
    async call(verb, space, input) {
      if (VERBS[verb as VerbName].method === 'GET') return await transport.call(verb, space, input)
      if ((await checkHealth(controlUrl)).kind === 'none') throw noSandbox(noSandboxAt(controlUrl, how))
      const url = controlUrl.slice(0, -CONTROL_PATH.length)
      throw noSandbox(
        `No sandbox was started in this folder. The one at ${url} was started in another folder, so this command did not change it. To change it, add --url ${url}.`,
      )
    },
  }
}

const TOKEN_VARIABLE = 'PETSTORE_SANDBOX_CONTROL_TOKEN'

/** Not a flag: flags show in process lists and histories. */
async function readToken(file: string | undefined, { env, cwd }: CliIo): Promise<string | undefined> {
  const what = { name: 'token', code: 'USAGE' } as const
  if (file !== undefined) return await readKeyFile(resolve(cwd, file), `--token-file ${JSON.stringify(file)}`, what)
  const text = env[TOKEN_VARIABLE] ?? ''
  return text === '' ? undefined : readKey(text, TOKEN_VARIABLE, what)
}

export async function withLocation<T>({ controlUrl, how }: FoundSandbox, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const code = error instanceof ControlError ? error.code : undefined
    const { message } = error as Error
    if (code === 'forbidden')
      throw new ControlError(code, `${message} Give it in ${TOKEN_VARIABLE} or with --token-file.`)
    if (code === 'timeout') throw noSandbox(`${message} It was found ${how}. Give it more time with --timeout.`)
    if (!isNoSandbox(error)) throw error
    const isSilent = (await checkHealth(controlUrl)).kind === 'none'
    const other = `The server at ${controlUrl} is not a sandbox. It was found ${how}.`
    throw noSandbox(isSilent ? noSandboxAt(controlUrl, how) : other, error)
  }
}

/** The response of another server lacks the fields that a verb prints, so that printing it fails. */
function isNoSandbox(error: unknown): boolean {
  if (error instanceof ControlError) return error.code === 'unreachable'
  return error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError
}

function sharedFlags(command: Command): SharedFlags {
  const { parent } = command
  return { ...(parent === null ? {} : sharedFlags(parent)), ...command.opts() }
}
