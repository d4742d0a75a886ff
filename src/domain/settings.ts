import { PLAN_NAMES, type PlanName } from './keys.js'
import type { Limits } from './quota.js'
import { SUNSET_MODES, type SunsetMode } from './sunset.js'
import { DAY_MS, type DurationMs, MINUTE_MS } from './time.js'

const RETRY_AFTER_FORMS = ['seconds', 'http-date', 'none'] as const
type RetryAfterForm = (typeof RETRY_AFTER_FORMS)[number]

const LIMIT_BODIES = ['error', 'empty', 'text', 'html'] as const
type LimitBody = (typeof LIMIT_BODIES)[number]

const BAN_STATUSES = [429, 403, 401] as const
type BanStatus = (typeof BAN_STATUSES)[number]

/** Orders of the list, by creation. @source docs/behaviour.md, "list order" */
export const LIST_ORDERS = ['newest', 'oldest'] as const
export type ListOrder = (typeof LIST_ORDERS)[number]

const SUNSET_STATUSES = [404, 410] as const
type SunsetStatus = (typeof SUNSET_STATUSES)[number]

/** A delay of every response, between two bounds; a fixed one has both equal. */
export interface Latency {
  readonly min: DurationMs
  readonly max: DurationMs
}

/** Node's timers fire at once beyond 2^31 ms (24 days); nobody waits a day for a response. */
export const LONGEST_LATENCY_MS: DurationMs = DAY_MS

/** The settings of a space, which can be changed while it runs. */
export interface Settings {
  /** Plan of the key `sandbox`. */
  readonly plan: PlanName
  /** Other limits for the key `sandbox` (`5000/min,200000/day`); a part that is not given is the plan's. */
  readonly limits?: Partial<Limits>
  /** Off: no quota refuses anything, and the headers show the full limit. */
  readonly rateLimit: boolean
  /** So many requests sent before their Retry-After has passed make a ban. */
  readonly banAfter: number | 'never'
  /** How long a ban lasts (`5m`). */
  readonly banDuration: DurationMs
  /** What a banned key is answered. */
  readonly banStatus: BanStatus
  /** Form of Retry-After. */
  readonly retryAfter: RetryAfterForm
  /** Body of a 429. */
  readonly limitBody: LimitBody
  /** Whether deprecated operations have been removed: by the clock, or whatever it says. */
  readonly sunset: SunsetMode
  /** What a removed operation answers. */
  readonly sunsetStatus: SunsetStatus
  /** Delay of every answer (`100ms` or `50ms..200ms`). */
  readonly latency?: Latency
  /**
   * How many senders may share a key for the same request at the same time, 1 to 100. Only conduct asks.
   * Unless it is stated it depends on the place: 8 in the default space of `serve`, else 1.
   */
  readonly senders?: number
}

export type SettingName = keyof Settings

/** The most senders that can be stated: what conduct keeps of a key is bounded. */
export const MOST_SENDERS = 100

/** Headings in the help under which there are settings. */
export const SETTING_GROUPS = {
  quotas: 'Keys and quotas',
  refusals: 'Refusals and bans',
  trouble: 'Trouble on purpose',
  conduct: 'Conduct',
} as const
type SettingGroup = keyof typeof SETTING_GROUPS

/** What users are told about a setting. */
interface Told {
  readonly group: SettingGroup
  /** What stands after its flag in the help. */
  readonly value: string
  readonly description: string
  /** Section of the dashboard, and what its field is called there. */
  readonly panel: 'limits' | 'bans' | 'answers'
  readonly label: string
  /** What the dashboard's field shows while it is empty. */
  readonly hint?: string
}

/** How a setting is written and read, by the type that it has. */
type RowOf<Value> =
  | (Told & { readonly kind: 'choice'; readonly choices: readonly Value[]; readonly default: Value })
  | (Omit<Told, 'value'> & { readonly kind: 'switch'; readonly default: Value & boolean })
  /** A whole number of 1 or more, or `never`. */
  | (Told & { readonly kind: 'count-or-never'; readonly default: Value & (number | 'never') })
  /** A duration longer than 0. */
  | (Told & { readonly kind: 'wait'; readonly default: Value & DurationMs })

/** The same for one that may be missing. */
type OptionalRowOf<Value> = Told & {
  readonly kind: Value extends number
    ? 'senders'
    : Value extends Latency
      ? 'latency'
      : Value extends Partial<Limits>
        ? 'limits'
        : never
  /** What holds while it is missing. */
  readonly unset: string
  readonly example: string
}

