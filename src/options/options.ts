import type { Open } from '../contract/entities.js'
import type { FailureCode } from '../domain/failures.js'
import type { FaultInput } from '../domain/faults.js'
import type { SpaceSource } from '../domain/keys.js'
import type { ListOrder, OptionalSetting, SETTINGS, SettingName, Settings } from '../domain/settings.js'
import { type DurationText, SECOND_MS } from '../domain/time.js'
import type { UpstreamWrites } from '../domain/upstream.js'

export const LOG_FORMATS = ['pretty', 'json', 'silent'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** The settings of a space as programs write them: durations and latency as text, limits as text or an object. */
export type SettingsInput = { readonly [Name in keyof Settings]?: Written<Required<Settings>[Name], KindOf<Name>> }

/** Settings that can be changed while a space runs; null removes limits, latency or senders. */
export type SettingsPatch = {
  readonly [Name in keyof SettingsInput]: SettingsInput[Name] | (Name extends OptionalSetting ? null : never)
}

/** Settings as they are written, so that they can be sent back. Null: not set, or the plan's own. */
export type SettingsView = {
  readonly [Name in keyof Settings]-?:
    | Shown<Required<SettingsInput>[Name]>
    | (Name extends OptionalSetting ? null : never)
}

type Shown<Written> = string extends Written ? string : Written

type KindOf<Name extends SettingName> = (typeof SETTINGS)[Name]['kind']

type Written<Value, Kind> = Kind extends 'limits'
  ? Value | LimitsText
  : Kind extends 'latency'
    ? LatencyText | Readonly<Record<string, LatencyText>>
    : Kind extends 'wait'
      ? DurationText
      : Value

/** `5000/min,200000/day`, or one of both. */
type LimitsText = Open<`${number}/${'min' | 'day'}` | `${number}/min,${number}/day`>
/** `100ms`, `50ms..200ms`, or `listPets=3s`. */
type LatencyText = Open<DurationText | `${number}${'ms' | 's'}..${number}${'ms' | 's'}`>
/** A scenario that comes with the package. */
export type KnownScenario = 'banned' | 'brownout' | 'flaky-network' | 'quota-nearly-spent' | 'storm' | 'sunset'
/** A packaged scenario, or a YAML file. */
export type ScenarioName = Open<KnownScenario>

/** `noRateLimit`: the opposite of a switch that is on by default. */
export type NegatedSetting = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { readonly default: true } ? `no${Capitalize<Name>}` : never
}[SettingName]

/**
 * The options of a sandbox: the flags of `serve`, in camelCase.
 *
 * Each value may be written as on the command line (`'5m'`, `'0.3,for=30s'`) or as the type of the option shows.
 */
