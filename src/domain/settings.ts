import { PLAN_NAMES, type PlanName } from './keys.js'
import type { Limits } from './quota.js'
import { DAY_MS, type DurationMs, MINUTE_MS } from './time.js'

const RETRY_AFTER_FORMS = ['seconds', 'http-date', 'none'] as const
type RetryAfterForm = (typeof RETRY_AFTER_FORMS)[number]

const LIMIT_BODIES = ['error', 'empty', 'text', 'html', 'problem'] as const
type LimitBody = (typeof LIMIT_BODIES)[number]

const RATE_LIMIT_HEADERS = ['documented', 'draft'] as const
type RateLimitHeaders = (typeof RATE_LIMIT_HEADERS)[number]

const BAN_STATUSES = [429, 403, 401] as const
type BanStatus = (typeof BAN_STATUSES)[number]

/** @source docs/behaviour.md, "list order" */
export const LIST_ORDERS = ['newest', 'oldest'] as const
export type ListOrder = (typeof LIST_ORDERS)[number]

export const SUNSET_MODES = ['auto', 'before', 'after', 'brownout'] as const
export type SunsetMode = (typeof SUNSET_MODES)[number]

const SUNSET_STATUSES = [404, 410] as const
type SunsetStatus = (typeof SUNSET_STATUSES)[number]

export interface DelayRange {
  readonly min: DurationMs
  readonly max: DurationMs
}

/** Delay of all responses, with exceptions by operation. */
export interface Latency extends DelayRange {
  readonly operations?: Readonly<Record<string, DelayRange>>
}

/** Below 2^31 ms (24 days), beyond which Node's timers fire immediately. */
export const LONGEST_LATENCY_MS: DurationMs = DAY_MS

/** Settings of a space, which can change while it runs. */
export interface Settings {
  /** Plan of the key `sandbox`. */
  readonly plan: PlanName
  /** Limits for the key `sandbox` (`5000/min,200000/day`); an omitted part is the plan's. */
  readonly limits?: Partial<Limits>
  /** If false, quotas never refuse a request, and the headers show the full limit. */
  readonly rateLimit: boolean
  /** Number of requests before the end of Retry-After that cause a ban. */
  readonly banAfter: number | 'never'
  /** Duration of a ban (`5m`). */
  readonly banDuration: DurationMs
  /** Status of responses to a banned key. */
  readonly banStatus: BanStatus
  /** Form of Retry-After. */
  readonly retryAfter: RetryAfterForm
  /** Body of a 429; `problem` (RFC 9457) also of a ban with 403. */
  readonly limitBody: LimitBody
  /** `draft` adds RateLimit and RateLimit-Policy of the IETF draft to X-RateLimit-*. */
  readonly rateLimitHeaders: RateLimitHeaders
  /** Removal of deprecated operations: by the clock, or always, never or in brownouts. */
  readonly sunset: SunsetMode
  /** Status of a removed operation. */
  readonly sunsetStatus: SunsetStatus
  /** Delay of every response (`100ms` or `50ms..200ms`), or by operation (`{ listPets: '3s', '*': '100ms' }`). */
  readonly latency?: Latency
  /**
   * Number of clients without a name that share a key, 1 to 100, for conduct and bans. Default: the most that had the
   * same request in flight at once.
   */
  readonly senders?: number
}

export type SettingName = keyof Settings

export const MAX_SENDERS = 100

export const SETTING_GROUPS = {
  quotas: 'Keys and quotas',
  refusals: 'Refusals and bans',
  trouble: 'Failures',
  conduct: 'Conduct',
} as const
type SettingGroup = keyof typeof SETTING_GROUPS

interface Told {
  readonly group: SettingGroup
  /** Placeholder in the help. */
  readonly value: string
  readonly description: string
  /** On the dashboard. */
  readonly panel: 'limits' | 'bans' | 'responses'
  readonly label: string
  readonly hint?: string
}

