import type { Command } from 'commander'
import { type Location, writeLocator } from '../client/locator-file.js'
import { openContract } from '../contract/open-contract.js'
import { Failure } from '../domain/failures.js'
import type { DurationMs } from '../domain/time.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { serveDefaults } from '../options/defaults.js'
import { valueFromText } from '../options/layer.js'
import { ENV_PREFIX } from '../options/names.js'
import { OptionsError } from '../options/options.js'
import { formatProblem } from '../options/problem.js'
import { resolveLayers } from '../options/resolve.js'
import { configLayer, envLayer, type FlagValues, flagLayer } from '../options/sources.js'
import { runSandbox } from '../sandbox.js'
import { messageOf } from '../system/message-of.js'
import { limitYoungGeneration } from '../system/v8-tuning.js'
import { isForPeople } from './colour.js'
import { EXIT, SIGNAL_EXIT } from './exit-codes.js'
import { addFullHelp, explain } from './help.js'
import { type CliIo, onStopSignals, type StopSignal } from './io.js'
import { addOptionFlags, givenFlags, OTHER_WAYS, rareFlags } from './option-flags.js'
import { type Run, Runs } from './serve/runs.js'
import { openServeLog, type ServeLog } from './serve-log.js'
import { openTraces } from './traces.js'

/** It takes two milliseconds, which would delay the start. */
const LIMIT_MEMORY_AFTER_MS: DurationMs = 50

const EXAMPLES: readonly string[] = [
  'petstore-sandbox serve',
  'petstore-sandbox serve -p 0 --in-memory --plan pro',
  'petstore-sandbox serve --storm 0.3,for=30s,every=5m',
  "petstore-sandbox serve --fault 'listPets:503@20%*3' --latency 50ms..200ms",
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
  const env = envLayer(io.env)
  const resolve = (randomSeed: () => number) =>
    resolveLayers([flagLayer(flags), env, configLayer(io.cwd)], {
      defaults: serveDefaults(isForPeople(io.stderr, io.env) ? 'pretty' : 'json'),
      cwd: io.cwd,
      randomSeed,
    })
  const options = resolve(io.randomSeed)
  const { store, groupLog } = options
  const [opens, watches] = [isOn('open', own.open, io), isOn('watch', own.watch, io)]
  if (watches && groupLog !== undefined)
    throw new OptionsError(['--watch cannot be combined with --redis: all replicas must start with the same options'])
  // Hides the password of its address from process lists.
  if (groupLog !== undefined) process.title = 'petstore-sandbox serve'
  let controlUrl: string | undefined
  const log = await openServeLog(options.log, io, () => controlUrl)
  for (const warning of env.warnings) log.warning(warning)

  // Before signals are handled: loading a large contract can be interrupted.
  const contract = await openContract(options.spec, { mocked: options.mock })
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
  let served = contract
  const traces = await openTraces(io, {
    basePath: options.basePath ?? contract.basePath,
    contract: () => served,
    warn: log.warning,
  })
  const onExchange =
    traces === undefined
      ? log.exchange
      : (record: ExchangeRecord) => {
          log.exchange?.(record)
          traces.add(record)
        }
  const events = {
    ...(onExchange && { onExchange }),
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
  const runs = new Runs({ options, contract, sandbox }, events, (run) => {
    served = run.contract
    return announce(locationOf(run), io.cwd, log)
  })
  setTimeout(limitYoungGeneration, LIMIT_MEMORY_AFTER_MS).unref()
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
        pets: sandbox.petCount,
        seed,
        upstream: options.upstream,
        operations: sandbox.operations,
      })
    if (opens) void (await import('./serve/interactive.js')).openDashboard(interaction)
    if (watches) {
      const { watch } = await import('./serve/watch.js')
      stopWatching = watch({ runs, log, cwd: io.cwd, resolve: () => resolve(() => seed) })
    }
    await Promise.race([askedToStop, runs.lost])
    leaveTerminal()
    log.note('Stopping; press Ctrl-C again to force.')
    log.flush()
    await stopWatching()
    await runs.stop()
    await traces?.close()
    return EXIT.ok
  } finally {
    leaveTerminal()
    log.flush()
  }
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

function announce(location: Location, cwd: string, log: ServeLog): () => void {
  try {
    return writeLocator(cwd, location)
  } catch (error) {
    log.warning(
      `run.json could not be written (${messageOf(error)}): "control" and "call" need --url and --base-url here`,
    )
    return () => {}
  }
}
