import type { Open } from '../contract/open.js'
import type { FaultRule, FaultText } from '../domain/faults.js'
import type { ApiKey } from '../domain/keys.js'
import type { ListOrder, SETTINGS, SettingName, Settings } from '../domain/settings.js'
import type { SpaceStart } from '../domain/space-start.js'
import type { DurationMs, DurationText } from '../domain/time.js'
import type { UpstreamWrites } from '../domain/upstream.js'

/** Forms of the log on stderr. */
export const LOG_FORMATS = ['pretty', 'json', 'silent'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** The settings of a space as programs write them: durations, limits and latency as text, or limits in their own shape. */
export type SettingsInput = { readonly [Name in keyof Settings]?: Written<Required<Settings>[Name], KindOf<Name>> }

type KindOf<Name extends SettingName> = (typeof SETTINGS)[Name]['kind']

type Written<Value, Kind> = Kind extends 'limits'
  ? Value | LimitsText
  : Kind extends 'latency'
    ? LatencyText
    : Kind extends 'wait'
      ? DurationText
      : Value

/** `5000/min,200000/day`, or one of both. */
type LimitsText = Open<`${number}/${'min' | 'day'}` | `${number}/min,${number}/day`>
/** `100ms`, or `50ms..200ms`. */
type LatencyText = Open<DurationText | `${number}${'ms' | 's'}..${number}${'ms' | 's'}`>
/** A scenario that comes with the package. */
export type KnownScenario = 'banned' | 'brownout' | 'flaky-network' | 'quota-nearly-spent' | 'storm' | 'sunset'
/** A packaged scenario, or a YAML file. */
export type ScenarioName = Open<KnownScenario>

/** `noRateLimit`: the opposite of a switch that is on by itself. */
export type NegatedSetting = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { readonly default: true } ? `no${Capitalize<Name>}` : never
}[SettingName]

/**
 * The options of a sandbox: the flags of `serve`, in camelCase.
 *
 * Each value may be written as on the command line (`'5m'`, `'0.3,for=30s'`) or,
 * where one is shown here, in its own shape.
 */
export interface SandboxOptions extends SettingsInput, Readonly<Partial<Record<NegatedSetting, boolean>>> {
  /** TCP port, 0 for a free one. */
  readonly port?: number
  /** Address to listen on, 127.0.0.1 by itself. Beyond loopback it needs `controlToken`. */
  readonly host?: string
  /** Ends in the version segment. Default `/v1`. */
  readonly basePath?: string
  /** The store's file. The programmatic API keeps state in memory unless one is given. */
  readonly store?: string
  /** Keep nothing on disk. */
  readonly inMemory?: boolean
  /** How much the store may hold, and the spaces in memory together: `256MiB`. */
  readonly maxStore?: string
  /** Folder with pets.json, orders.json, keys.json. */
  readonly fixtures?: string
  /** Number of pets to generate instead of using the fixtures. */
  readonly pets?: number
  /** Reseed the store at start. */
  readonly reset?: boolean
  /** As `--no-rate-limit`: the opposite of rateLimit. */
  readonly noRateLimit?: boolean
  /** `key` or `key:plan`, one or more. */
  readonly apiKey?: string | readonly string[]
  /** Accept every key, each with its own quota. */
  readonly anyKey?: boolean
  /** `0.3,for=30s`, its rate alone, or `off`. */
  readonly storm?: string | number | StormOption
  /** Failing and broken answers, `listPets:503@20%*3` or in its own shape; the first rule that matches wins. */
  readonly fault?: FaultText | FaultRule | readonly (FaultText | FaultRule)[]
  /** ISO 8601 instant at which the clock starts. */
  readonly now?: string | Date
  /** Stop the clock, so that only the controls move it. */
  readonly freeze?: boolean
  /** Makes everything random repeatable. Random by itself. */
  readonly seed?: number
  /** Name of a packaged scenario, a YAML file, or (programmatic) its content. */
  readonly scenario?: ScenarioName | ScenarioContent
  /** File of another OpenAPI document to serve; operations that it adds are mocked. */
  readonly spec?: string
  /** Operations that are mocked from the contract, though the sandbox could answer them from its state. */
  readonly mock?: string | readonly string[]
  /** Base address of a real service to put the sandbox in front of: what its switches let through is answered there. */
  readonly upstream?: string
  /** File that holds a key of the real service, which stands for every key of the sandbox. */
  readonly upstreamApiKeyFile?: string
  /** What becomes of writes in front of a real service: kept here (by itself), sent on, or refused. */
  readonly upstreamWrites?: UpstreamWrites
  /** How long the real service may take for an answer, 10s by itself. */
  readonly upstreamTimeout?: DurationText
  /** File of the certificate authority that has signed the real service's certificate. */
  readonly upstreamCa?: string
  /** Folder in which to keep what the real service answers, as fixtures. */
  readonly record?: string
  /** Check the answers of the sandbox itself against the contract; one that breaks it becomes a 500. */
  readonly strict?: boolean
  /** Be one of several replicas, which share a log in this Redis: `redis://127.0.0.1:6379`. */
  readonly redis?: string
  /** File with the address of `redis`, if it has a password. */
  readonly redisFile?: string
  /** Replicas of one name are one sandbox: `default` by itself. */
  readonly group?: string
  /** Answer only when so many of Redis' own replicas have it, too; 0 by itself. */
  readonly redisWait?: number
  /** Order of the list, by creation: newest first by itself. */
  readonly order?: ListOrder
  /** Sync every write to disk, to survive a power cut. */
  readonly fsync?: boolean
  /** Say in X-Sandbox-Reason why the sandbox made up an answer. On by itself. */
  readonly reason?: boolean
  /** As `--no-reason`: the opposite of reason. */
  readonly noReason?: boolean
  /** Most spaces that may be open at once, 1000 by itself. */
  readonly maxSpaces?: number
  /** Exchanges that the log of a space keeps, 1000 by itself. */
  readonly logLimit?: number
  /** `*`, `off`, or origins separated by commas. */
  readonly cors?: string | readonly string[]
  /** What is printed on stderr for each exchange. Programs hear nothing of it; only `serve` and `exec` print. */
  readonly log?: LogFormat
  /** Bearer token of the control plane. Without one it answers on loopback only. */
  readonly controlToken?: string
  /** Web origins that may control the sandbox, besides its own. */
  readonly controlOrigin?: string | readonly string[]
}