export interface SandboxOptions extends SettingsInput, Readonly<Partial<Record<NegatedSetting, boolean>>> {
  /** TCP port, 0 for a free one. */
  readonly port?: number
  /** Address to listen on. Default: 127.0.0.1. Addresses beyond loopback require `controlToken`. */
  readonly host?: string
  /** Path of the service, ending in its version segment. Default: the path of the contract's first server, or `/v1`. */
  readonly basePath?: string
  /** File of the store. Default: state is kept in memory. */
  readonly store?: string
  /** Keep nothing on disk. */
  readonly inMemory?: boolean
  /** Maximum size of the store, and of all spaces in memory. Default: `256MiB`. */
  readonly maxStore?: string
  /** Folder with pets.json, orders.json, keys.json. */
  readonly fixtures?: string
  /** Number of pets to generate instead of using the fixtures. */
  readonly pets?: number
  /** Records to generate, as `categories=50`, for resources of the contract. */
  readonly generate?: string | readonly string[]
  /** Reseed the store at start. */
  readonly reset?: boolean
  /** As `--no-rate-limit`: the opposite of rateLimit. */
  readonly noRateLimit?: boolean
  /** `key` or `key:plan`, one or more. */
  readonly apiKey?: string | readonly string[]
  /** Accept every key, each with its own quota. */
  readonly anyKey?: boolean
  /** `0.3,for=30s`, a rate, or `off`. */
  readonly storm?: string | number | StormOption
  /** Failing and broken responses, as `listPets:503@20%*3` or as objects; the first rule that matches wins. */
  readonly fault?: FaultInput | readonly FaultInput[]
  /** Start of the clock: an ISO 8601 instant, or an offset from real time such as `+3h` or `-2d`. */
  readonly now?: string | Date
  /** Stop the clock, so that only the controls move it. */
  readonly freeze?: boolean
  /** Makes everything random repeatable. Default: random. */
  readonly seed?: number
  /** Name of a packaged scenario, a YAML file, or the content of a scenario. */
  readonly scenario?: ScenarioName | ScenarioContent
  /** File of another OpenAPI document to serve. Operations that fit no resource are mocked. */
  readonly spec?: string
  /** Operations to mock from the contract, although the sandbox implements them. */
  readonly mock?: string | readonly string[]
  /** Base address of a real service: requests that no switch stops are forwarded to it. */
  readonly upstream?: string
  /** File with a key of the real service, which replaces every key of the sandbox. */
  readonly upstreamApiKeyFile?: string
  /** Handling of writes with `upstream`: refused, or forwarded. Default: `refuse`. */
  readonly upstreamWrites?: UpstreamWrites
  /** Time limit of a response of the real service. Default: `10s`. */
  readonly upstreamTimeout?: DurationText
  /** Check the sandbox's own responses against the contract; one that breaks it becomes a 500. */
  readonly strict?: boolean
  /** Join the replicas that share a log in this Redis: `redis://127.0.0.1:6379`. */
  readonly redis?: string
  /** Name of the group: replicas of one group are one sandbox. Default: `default`. */
  readonly group?: string
  /** Order of the list, by creation. Default: `newest`. */
  readonly order?: ListOrder
  /** Sync every write to disk, to survive a power cut. */
  readonly fsync?: boolean
  /** Say in X-Sandbox-Reason why the sandbox made up a response. Default: true. */
  readonly reason?: boolean
  /** As `--no-reason`: the opposite of reason. */
  readonly noReason?: boolean
  /** Maximum number of open spaces. Default: 1000. */
  readonly maxSpaces?: number
  /** Where a request names its space: in its key, or else in `baggage: sandbox-space=…`. Default: `key`. */
  readonly spaceFrom?: SpaceSource
  /** Maximum number of exchanges in the log of a space. Default: 1000. */
  readonly logLimit?: number
  /** `*`, `loopback`, `off`, or origins separated by commas. Default: `*`, and `loopback` with `upstream`. */
  readonly cors?: string | readonly string[]
  /** Form of the log on stderr. Only `serve` and `exec` print it. */
  readonly log?: LogFormat
  /** Bearer token of the control plane. Without one it responds on loopback only. */
  readonly controlToken?: string
  /** Web origins that may control the sandbox, besides its own. */
  readonly controlOrigin?: string | readonly string[]
}

/** A storm as the options, scenarios and the control plane write it: durations as text (`30s`). */
export interface StormOption {
  /** Share of requests refused, from 0 to 1. */
  readonly rate?: number
  /** Duration. Default: until it is stopped. */
  readonly for?: DurationText
  /** Interval at which it repeats, from start to start. Default: once. */
  readonly every?: DurationText
  /** Retry-After of refused requests. Default: `1s`. */
  readonly retryAfter?: DurationText
}

/** A scenario: settings of a space, and the start of its clock, quotas and bans. */
export interface ScenarioContent
  extends SettingsInput,
    Pick<SandboxOptions, NegatedSetting | 'storm' | 'fault' | 'now' | 'freeze'> {
  /** Description in one line. */
  readonly description?: string
  /** Requests already used, by key: `{ sandbox: '57/min,990/day' }`. */
  readonly used?: Readonly<Record<string, string>>
  /** Keys that are banned at the start, with the duration: `{ sandbox: '5m' }`. */
  readonly ban?: Readonly<Record<string, string>>
}

/** Invalid options: a usage error. It lists all problems, not only the first. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  readonly code = 'INVALID_OPTIONS' satisfies FailureCode
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export { DEFAULT_BASE_PATH } from '../contract/contract-data.js'

export interface StartDefaults {
  readonly port: number
  /** Undefined keeps state in memory. */
  readonly store: string | undefined
  readonly log: LogFormat
}

export const STORE_FILE = '.petstore-sandbox/store.json'

/** In a program and under `exec`: can run beside others, and leaves no files. */
export const EMBEDDED_DEFAULTS: StartDefaults = { port: 0, store: undefined, log: 'silent' }

/** @source docs/switches.md, "Options of serve" */
export function serveDefaults(log: LogFormat): StartDefaults {
  return { port: 4010, store: STORE_FILE, log }
}

/** Defaults of the options that are not settings of a space. */
export const DEFAULTS = {
  host: '127.0.0.1',
  order: 'newest',
  maxStore: 256 * 1024 * 1024,
  maxSpaces: 1000,
  logLimit: 1000,
  spaceFrom: 'key',
  cors: '*',
  group: 'default',
  upstreamWrites: 'refuse',
  upstreamTimeout: 10 * SECOND_MS,
} as const satisfies {
  readonly order: ListOrder
  readonly spaceFrom: SpaceSource
  readonly upstreamWrites: UpstreamWrites
  readonly [name: string]: unknown
}
