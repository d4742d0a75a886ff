import { type Command, Option } from 'commander'
import { shellWord } from '../advice/curl.js'
import { type Location, writeLocator } from '../client/locator-file.js'
import { EXAMPLE } from '../contract/generated/examples.js'
import { Failure } from '../domain/failures.js'
import { openContract } from '../openapi/open-contract.js'
import { valueFromText } from '../options/layer.js'
import { toKebabCase } from '../options/letter-case.js'
import { ENV_PREFIX, envName, flagName, kebabName } from '../options/names.js'
import { OptionsError, serveDefaults } from '../options/options.js'
import { formatProblem } from '../options/problem.js'
import { resolveLayers } from '../options/resolve.js'
import { configLayer, envLayer, type FlagValues, flagLayer } from '../options/sources.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../options/table.js'
import { runSandbox } from '../start/sandbox.js'
import { messageOf } from '../system/message-of.js'
import { addFullHelp, explain } from './help.js'
import { type CliIo, EXIT, onStopSignals, SIGNAL_EXIT, type StopSignal } from './io.js'
import { isInteractive } from './print.js'
import { type Run, Runs } from './serve/runs.js'
import { openServeLog, type ServeLog } from './serve-log.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox serve',
  'petstore-sandbox serve -p 0 --in-memory --plan pro',
  'petstore-sandbox serve --storm 0.3,for=30s,every=5m',
  `petstore-sandbox serve --fault '${EXAMPLE.list}:503@20%*3' --latency 50ms..200ms`,
  'petstore-sandbox serve --now 2030-12-04T23:59:00Z',
]

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  const flags = addOptionFlags(command)
  explain(command, { examples: EXAMPLES, notes: OTHER_WAYS, rare: rareFlags(flags) })
  addFullHelp(command)
  command
    .option('--open', 'open the dashboard in a browser')
    .option('--watch', 'reload fixtures, config, scenario and --spec on change')
    .option('--debug', 'show stack traces')
    .action(async ({ open, watch }: OwnFlags) => finish(await serve(givenFlags(command), { open, watch }, io)))
}

/** Flags that only `serve` has; each has an environment variable. */
interface OwnFlags {
  readonly open?: boolean | undefined
  readonly watch?: boolean | undefined
}

async function serve(flags: FlagValues, own: OwnFlags, io: CliIo): Promise<number> {
  const env = envLayer(io.env, io.cwd)
  const resolve = (randomSeed: () => number) =>
    resolveLayers([flagLayer(flags, io.cwd), env, configLayer(io.cwd)], {
      defaults: serveDefaults(isInteractive(io.stderr, io.env) ? 'pretty' : 'json'),
      cwd: io.cwd,
      randomSeed,
    })
  const [opens, watches] = [isOn('open', own.open, io), isOn('watch', own.watch, io)]
  const watching = watches ? await import('./serve/watch.js') : undefined
  const files = watching && new watching.WatchedFiles(io.cwd)
  files?.add()
  const options = resolve(io.randomSeed)
  files?.add(options)
  const { store, groupLog } = options
  if (watches && groupLog !== undefined)
    throw new OptionsError(['--watch cannot be combined with --redis: all replicas must start with the same options'])
  // Hides the password of its address from process lists.
  if (groupLog !== undefined) process.title = 'petstore-sandbox serve'
  let controlUrl: string | undefined
  const log = await openServeLog(options.log, io, () => controlUrl)
  for (const warning of env.warnings) log.warning(warning)

  // Before signals are handled: loading a large contract can be interrupted.
  const contract = await openContract(options.spec, { mocked: options.mock, ...(files && { onRead: files.addPart }) })
  files?.add(options, contract)
  let askToStop = () => {}
  const askedToStop = new Promise<void>((resolve) => {
    askToStop = resolve
  })
  // Registered before the port opens, so that no store is left half initialized. They stay registered: npm sends SIGINT
  // twice, and the second must not change the exit code. A replica may wait for its log forever, and stops at once.
  let isJoining = groupLog !== undefined
  const force = (signal: StopSignal) => io.exit(SIGNAL_EXIT[signal])
  const ignoreSignals = onStopSignals(io, {
    graceful: (signal) => (isJoining ? force(signal) : askToStop()),
    force,
  })
  const events = {
    // Any free port is this one, so that clients find it again.
    command() {
      const port = options.port === 0 && controlUrl !== undefined ? { port: new URL(controlUrl).port } : {}
      return commandOf({ ...flags, ...port }, own)
    },
    ...(log.exchange && { onExchange: log.exchange }),
    ...(log.verb && { onVerb: log.verb }),
    onWarning: log.warning,
    onShutdown: askToStop,
    ...(log.progress && { onProgress: log.progress }),
  }
  const sandbox = await runSandbox(options, events, contract).catch(async (error: unknown) => {
    ignoreSignals()
    if (!(error instanceof Failure) || error.code !== 'PORT_IN_USE') throw error
    throw await (await import('./control/find-sandbox.js')).withPortHolder(error, options, io)
  })
  controlUrl = sandbox.controlUrl
  isJoining = false
  const runs = new Runs({ options, contract, sandbox }, events, (run) => announce(locationOf(run), io.cwd, log))
  let leaveTerminal = () => {}
  let stopWatching = async () => {}
  try {
    const { seed } = sandbox
    const interaction = {
      sandbox: () => runs.run.sandbox,
      log,
      io,
      store,
      group: groupLog?.group,
      seed,
      stop: askToStop,
    }
    if (options.log === 'pretty') leaveTerminal = (await import('./serve/interactive.js')).interact(interaction)
    else
      log.ready({
        ...locationOf(runs.run),
        plan: sandbox.plan,
        limits: sandbox.limits,
        records: sandbox.records,
        seed,
        upstream: options.upstream,
        cors: options.upstream === undefined ? undefined : options.cors,
        operations: sandbox.operations,
      })
    if (opens) void (await import('./serve/interactive.js')).openDashboard(interaction)
    if (watching && files) stopWatching = watching.watch({ runs, log, files, resolve: () => resolve(() => seed) })
    await Promise.race([askedToStop, runs.lost])
    leaveTerminal()
    log.note('Stopping; press Ctrl-C again to force.')
    log.flush()
    await stopWatching()
    await runs.stop()
    return EXIT.ok
  } finally {
    leaveTerminal()
    log.flush()
  }
}

