import * as v from 'valibot'
import { contractData } from '../contract/generated/contract-data.js'
import type { ApiKey } from '../domain/keys.js'
import { NAME } from '../domain/keys.js'
import { joinOr } from '../domain/numbers.js'
import { DEFAULT_SETTINGS, type SettingName } from '../domain/settings.js'
import type { SpaceStart } from '../domain/state.js'
import { isLoopbackOrigin } from '../domain/web-origins.js'
import { describeOpenError, readRegularFile, resolve as resolvePath } from '../system/regular-file.js'
import { checkLayer, type GivenOption, type Layer, listWhere, makeLayer } from './layer.js'
import { toKebabCase } from './letter-case.js'
import { flagOrVariable } from './names.js'
import { OptionsError, type SandboxOptions, type StartDefaults } from './options.js'
import { formatProblem, pathText, quoted } from './problem.js'
import { OPTIONS, type OptionData, STORE_FILE } from './rows.js'
import {
  brokenScenario,
  contentLayer,
  isScenarioFile,
  packagedLayer,
  packagedScenarios,
  pickStart,
  readScenario,
  type Scenario,
  type ScenarioLayer,
  scenarioLayer,
} from './scenario.js'
import { changeSettings } from './settings.js'
import { OPTION_NAMES, type OptionName, type OptionValues, optionRow } from './table.js'
import { isLoopback } from './values/address.js'
import { isAddress } from './values/reading.js'
import { MAX_OPTIONS_FILE_BYTES, readYamlMap } from './yaml-map.js'

export interface ResolveContext {
  readonly defaults: StartDefaults
  readonly cwd: string
  /** The seed if none is given: a whole number >= 0. */
  randomSeed(): number
}

export interface GroupLog {
  /** Address of Redis, or the file that has it. The address may have a password. */
  readonly redis: string
  readonly group: string
}

/** Options that become part of another field of `ResolvedOptions`. */
type Merged = 'inMemory' | 'redis' | 'group' | 'apiKey' | 'controlOrigin' | StartOption
type StartOption = 'scenario' | 'storm' | 'fault' | 'now' | 'freeze' | SettingName
type KeptName = Exclude<OptionName, Merged>
const MERGED = /^(?:inMemory|redis.*|group|apiKey|controlOrigin|scenario)$/
const KEPT_NAMES = OPTION_NAMES.filter((name): name is KeptName => !MERGED.test(name) && !optionRow(name).scenario)
type DefaultName = {
  [Name in keyof typeof OPTIONS]: (typeof OPTIONS)[Name] extends { readonly default: unknown } ? Name : never
}[keyof typeof OPTIONS]
const FALLBACKS = {
  generate: [],
  mock: [],
  ...Object.fromEntries(
    Object.entries<OptionData>(OPTIONS)
      .filter(([, row]) => row.default !== undefined)
      .map(([name, row]) => [name, v.parse(optionRow(name as OptionName).schema, row.default)]),
  ),
} as Record<string, unknown> as {
  readonly [Name in DefaultName | 'generate' | 'mock']: NonNullable<OptionValues[Name]>
}

type Kept = {
  readonly [Name in KeptName]:
    | NonNullable<OptionValues[Name]>
    | (Name extends keyof typeof FALLBACKS | keyof StartDefaults | 'seed' ? never : undefined)
}

/** Complete and checked: durations in ms, sizes in bytes, paths absolute. */
export interface ResolvedOptions extends Omit<Kept, 'store'> {
  /** File of the store; undefined for a sandbox in memory. */
  readonly store: string | undefined
  readonly apiKeys: readonly ApiKey[]
  readonly controlOrigins: readonly string[]
  readonly start: SpaceStart
  readonly isSeedRandom: boolean
  readonly groupLog: GroupLog | undefined
  /** File of the scenario; undefined for none, or for a packaged one. */
  readonly scenarioFile: string | undefined
}

/** Checks a program's options and fills in the defaults. @throws OptionsError that lists every problem */
export function resolveOptions(input: SandboxOptions, context: ResolveContext): ResolvedOptions {
  return resolveLayers([makeLayer(Object.entries(input), { kebab: false, where: pathText })], context)
}

/**
 * Merges several sources. For each option the first source that names it wins. A scenario comes right after the
 * source that chooses it, so that one chosen by a flag overrides the config file.
 *
 * @param given in order of precedence: flags, environment, config file
 * @throws OptionsError that lists every problem of every source
 * @source docs/switches.md, "Options"
 */