/** A storm as the options, scenarios and the control plane write it: durations as text (`30s`). */
export interface StormOption {
  /** Share of requests refused, from 0 to 1. */
  readonly rate?: number
  /** How long it lasts; without it, until it is stopped. */
  readonly for?: DurationText
  /** How often it comes again, from start to start; without it, once. */
  readonly every?: DurationText
  /** The wait that Retry-After names, 1 s by itself. */
  readonly retryAfter?: DurationText
}

/** A scenario: settings of a space, and the start of its clock, quotas and bans. */
export interface ScenarioContent
  extends SettingsInput,
    Pick<SandboxOptions, NegatedSetting | 'storm' | 'fault' | 'now' | 'freeze' | 'upstream'> {
  /** What it does, in one line. */
  readonly description?: string
  /** Requests already used, by key: `{ sandbox: '57/min,990/day' }`. */
  readonly used?: Readonly<Record<string, string>>
  /** Keys that start banned, and for how long: `{ sandbox: '5m' }`. */
  readonly ban?: Readonly<Record<string, DurationText>>
}

/** Where replicas share their log. */
export interface GroupLog {
  /** The address, or the file that holds it. It may have a password. */
  readonly redis: { readonly address: string } | { readonly file: string }
  /** The name of the group. */
  readonly group: string
  /** How many of Redis' own replicas have to have an entry. */
  readonly copies: number
}

/** The options, complete and checked. Flags, environment and files are not read again. */
export interface ResolvedOptions {
  readonly port: number
  readonly host: string
  readonly basePath: string
  /** File of the store; undefined is in memory only. */
  readonly store: string | undefined
  /** In bytes. */
  readonly maxStore: number
  readonly fixtures: string | undefined
  readonly pets: number | undefined
  readonly reset: boolean
  /** Keys beside those of the fixtures. */
  readonly apiKeys: readonly ApiKey[]
  readonly anyKey: boolean
  /** Senders of a key in the default space, unless the setting states them. */
  readonly senders: number
  readonly start: SpaceStart
  readonly seed: number
  /** The seed was chosen by chance. */
  readonly isSeedRandom: boolean
  /** The log of the group of which this is a replica; undefined for a sandbox by itself. */
  readonly groupLog: GroupLog | undefined
  /** File of the scenario; undefined for none, or for a packaged one. */
  readonly scenarioFile: string | undefined
  readonly spec: string | undefined
  /** Ids of operations. */
  readonly mock: readonly string[]
  readonly strict: boolean
  /** Without a slash at its end. */
  readonly upstream: string | undefined
  readonly upstreamApiKeyFile: string | undefined
  readonly upstreamWrites: UpstreamWrites
  readonly upstreamTimeout: DurationMs
  readonly upstreamCa: string | undefined
  readonly record: string | undefined
  readonly order: ListOrder
  readonly fsync: boolean
  readonly reason: boolean
  readonly maxSpaces: number
  readonly logLimit: number
  readonly log: LogFormat
  /** `*` for any origin, else the origins allowed (none: CORS is off). */
  readonly cors: '*' | readonly string[]
  readonly controlToken: string | undefined
  readonly controlOrigins: readonly string[]
}