/** To start the same sandbox again; values of secrets are left to fill in. */
function commandOf(flags: FlagValues, own: OwnFlags): string {
  const words = Object.entries({ ...flags, ...own }).flatMap(([name, value]) => {
    const option = OPTION_NAMES.find((known) => known === name)
    const flag = toKebabCase(name)
    if (typeof value === 'boolean') return [`--${value ? '' : 'no-'}${flag}`]
    const isSecret = option !== undefined && optionRow(option).secret === true
    return [value ?? []].flat().flatMap((text) => [`--${flag}`, isSecret ? `<${flag}>` : shellWord(text)])
  })
  return ['petstore-sandbox serve', ...words].join(' ')
}

function locationOf({ sandbox: { baseUrl, controlUrl, core } }: Run): Location {
  return { baseUrl, controlUrl, ...core.identity }
}

function isOn(name: keyof OwnFlags, flag: boolean | undefined, { env }: CliIo): boolean {
  if (flag !== undefined) return flag
  const variable = `${ENV_PREFIX}${name.toUpperCase()}`
  const text = env[variable] ?? ''
  const value = text === '' ? false : valueFromText('switch', text)
  if (typeof value === 'boolean') return value
  throw new OptionsError([formatProblem(variable, text, 'must be true or false')])
}

export function announce(location: Location, cwd: string, log: ServeLog): () => void {
  try {
    return writeLocator(cwd, location)
  } catch (error) {
    log.warning(
      `run.json could not be written (${messageOf(error)}): "control" and "call" need --url and --base-url here`,
    )
    return () => {}
  }
}

const ENV_EXAMPLE = 'banAfter'

const OTHER_WAYS = `\
Every option can also be set by an environment variable:
  ${flagName(ENV_EXAMPLE)} is ${envName({ name: ENV_EXAMPLE, negated: false })}
or in petstore-sandbox.yaml in the working directory. The file cannot set options
for secrets, other machines or access.
Flags override the environment, which overrides the file, which overrides the
defaults. A scenario ranks just below the source that selects it.
--no-<switch> turns off what the environment or the file turns on: --no-freeze.
Durations are written 500ms, 30s, 5m or 24h.`

export function addOptionFlags(command: Command): readonly Option[] {
  const flags = OPTION_NAMES.map(flagOf)
  // `--strict` and `--no-strict`: the hidden one overrides a file.
  const opposites = OPTION_NAMES.filter((name) => optionRow(name).reads === 'switch').map(oppositeOf)
  for (const flag of [
    ...opposites.filter(({ negate }) => !negate),
    ...flags,
    ...opposites.filter(({ negate }) => negate),
  ])
    command.addOption(flag)
  return flags
}

function flagOf(name: OptionName): Option {
  const { short, value, reads, description, default: fallback, group } = optionRow(name)
  const flags = [short === undefined ? [] : [`-${short},`], flagName(name), value ?? []].flat().join(' ')
  const option = new Option(flags, fallback === undefined ? description : `${description} (default: ${fallback})`)
  // Commander takes brackets in a placeholder ("<key[:plan]>") for an optional value.
  option.optional = false
  if (reads === 'list') option.argParser((text, before: readonly string[] = []) => [...before, text])
  return option.helpGroup(`${group}:`)
}

function oppositeOf(name: OptionName): Option {
  const { negative, group } = optionRow(name)
  return new Option(`--${kebabName({ name, negated: negative !== true })}`).hideHelp().helpGroup(`${group}:`)
}

function rareFlags(flags: readonly Option[]): readonly Option[] {
  return flags.filter((_, index) => OPTION_NAMES[index] !== undefined && !optionRow(OPTION_NAMES[index]).everyday)
}

export function givenFlags(command: Command): FlagValues {
  const values: FlagValues = command.opts()
  return Object.fromEntries(Object.entries(values).filter(([name]) => command.getOptionValueSource(name) === 'cli'))
}
