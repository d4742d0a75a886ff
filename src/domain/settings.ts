import { EXAMPLE } from '../contract/generated/examples.js'
import type { Limits } from './quota.js'
import { DAY_MS, type DurationMs, MINUTE_MS } from './time.js'

/** @source docs/behaviour.md, "list order" */
export const LIST_ORDERS = ['newest', 'oldest'] as const
export type ListOrder = (typeof LIST_ORDERS)[number]

export const SUNSET_MODES = ['auto', 'before', 'after', 'brownout'] as const
export type SunsetMode = (typeof SUNSET_MODES)[number]

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

export const MAX_SENDERS = 100

export const SETTING_GROUPS = {
  quotas: 'Keys and quotas',
  refusals: 'Refusals and bans',
  trouble: 'Failures',
  conduct: 'Conduct',
} as const
type SettingGroup = keyof typeof SETTING_GROUPS

/** What the help and the dashboard show of a setting. */
interface SettingText {
  readonly group: SettingGroup
  /** Placeholder in the help. */
  readonly value?: string
  readonly description: string
  /** Link to its explanation, from docs/switches.md. */
  readonly see?: string
  /** Also in the short help of `serve`. */
  readonly everyday?: true
  /** On the dashboard. */
  readonly panel: 'limits' | 'bans' | 'responses'
  readonly label: string
  readonly hint?: string
}

interface Choice<Value extends string | number, Group extends SettingGroup = SettingGroup> extends SettingText {
  readonly group: Group
  readonly kind: 'choice'
  readonly choices: readonly Value[]
  readonly default: Value
  readonly value: string
}

type OtherRow = SettingText &
  (
    | { readonly kind: 'switch'; readonly default: boolean }
    /** An integer from 1, or `never`. */
    | { readonly kind: 'count-or-never'; readonly default: number | 'never'; readonly value: string }
    /** A duration longer than 0. */
    | { readonly kind: 'wait'; readonly default: DurationMs; readonly value: string }
    /** `unset`: text for a missing value. */
    | {
        readonly kind: 'plan' | 'limits' | 'latency' | 'senders'
        readonly unset: string
        readonly example: string
        readonly value: string
      }
  )

/** @param description without the choices, which are added to it */
function choice<const Value extends string | number, Group extends SettingGroup>(
  choices: readonly Value[],
  standard: NoInfer<Value>,
  text: SettingText & { readonly group: Group; readonly value: string },
): Choice<Value, Group> {
  return {
    ...text,
    kind: 'choice',
    choices,
    default: standard,
    description: `${text.description}: ${choices.join(', ')}`,
  }
}

/**
 * All settings of a space, which can change while it runs. Their types, flags, environment variables, config file,
 * scenarios, control plane and dashboard fields are derived from this table. @source docs/switches.md, "Options of serve"
 */
