import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { type Controls, type SandboxControls, sandboxControls, splitKey, type Transport } from '../../api/controls.js'
import { overNetwork } from '../../api/over-network.js'
import { checkHealth } from '../../client/control-fetch.js'
import { ControlError } from '../../control/control-error.js'
import { CONTROL_PATH } from '../../control/path.js'
import type { VerbInput, VerbName, VerbOutput } from '../../control/verb-map.js'
import { verbRoutes } from '../../control/verb-routes.js'
import { shellWord } from '../../domain/curl.js'
import { type DurationMs, formatDuration, SECOND_MS } from '../../domain/time.js'
import { describeOpenError, readInput } from '../../system/regular-file.js'
import { EXIT } from '../exit-codes.js'
import { addHelpCommand, explain } from '../help.js'
import type { CliIo } from '../io.js'
import { printLine } from '../print.js'
import { timeoutMs } from './arguments.js'
import {
  controlCommand,
  type FoundSandbox,
  findSandbox,
  NoSandboxError,
  noSandboxAt,
  UsageError,
} from './find-sandbox.js'
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

type Action = (...given: unknown[]) => Promise<void>
type Format<Name extends VerbName> = (
  output: VerbOutput<Name>,
  input: VerbInput<Name>,
  at: ControlContext,
) => string | Result | Promise<string | Result>

export type VerbCommands = ReturnType<typeof verbCommands>

export function verbCommands(io: CliIo, finish: (exitCode: number) => void) {
  const groups = new Set<Command>()

  /** A name with verbs below it: `clock`. By default it runs its `show` or `list`. */
  function group(parent: Command, name: string, description: string, alias?: string): Command {
    const command = parent.command(name).description(description)
    if (alias !== undefined) command.alias(alias)
    groups.add(command)
    addHelpCommand(command)
    return explain(command, { examples: [`petstore-sandbox control ${name}`] })
  }

  /** @param examples text after `petstore-sandbox control`. Default: the words of the command */
  function verb(parent: Command, usage: string, description: string, examples?: readonly string[]): Command {
    // The first of them only: requests has both.
    const isDefault = /^(?:show|list)$/.test(usage) && groups.delete(parent)
    const command = parent.command(usage, { isDefault }).description(description)
    const own = groupName(parent) + usage
    return explain(command, { examples: (examples ?? [own]).map((example) => `petstore-sandbox control ${example}`) })
  }

  /** Wraps the action of a verb that runs before a sandbox is found. */
  const alone =
    (act: (flags: SharedFlags, ...args: never[]) => Promise<number>): Action =>
    async (...given) => {
      const command = given.at(-1) as Command
      const args = given.slice(0, -1) as never[]
      finish(await act(sharedFlags(command), ...args))
    }

  /** Wraps the action of a verb that prints and has its own exit code. */
  const callWithExitCode = (act: (at: ControlContext, ...args: never[]) => Promise<number>): Action =>
    alone(async (flags, ...args) => {
      const at = await connect(flags, io)
      return await withLocation(at.found, () => act(at, ...args))
    })

  /** Wraps the action of a verb; it gets its arguments, then its flags. */
  const call = (act: (at: ControlContext, ...args: never[]) => Promise<Result>): Action =>
    callWithExitCode(async (at, ...args) => {
      await printResult(await act(at, ...args), io, at.json)
      return EXIT.ok
    })

  /** The action of a command that does one verb. @param toInput default: each argument and flag by its own name */
  const run =
    <Name extends VerbName>(
      name: Name,
      format: Format<Name>,
      toInput?: (...args: never[]) => VerbInput<Name>,
    ): Action =>
    (...given) =>
      call(async (at, ...args) => {
        const own = toInput?.(...args) ?? namedInput(given.at(-1) as Command)
        const [space, input] = inSpace(at, own as VerbInput<Name>)
        const isOnSandbox = /^(?:spaces\.(?!copy)|replicas$)/.test(name)
        const output = (await at.transport.call(name, isOnSandbox ? '' : space, input)) as VerbOutput<Name>
        const result = await format(output, input, at)
        return typeof result === 'string' ? { value: output, text: result } : result
      })(...given)

  return { group, verb, alone, callWithExitCode, call, run }
}

