import type { Open } from '../contract/entities.js'
import { Failure } from '../domain/failures.js'
import type { FaultInput } from '../domain/faults.js'
import type { OptionalSetting, SETTINGS, SettingName, Settings } from '../domain/settings.js'
import type { DurationText } from '../domain/time.js'
import { type LogFormat, type OPTIONS, STORE_FILE } from './rows.js'

export type { LogFormat } from './rows.js'

/** The settings of a space as programs write them: durations and latency as text, limits as text or an object. */
export type SettingsInput = { readonly [Name in keyof Settings]?: Written<Required<Settings>[Name], KindOf<Name>> }

/** Settings that can be changed while a space runs; null removes an optional one. */
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

/** What a program may give, by the kind of an option. `choice`: one of the row's choices. */
export interface KindInputs {
  readonly switch: boolean
  readonly number: number
  readonly file: string
  readonly folder: string
  readonly size: string
  readonly duration: DurationText
  readonly host: string
  readonly 'base-path': string
  readonly 'base-url': string
  readonly redis: string
  readonly name: string
  readonly token: string
  readonly instant: string | Date
  readonly storm: string | number | StormOption
  readonly scenario: ScenarioName | ScenarioContent
  readonly faults: FaultInput | readonly FaultInput[]
  readonly counts: string | readonly string[]
  readonly keys: string | readonly string[]
  readonly operations: string | readonly string[]
  readonly origins: string | readonly string[]
  readonly cors: string | readonly string[]
}

/** What a program may give for a row. */
type InputOf<Row> = Row extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Row extends { readonly kind: infer K extends keyof KindInputs }
    ? KindInputs[K]
    : never

/** The options that are not settings, as programs give them. */
type OptionInputs = { readonly [Name in keyof typeof OPTIONS]?: InputOf<(typeof OPTIONS)[Name]> }

/**
 * The options of a sandbox: the flags of `serve`, in camelCase.
 *
 * Each value may be written as on the command line (`'5m'`, `'0.3,for=30s'`) or as the type of the option shows.
 */
export interface SandboxOptions
  extends SettingsInput,
    OptionInputs,
    Readonly<Partial<Record<NegatedSetting, boolean>>> {
  /** As `--no-rate-limit`: the opposite of rateLimit. */
  readonly noRateLimit?: boolean
  /** As `--no-reason`: the opposite of reason. */
  readonly noReason?: boolean
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
  /** Requests already used, by key: `{ sandbox: '57/min,990/day' }`, or all but some: `{ sandbox: 'all-3/min' }`. */
  readonly used?: Readonly<Record<string, string>>
  /** Keys that are banned at the start, with the duration: `{ sandbox: '5m' }`. */
  readonly ban?: Readonly<Record<string, string>>
}

/** Invalid options: a usage error. It lists all problems, not only the first. */
export class OptionsError extends Failure {
  override readonly name = 'OptionsError'

  constructor(problems: readonly string[]) {
    super('INVALID_OPTIONS', problems)
  }
}

export interface StartDefaults {
  readonly port: number
  /** Undefined keeps state in memory. */
  readonly store: string | undefined
  readonly log: LogFormat
}

/** In a program and under `exec`: can run beside others, and leaves no files. */
export const EMBEDDED_DEFAULTS: StartDefaults = { port: 0, store: undefined, log: 'silent' }

/** @source docs/switches.md, "Options of serve" */
export function serveDefaults(log: LogFormat): StartDefaults {
  return { port: 4010, store: STORE_FILE, log }
}
