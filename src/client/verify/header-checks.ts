import type { OperationData } from '../../contract/contract-data.js'
import { DAY_MS, HOUR_MS, httpDate, MINUTE_MS, SECOND_MS } from '../../domain/time.js'

type Headers = Readonly<Record<string, string>>

const WHOLE_NUMBER = /^\d{1,15}$/
/** Without a Date to compare with: seconds from 2001 to 2286, a range that milliseconds are not in. */
const SECONDS_SINCE_1970 = { from: 1e9, to: 1e10 }
/** The longest documented window is a day; clocks need not agree to the minute. */
const LATEST_RESET_MS = DAY_MS + HOUR_MS

/**
 * Finds what is wrong with the rate-limit headers of a response.
 *
 * @source docs/specification.md, "Rate limit headers": every response carries them
 */
export function rateLimitBreaches(headers: Headers): readonly string[] {
  const breaches: string[] = []
  const read = (name: string) => {
    const text = headers[name.toLowerCase()]
    if (text === undefined) breaches.push(`${name} is missing`)
    else if (!WHOLE_NUMBER.test(text.trim())) breaches.push(`${name} is ${JSON.stringify(text)}, not a whole number`)
    else return Number(text)
    return undefined
  }
  const limit = read('X-RateLimit-Limit')
  const remaining = read('X-RateLimit-Remaining')
  const reset = read('X-RateLimit-Reset')
  if (limit !== undefined && remaining !== undefined && remaining > limit) {
    breaches.push(`X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}`)
  }
  if (reset !== undefined && !isPlausibleReset(reset, headers.date)) {
    breaches.push(`X-RateLimit-Reset is ${reset}, not a Unix timestamp in seconds within the next day`)
  }
  return breaches
}

function isPlausibleReset(seconds: number, date: string | undefined): boolean {
  const now = Date.parse(date ?? '')
  if (Number.isNaN(now)) return seconds >= SECONDS_SINCE_1970.from && seconds < SECONDS_SINCE_1970.to
  const reset = seconds * SECOND_MS
  return reset >= now - MINUTE_MS && reset <= now + LATEST_RESET_MS
}

/** What a response says about its operation's deprecation; `unsaid` if it has neither header. */
export type DeprecationReading =
  | { readonly kind: 'kept' | 'unsaid' }
  | { readonly kind: 'drift'; readonly breaches: readonly string[] }

/**
 * Checks Deprecation and Sunset against the contract. The specification documents
 * which operation is deprecated and when it goes away, but not the headers:
 * they may be missing, but must not contradict it.
 *
 * @source RFC 9745: Deprecation; RFC 8594: Sunset
 */
export function readDeprecation(
  { deprecated, sunsetAt }: Pick<OperationData, 'deprecated' | 'sunsetAt'>,
  { deprecation, sunset }: Headers,
): DeprecationReading {
  if (deprecation === undefined && sunset === undefined) return { kind: deprecated ? 'unsaid' : 'kept' }
  const breaches: string[] = []
  if (!deprecated) {
    const names = [deprecation === undefined ? [] : ['Deprecation'], sunset === undefined ? [] : ['Sunset']].flat()
    breaches.push(`${names.join(' and ')} is sent, but the contract does not deprecate the operation`)
  } else {
    if (deprecation !== undefined && !/^@-?\d+$/.test(deprecation)) {
      breaches.push(`Deprecation is ${JSON.stringify(deprecation)}, not a date such as @1764892800`)
    }
    if (sunset !== undefined) breaches.push(...sunsetBreaches(sunset, sunsetAt))
  }
  return breaches.length === 0 ? { kind: 'kept' } : { kind: 'drift', breaches }
}

function sunsetBreaches(sunset: string, sunsetAt: number | undefined): readonly string[] {
  const said = Date.parse(sunset)
  if (Number.isNaN(said) || httpDate(said) !== sunset) return [`Sunset is ${JSON.stringify(sunset)}, not an HTTP date`]
  if (sunsetAt === undefined || httpDate(said).slice(0, 16) === httpDate(sunsetAt).slice(0, 16)) return []
  return [`Sunset is ${sunset}, but the contract says ${httpDate(sunsetAt)}`]
}