/**
 * Every setting, once: what it is by itself, and how it is written and explained. Flags, their twins in the environment,
 * the config file, scenarios, the control plane, the types of the programmatic API and the dashboard's fields come from
 * these rows, in this order.
 *
 * @source docs/switches.md, "Options of serve"
 */
export const SETTINGS = {
  plan: {
    kind: 'choice',
    choices: PLAN_NAMES,
    default: 'free',
    group: 'quotas',
    value: '<plan>',
    description: `plan of the key "sandbox": ${PLAN_NAMES.join(', ')}`,
    panel: 'limits',
    label: 'Plan of sandbox',
  },
  limits: {
    kind: 'limits',
    unset: "the plan's",
    example: '5000/min,200000/day',
    group: 'quotas',
    value: '<spec>',
    description: 'other limits for the key "sandbox", for example 5000/min,200000/day',
    panel: 'limits',
    label: 'Limits of sandbox',
    hint: "the plan's own",
  },
  rateLimit: {
    kind: 'switch',
    default: true,
    group: 'quotas',
    description: 'turn rate limits off',
    panel: 'limits',
    label: 'Rate limits are on',
  },
  banAfter: {
    kind: 'count-or-never',
    default: 10,
    group: 'refusals',
    value: '<n|never>',
    description: 'early requests that bring on a ban',
    panel: 'bans',
    label: 'After early requests',
    hint: 'a number, or never',
  },
  banDuration: {
    kind: 'wait',
    default: 5 * MINUTE_MS,
    group: 'refusals',
    value: '<duration>',
    description: 'how long a ban lasts',
    panel: 'bans',
    label: 'Lasts',
  },
  banStatus: {
    kind: 'choice',
    choices: BAN_STATUSES,
    default: 429,
    group: 'refusals',
    value: '<status>',
    description: `status that a banned key gets: ${BAN_STATUSES.join(', ')}`,
    panel: 'bans',
    label: 'Answers',
  },
  retryAfter: {
    kind: 'choice',
    choices: RETRY_AFTER_FORMS,
    default: 'seconds',
    group: 'refusals',
    value: '<form>',
    description: `form of Retry-After: ${RETRY_AFTER_FORMS.join(', ')}`,
    panel: 'limits',
    label: 'Retry-After',
  },
  limitBody: {
    kind: 'choice',
    choices: LIMIT_BODIES,
    default: 'error',
    group: 'refusals',
    value: '<form>',
    description: `body of a 429: ${LIMIT_BODIES.join(', ')}`,
    panel: 'limits',
    label: 'Body of a 429',
  },
  sunset: {
    kind: 'choice',
    choices: SUNSET_MODES,
    default: 'auto',
    group: 'trouble',
    value: '<mode>',
    description: 'removal of deprecated operations: auto (by the clock), before, after, brownout',
    panel: 'answers',
    label: 'Sunset',
  },
  sunsetStatus: {
    kind: 'choice',
    choices: SUNSET_STATUSES,
    default: 404,
    group: 'trouble',
    value: '<status>',
    description: `status of a removed operation: ${SUNSET_STATUSES.join(', ')}`,
    panel: 'answers',
    label: 'Removed answers',
  },
  latency: {
    kind: 'latency',
    unset: 'off',
    example: '50ms..200ms',
    group: 'trouble',
    value: '<spec>',
    description: 'delay every response: 100ms or 50ms..200ms',
    panel: 'answers',
    label: 'Latency',
    hint: 'none; 50ms..200ms',
  },
  senders: {
    kind: 'senders',
    unset: '8, in a named space 1',
    example: '4',
    group: 'conduct',
    value: '<n>',
    description: 'senders that may share a key for the same request at a time; conduct counts by it',
    panel: 'bans',
    label: 'Senders of a key',
    hint: 'by place: 8 or 1',
  },
} as const satisfies {
  readonly [Name in SettingName]-?: Name extends OptionalSetting
    ? OptionalRowOf<Required<Settings>[Name]>
    : RowOf<Settings[Name]>
}

export type OptionalSetting = {
  [Name in SettingName]-?: object extends Pick<Settings, Name> ? Name : never
}[SettingName]

export type SettingRow = (typeof SETTINGS)[SettingName]

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** Settings that may be missing: null or a word for none takes them away. */
export const OPTIONAL_SETTINGS: readonly string[] = SETTING_NAMES.filter((name) => 'unset' in SETTINGS[name])

export const DEFAULT_SETTINGS: Settings = Object.fromEntries(
  Object.entries(SETTINGS).flatMap(([name, row]) => ('default' in row ? [[name, row.default]] : [])),
  // Each row's default has the type of its setting.
) as unknown as Settings