function groupName(command: Command): string {
  return command.name() === 'control' ? '' : `${groupName(command.parent ?? command)}${command.name()} `
}

function namedInput(command: Command): object {
  const args = command.registeredArguments.map((argument, index) => [argument.name(), command.processedArgs[index]])
  const own = command.options.filter(({ helpGroupHeading }) => helpGroupHeading !== SHARED_HEADING)
  const flags = own.map((option) => [option.attributeName(), command.getOptionValue(option.attributeName())])
  return Object.fromEntries([...args, ...flags].filter(([, value]) => value !== undefined))
}

/** A key may name its space (`sandbox-pro~checkout`). @throws UsageError if `--space` names another one */
function inSpace<Input extends object>({ space }: ControlContext, input: Input): readonly [string, Input] {
  const { key: sent } = input as { readonly key?: unknown }
  if (typeof sent !== 'string') return [space, input]
  const { key, space: named } = splitKey(sent)
  if (named === '') return [space, { ...input, key }]
  if (space !== '' && space !== named)
    throw new UsageError(`The key belongs to the space "${named}", but --space is "${space}".`)
  return [named, { ...input, key }]
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
  const token = readToken(tokenFile, io)
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

/** `npx petstore-sandbox control`, with the flags that lead to the same space. */
export function verbCommand({ found, space, io }: ControlContext): string {
  return `${controlCommand(found.controlUrl, io)}${space === '' ? '' : ` --space ${shellWord(space)}`}`
}

function readOnly(transport: Transport, { controlUrl, how }: FoundSandbox): Transport {
  return {
    ...transport,
    async call(verb, space, input) {
      if (verbRoutes[verb as VerbName].method === 'GET') return await transport.call(verb, space, input)
      if ((await checkHealth(controlUrl)).kind === 'none') throw new NoSandboxError(noSandboxAt(controlUrl, how))
      const url = controlUrl.slice(0, -CONTROL_PATH.length)
      throw new NoSandboxError(
        `No sandbox was started in this folder. The one at ${url} was started in another folder, so this command did not change it. To change it, add --url ${url}.`,
      )
    },
  }
}

const TOKEN_VARIABLE = 'PETSTORE_SANDBOX_CONTROL_TOKEN'
const MAX_TOKEN_FILE_BYTES = 64_000

/** Not a flag: flags show in process lists and histories. */
function readToken(file: string | undefined, { env, cwd }: CliIo): string | undefined {
  const text = file === undefined ? (env[TOKEN_VARIABLE] ?? '') : readTokenFile(file, cwd)
  if (file === undefined && text === '') return undefined
  if (/^[\x21-\x7e]+$/.test(text)) return text
  const where = file === undefined ? TOKEN_VARIABLE : '--token-file'
  throw new UsageError(`${where}: must contain a single token of visible ASCII characters`)
}

function readTokenFile(file: string, cwd: string): string {
  try {
    return readInput(resolve(cwd, file), MAX_TOKEN_FILE_BYTES).toString().trim()
  } catch (error) {
    throw new UsageError(`--token-file ${JSON.stringify(file)}: cannot be read (${describeOpenError(error)})`)
  }
}

export async function withLocation<T>({ controlUrl, how }: FoundSandbox, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ControlError && error.code === 'forbidden')
      throw new ControlError('forbidden', `${error.message} Give it in ${TOKEN_VARIABLE} or with --token-file.`)
    if (error instanceof ControlError && error.code === 'timeout')
      throw new NoSandboxError(`${error.message} It was found ${how}. Give it more time with --timeout.`)
    if (!isNoSandbox(error)) throw error
    const isSilent = (await checkHealth(controlUrl)).kind === 'none'
    const other = `The server at ${controlUrl} is not a sandbox. It was found ${how}.`
    throw new NoSandboxError(isSilent ? noSandboxAt(controlUrl, how) : other, { cause: error })
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
