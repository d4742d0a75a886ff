import type { PlanName } from './keys.js'
import type { Limits } from './quota.js'
import type { SunsetMode } from './sunset.js'
import type { DurationMs } from './time.js'

export const RETRY_AFTER_FORMS = ['seconds', 'http-date', 'none'] as const
export type RetryAfterForm = (typeof RETRY_AFTER_FORMS)[number]

export const LIMIT_BODIES = ['error', 'empty', 'text', 'html'] as const
export type LimitBody = (typeof LIMIT_BODIES)[number]

export const BAN_STATUSES = [429, 403, 401] as const
export type BanStatus = (typeof BAN_STATUSES)[number]

/** Orders of the list, by creation. @source interface, "order of the list" */
export const LIST_ORDERS = ['newest', 'oldest'] as const
export type ListOrder = (typeof LIST_ORDERS)[number]

export const SUNSET_STATUSES = [404, 410] as const
export type SunsetStatus = (typeof SUNSET_STATUSES)[number]

/** A delay of every answer: from least to most, the same for a fixed one. */
export interface Latency {
  readonly min: DurationMs
  readonly max: DurationMs
}

/** The switches of a space that can be turned while it runs. */
export interface Settings {
  /** Plan of the key `sandbox`. */
  readonly plan: PlanName
  /** Other limits for the key `sandbox`; a part that is not given is the plan's. */
  readonly limits?: Partial<Limits>
  /** Off: nothing is refused for its number, and the headers show the full limit. */
  readonly rateLimit: boolean
  readonly banAfter: number | 'never'
  readonly banDuration: DurationMs
  readonly banStatus: BanStatus
  readonly retryAfter: RetryAfterForm
  readonly limitBody: LimitBody
  readonly sunset: SunsetMode
  readonly sunsetStatus: SunsetStatus
  readonly latency?: Latency
}

/** @source interface, the defaults of `serve` */
export const DEFAULT_SETTINGS: Settings = {
  plan: 'free',
  rateLimit: true,
  banAfter: 10,
  banDuration: 5 * 60_000,
  banStatus: 429,
  retryAfter: 'seconds',
  limitBody: 'error',
  sunset: 'auto',
  sunsetStatus: 404,
}
