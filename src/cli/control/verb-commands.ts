import { type Command, Option } from 'commander'
import { connectSandbox } from '../../api/connect.js'
import { ControlError } from '../../api/controls.js'
import { askHealth } from '../../client/sandbox-health.js'
import { type DurationMs, formatDuration, SECOND_MS } from '../../domain/time.js'
import { EXIT, exitCodeOf } from '../exit-codes.js'
import { addHelpCommand, explain } from '../help.js'
import type { CliIo } from '../io.js'
import { type OutputForm, outputOptions, wantsJson } from '../output-form.js'
import { say } from '../print.js'
import { usageWords } from '../usage-words.js'
import { patienceMs } from './arguments.js'
import { readToken, TOKEN_HINT } from './control-token.js'
import { NoSandboxError, UsageError } from './errors.js'
import { type Found, findSandbox, nobodyAt } from './find-sandbox.js'
import { printResult, type Result } from './result.js'
import type { ControlContext } from './steering.js'

/** Flags that every verb takes, before its name or after it. */
export interface SharedFlags {
  readonly space?: string
  readonly url?: string
  readonly tokenFile?: string
  readonly output?: OutputForm
  readonly json?: boolean
  readonly timeout?: DurationMs
}

const OF_EVERY_VERB = 'Options of every verb'

/** A sandbox answers its verbs in milliseconds. */
const DEFAULT_TIMEOUT_MS: DurationMs = 10 * SECOND_MS

/** The action of a verb; it gets its arguments, then its flags, as commander passes them. */
type Act = (at: ControlContext, ...args: never[]) => Promise<Result>
/** The action of a verb that chooses its own exit code. */
type FreeAct = (at: ControlContext, ...args: never[]) => Promise<number>
/** What commander calls: with arguments, flags, and the command itself. */
type Action = (...given: unknown[]) => Promise<void>

/** Makes the verbs of `control`. */
export interface VerbCommands {
  /** A name with verbs below it: `clock`. By itself it does what its `show` or `list` does. */
  group(parent: Command, name: string, description: string, alias?: string): Command
  /** @param examples what may follow `petstore-sandbox control` */
  verb(parent: Command, usage: string, description: string, examples: readonly string[]): Command
  /** Wraps the action of a verb that returns a result. */
  call(act: Act): Action
  /** Wraps the action of a verb that does its own printing and has its own exit code. */
  callFreely(act: FreeAct): Action
  /** Wraps the action of a verb that runs before a sandbox is found. */
  alone(act: (flags: SharedFlags, ...args: never[]) => Promise<number>): Action
}

export function verbCommands(io: CliIo, finish: (exitCode: number) => void): VerbCommands {
  const groups = new Set<Command>()
  const alone: VerbCommands['alone'] =
    (act) =>
    async (...given) => {
      const command = given.at(-1) as Command
      const flags = sharedFlags(command)
      const args = given.slice(0, -1) as never[]
      finish(await toldErrors(() => act(flags, ...args), command, io))
    }
  const callFreely: VerbCommands['callFreely'] = (act) =>
    alone(async (flags, ...args) => {
      const at = await connect(flags, io)
      return await knowingWhere(at.found, () => act(at, ...args))
    })
  return {
    group(parent, name, description, alias) {
      const command = parent.command(name).description(description)
      if (alias !== undefined) command.alias(alias)
      groups.add(command)
      addHelpCommand(command)
      return explain(command, { examples: [`petstore-sandbox control ${name}`] })
    },
    verb(parent, usage, description, examples) {
      const isDefault = groups.has(parent) && /^(?:show|list)$/.test(usage)
      const command = parent.command(usage, { isDefault }).description(description)
      return explain(command, { examples: examples.map((example) => `petstore-sandbox control ${example}`) })
    },
    call: (act) =>
      callFreely(async (at, ...args) => {
        await printResult(await act(at, ...args), io, at.json)
        return EXIT.ok
      }),
    callFreely,
    alone,
  }
}