export function resolveLayers(given: readonly Layer[], context: ResolveContext): ResolvedOptions {
  const { cwd, defaults } = context
  const scenario = chosenScenario(given, cwd)
  const at = given.findIndex((layer) => layer.given.has('scenario')) + 1
  const layers = scenario === undefined ? given : [...given.slice(0, at), scenario, ...given.slice(at)]
  const checked = layers.map(checkLayer)
  const sources = checked.map((layer) => layer.values)
  const values = firstOfEach(sources)
  const problems = [
    ...unknownPlans(values, layers),
    ...checked.flatMap((layer) => layer.problems),
    ...findConflicts(sources, values, layers),
  ]
  if (problems.length > 0) throw new OptionsError(problems)

  const path = (file: string | undefined) => (file === undefined ? undefined : resolvePath(cwd, file))
  const groupLog = readGroupLog(values)
  const fallbacks: { readonly [Name in OptionName]?: unknown } = {
    ...FALLBACKS,
    ...(values.upstream !== undefined && { cors: 'loopback' }),
    ...defaults,
  }
  const kept = KEPT_NAMES.map((name) => {
    const value = values[name]
    return [name, optionRow(name).isPath ? path(value as string | undefined) : (value ?? fallbacks[name])]
  })
  const { settings, faults = [], storm, now, freeze = false } = pickStart(withQuotas(values))
  const resolved: ResolvedOptions = {
    ...(Object.fromEntries(kept) as Kept),
    store: groupLog === undefined ? path(storeFile(values, defaults.store)) : undefined,
    apiKeys: values.apiKey ?? [],
    controlOrigins: values.controlOrigin ?? [],
    start: {
      settings: changeSettings(DEFAULT_SETTINGS, settings),
      ...(storm === undefined || storm === 'off' ? {} : { storm }),
      faults,
      ...(now === undefined ? {} : { now }),
      freeze,
      used: scenario?.extras.used ?? {},
      bans: scenario?.extras.bans ?? {},
    },
    seed: values.seed ?? context.randomSeed(),
    isSeedRandom: values.seed === undefined,
    groupLog,
    scenarioFile: path(scenarioFile(find(given, 'scenario')?.value)),
  }
  PLACES.set(resolved, (name) => layers[sources.findIndex((source) => source[name] !== undefined)]?.given.get(name))
  return resolved
}

/** Where options were written, for problems that only the contract reveals. */
const PLACES = new WeakMap<ResolvedOptions, (name: OptionName) => GivenOption | undefined>()

/** The place of an element of a list option: `petstore-sandbox.yaml:3:5: fault[1]`. */
export function locateOption(options: ResolvedOptions, name: OptionName, index: number): string {
  const given = PLACES.get(options)?.(name)
  if (given === undefined) return name
  return Array.isArray(given.value) ? listWhere(given.value, given.where)([index]) : given.where([])
}

/** A real service has its own quotas, so the sandbox applies none unless a plan or limits are named. */
function withQuotas(values: OptionValues): OptionValues {
  const isNamed = values.plan !== undefined || values.limits !== undefined || values.rateLimit !== undefined
  return values.upstream === undefined || isNamed ? values : { ...values, rateLimit: false }
}

const STORAGE: readonly OptionName[] = ['store', 'inMemory', 'redis']

const OVERRIDES: { readonly [Name in OptionName]?: readonly OptionName[] } = {
  ...Object.fromEntries(STORAGE.map((name) => [name, STORAGE])),
  // Limits take precedence over the plan.
  plan: ['limits'],
}

function firstOfEach(sources: readonly OptionValues[]): OptionValues {
  const values: Partial<Record<OptionName, unknown>> = {}
  const decided = new Set<string>()
  for (const source of sources) {
    Object.assign(values, Object.fromEntries(Object.entries(source).filter(([name]) => !decided.has(name))))
    for (const name of Object.keys(source) as OptionName[])
      for (const optionName of [name, ...(OVERRIDES[name] ?? [])]) decided.add(optionName)
  }
  return values as OptionValues
}

function chosenScenario(layers: readonly Layer[], cwd: string): ScenarioLayer | undefined {
  const { value, where } = find(layers, 'scenario') ?? {}
  if (where === undefined || value === '') return undefined
  if (typeof value === 'string') return loadScenarioLayer(value, cwd, where([]))
  return typeof value === 'object' ? contentLayer(value, where([])) : undefined
}

/** With `upstream`, there are no records to store, unless a file is named. */
function storeFile({ store, inMemory, upstream }: OptionValues, fallback: string | undefined): string | undefined {
  if (inMemory === true) return undefined
  return store ?? (inMemory === false ? STORE_FILE : upstream === undefined ? fallback : undefined)
}

function readGroupLog({ redis, group }: OptionValues): GroupLog | undefined {
  return redis === undefined ? undefined : { redis, group: group ?? FALLBACKS.group }
}

