import type { Plans } from '../contract/contract-data.js'
import { quote } from '../contract/excerpt.js'
import { readHttpDate, readRetryAfter } from '../domain/retry-after.js'
import { DAY_MS, type DurationMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { type Headers, statedLimits } from './exchange.js'

const WHOLE_NUMBER = /^\d{1,15}$/
/** Without a Date to compare with: seconds from 2001 to 2286, a range that milliseconds are not in. */
const SECONDS_SINCE_1970 = { from: 1e9, to: 1e10 }
/** The longest documented window is a day; clocks need not agree to the minute. */
const LATEST_RESET_MS = DAY_MS + HOUR_MS
/** Date, Retry-After and X-RateLimit-Reset are each rounded to the second, up or down. */
const ROUNDING_MS: DurationMs = 2 * SECOND_MS
/** An overloaded instance asks for less, whatever quota is left. */
const SHORT_WAIT_MS: DurationMs = 10 * SECOND_MS
/** What a sandbox refuses for with quota left, as it says itself. */
const OTHER_REASONS = ['storm', 'ban', 'fault', 'forced']
/** The `code` with which a sandbox refuses a banned key, whatever quota it has left. */
const BANNED = 'api_key_banned'

const LIMIT_HEADERS = [
  ['X-RateLimit-Limit', 'x-ratelimit-limit', 'limit'],
  ['X-RateLimit-Remaining', 'x-ratelimit-remaining', 'remaining'],
  ['X-RateLimit-Reset', 'x-ratelimit-reset', 'reset'],
] as const

/** Their names in lower case. */
export const LIMIT_HEADER_KEYS: ReadonlySet<string> = new Set(LIMIT_HEADERS.map(([, key]) => key))

/** The three headers as numbers; undefined where one is missing or none. */
export interface LimitReading {
  readonly limit: number | undefined
  readonly remaining: number | undefined
  /** Seconds since the Unix epoch. */
  readonly reset: number | undefined
}

export function readLimits(headers: Headers): LimitReading {
  return {
    limit: wholeNumber(headers['x-ratelimit-limit']),
    remaining: wholeNumber(headers['x-ratelimit-remaining']),
    reset: wholeNumber(headers['x-ratelimit-reset']),
  }
}

/**
 * Finds what is wrong with the rate-limit headers of an answer.
 *
 * @source docs/specification.md, "Rate limit headers": every response carries them
 */
export function rateLimitBreaches(headers: Headers): readonly string[] {
  const reading = readLimits(headers)
  const { limit, remaining, reset } = reading
  const breaches: string[] = []
  for (const [name, key, part] of LIMIT_HEADERS) {
    if (reading[part] !== undefined) continue
    const text = headers[key]
    breaches.push(text === undefined ? `${name} is missing` : `${name} is ${quote(text)}, not a whole number`)
  }
  if (limit === 0) breaches.push('X-RateLimit-Limit is 0, which no plan has')
  if (limit !== undefined && remaining !== undefined && remaining > limit) {
    breaches.push(`X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}`)
  }
  if (reset !== undefined && !isPlausibleReset(reset, headers.date)) {
    breaches.push(`X-RateLimit-Reset is ${reset}, not a Unix timestamp in seconds within the next day`)
  }
  return breaches
}

/**
 * Finds a limit that no plan states. Only of who has no valid key is that certain: limits may be agreed with a customer.
 *
 * @source docs/specification.md, "Rate limits by plan"
 */
export function strangersLimitBreaches(headers: Headers, plans: Plans): readonly string[] {
  const { limit } = readLimits(headers)
  const stated = statedLimits(plans)
  if (limit === undefined || limit === 0 || stated.length === 0 || stated.includes(limit)) return []
  return [
    `X-RateLimit-Limit is ${limit}, which no plan states (they state ${[...new Set(stated)].join(', ')}), and without a valid key nothing else was agreed`,
  ]
}

/**
 * Finds what is wrong with how a 429 asks its client to wait.
 *
 * @param code of its body, if it has one
 * @source docs/specification.md, "When the limit is exceeded"; RFC 9110, section 10.2.3
 */
export function refusalBreaches(headers: Headers, code: unknown): readonly string[] {
  const text = headers['retry-after']
  if (text === undefined) return ['Retry-After is missing']
  const isSeconds = /^\d+$/.test(text)
  if (!isSeconds && readHttpDate(text) === undefined)
    return [`Retry-After is ${quote(text)}, neither whole seconds nor an HTTP date`]
  const wait = readRetryAfter(text, headers.date, undefined)
  if (wait === 0) {
    const what = isSeconds ? 'asks for no wait' : 'is over by the Date of the same answer'
    return [`Retry-After is ${quote(text)}, which ${what}`]
  }
  const { remaining } = readLimits(headers)
  if (remaining === undefined || remaining === 0 || wait === undefined || isForAnotherReason(headers, code, wait))
    return []
  return [`it is a 429, although X-RateLimit-Remaining is ${remaining}`]
}

/** Whether a refusal is none of a used-up quota: a ban outlasts the window, an overload is over before. */
function isForAnotherReason(headers: Headers, code: unknown, wait: DurationMs): boolean {
  if (OTHER_REASONS.includes(headers['x-sandbox-reason'] ?? '') || code === BANNED) return true
  const { reset } = readLimits(headers)
  const date = readHttpDate(headers.date)
  if (reset === undefined || date === undefined) return wait < SHORT_WAIT_MS
  const untilReset = reset * SECOND_MS - date
  return wait > untilReset + ROUNDING_MS || wait < Math.min(SHORT_WAIT_MS, untilReset - ROUNDING_MS)
}

function wholeNumber(given: string | undefined): number | undefined {
  const text = given?.trim()
  return text !== undefined && WHOLE_NUMBER.test(text) ? Number(text) : undefined
}

function isPlausibleReset(seconds: number, date: string | undefined): boolean {
  const now = readHttpDate(date)
  if (now === undefined) return seconds >= SECONDS_SINCE_1970.from && seconds < SECONDS_SINCE_1970.to
  const reset = seconds * SECOND_MS
  return reset >= now - MINUTE_MS && reset <= now + LATEST_RESET_MS
}