/** Adds the shared flags to a command and all its subcommands, after their own. */
export function addSharedFlags(command: Command): void {
  const options = [
    new Option('--space <name>', 'use this space instead of the default one'),
    new Option(
      '--url <url>',
      'control plane of the sandbox (default: PETSTORE_SANDBOX_URL, else the sandbox started in this folder, else port 4010)',
    ),
    new Option('--token-file <file>', 'file that holds its token (default: PETSTORE_SANDBOX_CONTROL_TOKEN)'),
    new Option(
      '--timeout <duration>',
      `how long it may take to answer; a stream of requests, to begin (default: ${formatDuration(DEFAULT_TIMEOUT_MS)})`,
    ).argParser(patienceMs),
    ...outputOptions(),
    new Option('--debug', 'show stack traces'),
  ]
  const isRoot = command.name() === 'control'
  const own = new Set(command.options.map(({ long }) => long))
  const shared = options.filter(({ long }) => !own.has(long))
  for (const option of shared) command.addOption(option.helpGroup(`${OF_EVERY_VERB}:`))
  if (!isRoot) {
    const named = shared.filter(({ hidden }) => !hidden)
    explain(command, { elsewhere: { title: OF_EVERY_VERB, options: named, command: 'petstore-sandbox control' } })
  }
  for (const below of command.commands) if (below.name() !== 'help') addSharedFlags(below)
}

/** Connects to the chosen sandbox; nothing is sent yet. */
export async function connect(flags: SharedFlags, io: CliIo, found?: Found): Promise<ControlContext> {
  const { url, tokenFile, space = '', timeout = DEFAULT_TIMEOUT_MS } = flags
  const token = readToken(tokenFile, io)
  const place = found ?? (await findSandbox(url, io))
  if (place.note !== undefined) say(io.stderr, `note: ${place.note}`)
  const sandbox = connectSandbox(place.controlUrl, {
    timeout: formatDuration(timeout),
    ...(token === undefined ? {} : { token }),
  })
  return {
    controls: space === '' ? sandbox : sandbox.space(space),
    sandbox,
    space,
    found: place,
    json: wantsJson(flags),
    io,
  }
}

/** Turns an error that says nothing answers into one that says where was searched. */
export async function knowingWhere<T>({ controlUrl, how }: Found, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ControlError && error.code === 'timeout') {
      throw new NoSandboxError(`${error.message} It was found ${how}. Give it more time with --timeout.`)
    }
    if (!isOfStranger(error)) throw error
    const nobody = (await askHealth(controlUrl)).kind === 'none'
    const stranger = `${controlUrl} answers, but it is not a sandbox. It was found ${how}.`
    throw new NoSandboxError(nobody ? nobodyAt(controlUrl, how) : stranger, { cause: error })
  }
}

/** What somebody else answered has other fields than a verb prints, so that printing it fails in one way or another. */
function isOfStranger(error: unknown): boolean {
  if (error instanceof ControlError) return error.code === 'unreachable'
  return error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError
}

/** Flags of the verb, else of what it stands under. */
function sharedFlags(command: Command): SharedFlags {
  const { parent } = command
  return { ...(parent === null ? {} : sharedFlags(parent)), ...command.opts() }
}

/** Reports why a verb failed, as `CODE: message`; unexpected errors are rethrown. */
async function toldErrors(act: () => Promise<number>, command: Command, { stderr }: CliIo): Promise<number> {
  try {
    return await act()
  } catch (error) {
    const tell = (code: string, message: string) => say(stderr, `${code}: ${message}`)
    if (error instanceof NoSandboxError || error instanceof UsageError) {
      tell(error.code, error instanceof UsageError ? usageWords(command, error.message) : error.message)
      return exitCodeOf(error.code)
    }
    if (error instanceof ControlError) {
      const hint = error.code === 'forbidden' ? ` ${TOKEN_HINT}` : ''
      tell(error.code.toUpperCase(), error.message + hint)
      return EXIT.failed
    }
    throw error
  }
}
