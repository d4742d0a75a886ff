import type { FaultRule } from '../domain/faults.js'
import type { ApiKey } from '../domain/keys.js'
import type { ListOrder, SETTINGS, SettingName, Settings } from '../domain/settings.js'
import type { SpaceStart } from '../domain/space-start.js'

/** Forms of the log on stderr. */
export const LOG_FORMATS = ['pretty', 'json', 'silent'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** The settings of a space as programs write them: durations, limits and latency as text, or limits in their own shape. */
export type SettingsInput = { readonly [Name in keyof Settings]?: Written<Required<Settings>[Name], KindOf<Name>> }

type KindOf<Name extends SettingName> = (typeof SETTINGS)[Name]['kind']

type Written<Value, Kind> = Kind extends 'limits' ? Value | string : Kind extends 'wait' | 'latency' ? string : Value

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
  readonly host?: string
  /** Ends in the version segment. Default `/v1`. */
  readonly basePath?: string
  /** The store's file. The programmatic API keeps state in memory unless one is given. */
  readonly store?: string
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
  readonly anyKey?: boolean
  /** `0.3,for=30s`, its rate alone, or `off`. */
  readonly storm?: string | number | StormOption
  readonly fault?: string | FaultRule | readonly (string | FaultRule)[]
  /** ISO 8601 instant at which the clock starts. */
  readonly now?: string | Date
  readonly freeze?: boolean
  readonly seed?: number
  /** Name of a packaged scenario, a YAML file, or (programmatic) its content. */
  readonly scenario?: string | ScenarioContent
  readonly spec?: string
  /** Operations that are mocked from the contract, though the sandbox could answer them from its state. */
  readonly mock?: string | readonly string[]
  readonly strict?: boolean
  readonly order?: ListOrder
  readonly fsync?: boolean
  readonly reason?: boolean
  /** As `--no-reason`: the opposite of reason. */
  readonly noReason?: boolean
  readonly maxSpaces?: number
  readonly logLimit?: number
  /** `*`, `off`, or origins separated by commas. */
  readonly cors?: string | readonly string[]
  readonly log?: LogFormat
  readonly controlToken?: string
  readonly controlOrigin?: string | readonly string[]
}

/** A storm as the options, scenarios and the control plane write it: durations as text (`30s`). */
export interface StormOption {
  readonly rate?: number
  readonly for?: string
  readonly every?: string
  readonly retryAfter?: string
}

/** A scenario: settings of a space, and the start of its clock, quotas and bans. */
export interface ScenarioContent
  extends SettingsInput,
    Pick<SandboxOptions, NegatedSetting | 'storm' | 'fault' | 'now' | 'freeze'> {
  readonly description?: string
  /** Requests already used, by key: `{ sandbox: '57/min,990/day' }`. */
  readonly used?: Readonly<Record<string, string>>
  /** Keys that start banned, and for how long: `{ sandbox: '5m' }`. */
  readonly ban?: Readonly<Record<string, string>>
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
  readonly spec: string | undefined
  /** Ids of operations. */
  readonly mock: readonly string[]
  readonly strict: boolean
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
