import { DEFAULT_SETTINGS } from '../domain/settings.js'
import type { SpaceStart } from '../domain/space-start.js'
import { resolve as resolvePath } from '../system/paths.js'
import { DEFAULTS, STORE_FILE, type StartDefaults } from './defaults.js'
import { checkLayer, type Layer, layerOf } from './layer.js'
import type { GroupLog, ResolvedOptions, SandboxOptions } from './options.js'
import { OptionsError } from './options-error.js'
import { pathText, writeProblem } from './problem.js'
import { contentLayer, type Scenario, type ScenarioLayer, scenarioOf } from './scenario.js'
import { loadScenarioLayer, scenarioFile } from './scenario-file.js'
import { changeSettings } from './settings.js'
import type { OptionName, OptionValues } from './table.js'
import { isLoopback } from './values/address.js'

/** What resolving needs besides the options. */
export interface ResolveContext {
  readonly defaults: StartDefaults
  /** What paths are relative to. */
  readonly cwd: string
  /** The seed where none is given: a whole number >= 0. */
  randomSeed(): number
}

/**
 * Checks a program's options and fills in the defaults.
 *
 * @throws OptionsError with everything that is wrong
 */
export function resolveOptions(input: SandboxOptions, context: ResolveContext): ResolvedOptions {
  return resolveLayers([layerOf(Object.entries(input), { kebab: false, where: pathText })], context)
}

/**
 * Merges several sources into one record. For each option the first source that
 * names it wins; the scenario that they choose comes after all of them.
 *
 * @param layers in order of precedence: flags, environment, config file
 * @throws OptionsError with everything that is wrong in any of them
 * @source docs/switches.md, "Options"
 */
export function resolveLayers(layers: readonly Layer[], context: ResolveContext): ResolvedOptions {
  const checked = layers.map(checkLayer)
  const problems = checked.flatMap((layer) => layer.problems)
  const scenario = chosenScenario(layers, context.cwd)
  const fromScenario = scenario && checkLayer(scenario)
  if (fromScenario !== undefined) problems.push(...fromScenario.problems)

  const said = [...checked.map(({ values }) => values), fromScenario?.values ?? {}]
  const values: OptionValues = Object.assign({}, ...said.toReversed())
  problems.push(
    ...hostProblems(values, layers),
    ...upstreamProblems(values, layers),
    ...redisProblems(
      checked.map((layer) => layer.values),
      layers,
    ),
    ...storeProblems(
      checked.map((layer) => layer.values),
      layers,
    ),
  )
  if (problems.length > 0) throw new OptionsError(problems)

  const path = (file: string | undefined) => (file === undefined ? undefined : resolvePath(context.cwd, file))
  const groupLog = groupLogOf(values, context.cwd)
  return {
    port: values.port ?? context.defaults.port,
    host: values.host ?? DEFAULTS.host,
    basePath: values.basePath ?? DEFAULTS.basePath,
    // In front of a real service what is added here is for this run, unless a file is named.
    store:
      groupLog === undefined
        ? path(storeFile(said, values.upstream === undefined ? context.defaults.store : undefined))
        : undefined,
    maxStore: values.maxStore ?? DEFAULTS.maxStore,
    fixtures: path(values.fixtures),
    pets: values.pets,
    reset: values.reset ?? false,
    apiKeys: values.apiKey ?? [],
    anyKey: values.anyKey ?? false,
    senders: context.defaults.senders,
    start: startOf({ ...scenarioOf(quotasOf(values)), used: {}, bans: {}, ...scenario?.extras }),
    seed: values.seed ?? context.randomSeed(),
    isSeedRandom: values.seed === undefined,
    groupLog,
    scenarioFile: path(scenarioFile(first(layers, 'scenario')?.value)),
    spec: path(values.spec),
    mock: values.mock ?? [],
    strict: values.strict ?? false,
    upstream: values.upstream,
    upstreamApiKeyFile: path(values.upstreamApiKeyFile),
    upstreamWrites: values.upstreamWrites ?? DEFAULTS.upstreamWrites,
    upstreamTimeout: values.upstreamTimeout ?? DEFAULTS.upstreamTimeout,
    upstreamCa: path(values.upstreamCa),
    record: path(values.record),
    order: values.order ?? DEFAULTS.order,
    fsync: values.fsync ?? false,
    reason: values.reason ?? true,
    maxSpaces: values.maxSpaces ?? DEFAULTS.maxSpaces,
    logLimit: values.logLimit ?? DEFAULTS.logLimit,
    log: values.log ?? context.defaults.log,
    cors: values.cors ?? DEFAULTS.cors,
    controlToken: values.controlToken,
    controlOrigins: values.controlOrigin ?? [],
  }
}