type RowOf<Value> =
  | (Told & { readonly kind: 'choice'; readonly choices: readonly Value[]; readonly default: Value })
  | (Omit<Told, 'value'> & { readonly kind: 'switch'; readonly default: Value & boolean })
  /** An integer from 1, or `never`. */
  | (Told & { readonly kind: 'count-or-never'; readonly default: Value & (number | 'never') })
  /** A duration longer than 0. */
  | (Told & { readonly kind: 'wait'; readonly default: Value & DurationMs })

type OptionalRowOf<Value> = Told & {
  readonly kind: Value extends number
    ? 'senders'
    : Value extends Latency
      ? 'latency'
      : Value extends Partial<Limits>
        ? 'limits'
        : never
  /** Text for a missing value. */
  readonly unset: string
  readonly example: string
}

/**
 * All settings. Flags, environment variables, config file, scenarios, control plane, API types and dashboard fields are
 * derived from this table. @source docs/switches.md, "Options of serve"
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
    description: 'limits of the key "sandbox": 5000/min,200000/day',
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
    description: 'number of early requests that lead to a ban',
    panel: 'bans',
    label: 'Ban after N early retries',
    hint: 'a number, or never',
  },
  banDuration: {
    kind: 'wait',
    default: 5 * MINUTE_MS,
    group: 'refusals',
    value: '<duration>',
    description: 'duration of a ban',
    panel: 'bans',
    label: 'Duration of a ban',
  },
  banStatus: {
    kind: 'choice',
    choices: BAN_STATUSES,
    default: 429,
    group: 'refusals',
    value: '<status>',
    description: `status for a banned key: ${BAN_STATUSES.join(', ')}`,
    panel: 'bans',
    label: 'Status of a ban',
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
  rateLimitHeaders: {
    kind: 'choice',
    choices: RATE_LIMIT_HEADERS,
    default: 'documented',
    group: 'refusals',
    value: '<form>',
    description: `rate-limit headers: ${RATE_LIMIT_HEADERS.join(', ')} (IETF)`,
    panel: 'limits',
    label: 'Rate-limit headers',
  },
  sunset: {
    kind: 'choice',
    choices: SUNSET_MODES,
    default: 'auto',
    group: 'trouble',
    value: '<mode>',
    description: 'removal of getPet: auto, before, after, brownout',
    panel: 'responses',
    label: 'Sunset',
  },
  sunsetStatus: {
    kind: 'choice',
    choices: SUNSET_STATUSES,
    default: 404,
    group: 'trouble',
    value: '<status>',
    description: `status of a removed operation: ${SUNSET_STATUSES.join(', ')}`,
    panel: 'responses',
    label: 'Status once removed',
  },
  latency: {
    kind: 'latency',
    unset: 'off',
    example: '50ms..200ms',
    group: 'trouble',
    value: '<spec>',
    description: 'delay responses: 100ms, 50ms..200ms or listPets=3s',
    panel: 'responses',
    label: 'Latency',
    hint: 'off; 50ms..200ms, listPets=3s',
  },
  senders: {
    kind: 'senders',
    unset: 'the most requests in flight at once',
    example: '4',
    group: 'conduct',
    value: '<n>',
    description: 'clients that share a key; conduct and bans count by it',
    panel: 'bans',
    label: 'Senders of a key',
    hint: 'as in flight',
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

export const OPTIONAL_SETTINGS: readonly string[] = SETTING_NAMES.filter((name) => 'unset' in SETTINGS[name])

export const DEFAULT_SETTINGS: Settings = Object.fromEntries(
  Object.entries(SETTINGS).flatMap(([name, row]) => ('default' in row ? [[name, row.default]] : [])),
) as unknown as Settings

/** @param operation undefined outside the contract */
export function findLatency({ latency }: Settings, operation: string | undefined): DelayRange | undefined {
  const { operations = {} } = latency ?? {}
  return operation !== undefined && Object.hasOwn(operations, operation) ? operations[operation] : latency
}

export function slowedOperations({ latency }: { readonly latency?: Latency | undefined }): readonly string[] {
  return Object.keys(latency?.operations ?? {})
}