/** Plans that the packaged contract does not have. Those of another one are known once it is read. */
function unknownPlans({ spec }: OptionValues, layers: readonly Layer[]): readonly string[] {
  const names = Object.keys(contractData.plans)
  return layers.flatMap(({ given }) => {
    const { value, where } = given.get('plan') ?? {}
    if (spec !== undefined || typeof value !== 'string' || where === undefined || names.includes(value)) return []
    return NAME.test(value) ? [formatProblem(where([]), value, `must be ${joinOr(names)}`)] : []
  })
}

/** Options that exclude each other in one source or, if marked, in any. */
const CONFLICTS: readonly {
  readonly name: OptionName
  readonly excludes: readonly OptionName[]
  readonly inAnySource?: true
}[] = [
  { name: 'store', excludes: ['inMemory', 'redis'] },
  { name: 'fsync', excludes: ['redis'] },
  { name: 'upstream', excludes: ['redis'], inAnySource: true },
  { name: 'handlers', excludes: ['redis'], inAnySource: true },
]

function findConflicts(sources: readonly OptionValues[], merged: OptionValues, layers: readonly Layer[]) {
  const isOn = (value: unknown) => value !== undefined && value !== false
  const conflicts = CONFLICTS.flatMap(({ name, excludes, inAnySource = false }) =>
    (inAnySource ? [merged] : sources).flatMap((source, index) => {
      const other = isOn(source[name]) ? excludes.find((optionName) => isOn(source[optionName])) : undefined
      if (other === undefined) return []
      const places = inAnySource ? layers : layers.slice(index, index + 1)
      const where = find(places, name)?.where([]) ?? name
      return [formatProblem(where, source[name], `cannot be combined with ${toKebabCase(other)}; drop one of the two`)]
    }),
  )
  const { host, controlToken } = merged
  const openCors = merged.upstream === undefined ? undefined : corsOfFile(sources, layers)
  if (openCors !== undefined) {
    const { value, where } = openCors
    conflicts.push(
      formatProblem(where([]), value, `would open the real service to websites; use ${flagOrVariable('cors')}`),
    )
  }
  if (host === undefined || isLoopback(host) || controlToken !== undefined) return conflicts
  const where = find(layers, 'host')?.where([]) ?? 'host'
  return [
    ...conflicts,
    // Without a token, anyone who can reach the control plane can use it.
    formatProblem(where, host, 'can be reached from other machines; set a control token too (--control-token)'),
  ]
}

/** The origins beyond loopback that a file allows, unless a flag or variable decides. */
function corsOfFile(sources: readonly OptionValues[], layers: readonly Layer[]): GivenOption | undefined {
  const at = sources.findIndex(({ cors }) => cors !== undefined)
  const cors = sources[at]?.cors ?? 'loopback'
  const isNarrow = cors === 'loopback' || (cors !== '*' && cors.every(isLoopbackOrigin))
  return isNarrow || layers[at]?.isFile !== true ? undefined : layers[at].given.get('cors')
}

function find(layers: readonly Layer[], name: OptionName): GivenOption | undefined {
  return layers.map(({ given }) => given.get(name)).find((given) => given !== undefined)
}

/** Loads a packaged scenario by its name, or a file. @throws OptionsError that lists every problem */
export function loadScenario(nameOrFile: string, cwd: string): Scenario {
  return readScenario(loadScenarioLayer(nameOrFile, cwd))
}

/** @param origin names the option in problems: `--scenario` */
function loadScenarioLayer(nameOrFile: string, cwd: string, origin = 'scenario'): ScenarioLayer {
  if (isAddress(nameOrFile))
    return brokenScenario([`${origin} ${quoted(nameOrFile)}: is an address; download it and name the file`])
  if (!isScenarioFile(nameOrFile))
    return packagedLayer(nameOrFile, origin, `to name a file, write ./${nameOrFile}.yaml`)
  let text: string
  try {
    text = readRegularFile(resolvePath(cwd, nameOrFile), MAX_OPTIONS_FILE_BYTES).toString()
  } catch (error) {
    const isMissing = Object(error).code === 'ENOENT'
    const why = isMissing ? 'the file does not exist' : `the file cannot be read (${describeOpenError(error)})`
    const names = packagedScenarios().join(', ')
    return brokenScenario([`${origin} ${quoted(nameOrFile)}: ${why}; packaged scenarios are ${names}`])
  }
  const map = readYamlMap(text, nameOrFile)
  return 'problems' in map ? brokenScenario(map.problems) : scenarioLayer(map.entries, map.where)
}

function scenarioFile(given: unknown): string | undefined {
  return typeof given === 'string' && isScenarioFile(given) ? given : undefined
}