/** A real service has quotas of its own: those of the sandbox are asked where a plan or limits are named. */
function quotasOf(values: OptionValues): OptionValues {
  const isNamed = values.plan !== undefined || values.limits !== undefined || values.rateLimit !== undefined
  return values.upstream === undefined || isNamed ? values : { ...values, rateLimit: false }
}

/** The start of a space with a scenario. */
function startOf({ settings, storm, faults, now, freeze, used, bans }: Scenario): SpaceStart {
  return {
    settings: changeSettings(DEFAULT_SETTINGS, settings),
    ...(storm === undefined || storm === 'off' ? {} : { storm }),
    faults: faults ?? [],
    ...(now === undefined ? {} : { now }),
    freeze: freeze ?? false,
    used,
    bans,
  }
}

function chosenScenario(layers: readonly Layer[], cwd: string): ScenarioLayer | undefined {
  const given = first(layers, 'scenario')
  if (given === undefined) return undefined
  const { value, where } = given
  if (typeof value === 'string') return value === '' ? undefined : loadScenarioLayer(value, cwd, where([]))
  return typeof value === 'object' ? contentLayer(value, where([])) : undefined
}

/** Where state is kept: decided by the first source that mentions it. */
function storeFile(said: readonly OptionValues[], fallback: string | undefined): string | undefined {
  for (const { store, inMemory } of said) {
    if (inMemory === true) return undefined
    if (store !== undefined) return store
    if (inMemory === false) return STORE_FILE
  }
  return fallback
}

function storeProblems(said: readonly OptionValues[], layers: readonly Layer[]): readonly string[] {
  return said.flatMap(({ store, inMemory }, index) => {
    const where = layers[index]?.given.get('store')?.where([])
    if (store === undefined || inMemory !== true || where === undefined) return []
    return [writeProblem(where, store, 'cannot be combined with in-memory; drop one of the two')]
  })
}

function groupLogOf({ redis, redisFile, group, redisWait }: OptionValues, cwd: string): GroupLog | undefined {
  const place = { group: group ?? DEFAULTS.group, copies: redisWait ?? 0 }
  if (redis !== undefined) return { redis: { address: redis }, ...place }
  return redisFile === undefined ? undefined : { redis: { file: resolvePath(cwd, redisFile) }, ...place }
}

/** What a replica cannot have of its own. */
function redisProblems(said: readonly OptionValues[], layers: readonly Layer[]): readonly string[] {
  return said.flatMap((layer, index) => {
    const of = layers.slice(index, index + 1)
    const isHere = layer.redis !== undefined || layer.redisFile !== undefined
    if (!isHere) return []
    const kept = 'cannot be combined with redis, which keeps the state itself; drop one of the two'
    return [
      ...(layer.redis === undefined || layer.redisFile === undefined
        ? []
        : [
            writeProblem(
              whereIs('redisFile', of),
              layer.redisFile,
              'cannot be combined with redis; drop one of the two',
            ),
          ]),
      ...(layer.store === undefined ? [] : [writeProblem(whereIs('store', of), layer.store, kept)]),
      ...(layer.fsync === true ? [writeProblem(whereIs('fsync', of), true, kept)] : []),
    ]
  })
}

/** What a real service is asked is not in the log of the replicas. */
function upstreamProblems({ upstream, redis, redisFile }: OptionValues, layers: readonly Layer[]): readonly string[] {
  if (upstream === undefined || (redis === undefined && redisFile === undefined)) return []
  return [writeProblem(whereIs('upstream', layers), upstream, 'cannot be combined with redis; drop one of the two')]
}

function whereIs(name: OptionName, layers: readonly Layer[]): string {
  return first(layers, name)?.where([]) ?? name
}

/** Without a token, the control plane is open to anyone who can reach it. */
function hostProblems({ host, controlToken }: OptionValues, layers: readonly Layer[]): readonly string[] {
  if (host === undefined || isLoopback(host) || controlToken !== undefined) return []
  const where = first(layers, 'host')?.where([]) ?? 'host'
  return [writeProblem(where, host, 'can be reached from other machines; set a control token too (--control-token)')]
}

function first(layers: readonly Layer[], name: OptionName) {
  return layers.map(({ given }) => given.get(name)).find((given) => given !== undefined)
}