export const SETTINGS = {
  /** Plan of the key `sandbox`, one of the contract's `x-plans`. Default: its `x-default-plan`, or else the first. */
  plan: {
    kind: 'plan',
    everyday: true,
    unset: 'free',
    example: 'pro',
    group: 'quotas',
    value: '<plan>',
    description: 'plan of the key "sandbox": free, pro, business, enterprise',
    see: 'spec.md#plans',
    panel: 'limits',
    label: 'Plan of sandbox',
  },
  /** Limits for the key `sandbox` (`5000/min,200000/day`); an omitted part is the plan's. Without plans: for all keys. */
  limits: {
    kind: 'limits',
    everyday: true,
    unset: "the plan's",
    example: '5000/min,200000/day',
    group: 'quotas',
    value: '<spec>',
    description: 'limits of the key "sandbox": 5000/min,200000/day',
    panel: 'limits',
    label: 'Limits of sandbox',
    hint: 'as documented',
  },
  /** If false, quotas never refuse a request, and the headers show the full limit. */
  rateLimit: {
    kind: 'switch',
    default: true,
    group: 'quotas',
    description: 'turn rate limits off',
    panel: 'limits',
    label: 'Rate limits are on',
  },
  /** Number of requests before the end of Retry-After that cause a ban. */
  banAfter: {
    kind: 'count-or-never',
    default: 10,
    group: 'refusals',
    value: '<n|never>',
    description: 'number of early requests that lead to a ban',
    see: 'behaviour.md#bans',
    panel: 'bans',
    label: 'Ban after N early retries',
    hint: 'a number, or never',
  },
  /** Duration of a ban (`5m`). */
  banDuration: {
    kind: 'wait',
    default: 5 * MINUTE_MS,
    group: 'refusals',
    value: '<duration>',
    description: 'duration of a ban',
    panel: 'bans',
    label: 'Duration of a ban',
  },
  /** Status of responses to a banned key. */
  banStatus: choice([429, 403, 401], 429, {
    group: 'refusals',
    value: '<status>',
    description: 'status for a banned key',
    panel: 'bans',
    label: 'Status of a ban',
  }),
  /** Form of Retry-After. */
  retryAfter: choice(['seconds', 'http-date', 'none'], 'seconds', {
    group: 'refusals',
    value: '<form>',
    description: 'form of Retry-After',
    panel: 'limits',
    label: 'Form of Retry-After',
  }),
  /** Body of a 429; `problem` (RFC 9457) also of a ban with 403. */
  limitBody: choice(['error', 'empty', 'text', 'html', 'problem'], 'error', {
    group: 'refusals',
    value: '<form>',
    description: 'body of a 429',
    see: 'behaviour.md#rate-limits-by-the-standards',
    panel: 'limits',
    label: 'Body of a 429',
  }),
  /** `draft` adds RateLimit and RateLimit-Policy of the IETF draft to X-RateLimit-*. */
  rateLimitHeaders: choice(['documented', 'draft'], 'documented', {
    group: 'refusals',
    value: '<form>',
    description: 'rate-limit headers',
    see: 'behaviour.md#rate-limits-by-the-standards',
    panel: 'limits',
    label: 'Rate-limit headers',
  }),
  /** Removal of deprecated operations: by the clock, or always, never or in brownouts. */
  sunset: choice(SUNSET_MODES, 'auto', {
    group: 'trouble',
    value: '<mode>',
    description: 'end of deprecated operations',
    see: '#removal-and-brownouts',
    panel: 'responses',
    label: 'Removal (sunset)',
  }),
  /** Status of a removed operation. */
  sunsetStatus: choice([404, 410], 404, {
    group: 'trouble',
    value: '<status>',
    description: 'status of a removed operation',
    panel: 'responses',
    label: 'Status when removed',
  }),
  /** Delay of every response (`100ms` or `50ms..200ms`), or by operation (`{ listPets: '3s', '*': '100ms' }`). */
  latency: {
    kind: 'latency',
    everyday: true,
    unset: 'off',
    example: '50ms..200ms',
    group: 'trouble',
    value: '<spec>',
    description: `delay responses: 100ms, 50ms..200ms or ${EXAMPLE.list}=3s`,
    panel: 'responses',
    label: 'Latency',
    hint: `off; 50ms..200ms, ${EXAMPLE.list}=3s`,
  },
  /**
   * Number of clients without a name that share a key, 1 to 100, for conduct and bans. Default: the most that had the
   * same request in flight at once.
   */
  senders: {
    kind: 'senders',
    unset: 'the most requests in flight at once',
    example: '4',
    group: 'conduct',
    value: '<n>',
    description: 'clients that share a key; conduct and bans count by it',
    see: 'conduct.md#senders',
    panel: 'bans',
    label: 'Clients that share a key',
    hint: 'as seen at once',
  },
} as const satisfies Readonly<Record<string, Choice<string | number> | OtherRow>>

type Rows = typeof SETTINGS
export type SettingName = keyof Rows
export type SettingRow = Rows[SettingName]

/** By the kind of the row. */
interface Values {
  readonly switch: boolean
  readonly 'count-or-never': number | 'never'
  readonly wait: DurationMs
  readonly plan: string
  readonly limits: Partial<Limits>
  readonly latency: Latency
  readonly senders: number
}

type ValueOf<Row> =
  Row extends Choice<infer Value>
    ? Value
    : Row extends { readonly kind: infer Kind extends keyof Values }
      ? Values[Kind]
      : never

/** Settings of a space. */
export type Settings = {
  readonly [Name in keyof Rows as Rows[Name] extends { readonly unset: string } ? never : Name]: ValueOf<Rows[Name]>
} & {
  readonly [Name in keyof Rows as Rows[Name] extends { readonly unset: string } ? Name : never]?: ValueOf<Rows[Name]>
}

export type OptionalSetting = {
  [Name in SettingName]: Rows[Name] extends { readonly unset: string } ? Name : never
}[SettingName]

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

export const OPTIONAL_SETTINGS: readonly string[] = SETTING_NAMES.filter((name) => 'unset' in SETTINGS[name])

export const DEFAULT_SETTINGS: Settings = Object.fromEntries(
  Object.entries(SETTINGS).flatMap(([name, row]) => ('default' in row ? [[name, row.default]] : [])),
) as unknown as Settings

/** @param operation undefined outside the contract */
export function findLatency({ latency }: Settings, operation: string | undefined): DelayRange | undefined {
  const operations = latency?.operations
  return operation !== undefined && operations !== undefined && Object.hasOwn(operations, operation)
    ? operations[operation]
    : latency
}

export function slowedOperations({ latency }: { readonly latency?: Latency | undefined }): readonly string[] {
  return Object.keys(latency?.operations ?? {})
}
