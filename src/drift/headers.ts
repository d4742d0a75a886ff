import type { OperationData, Plans } from '../contract/contract-data.js'
import type { EngineResponse } from '../contract/engine.js'
import { quote } from '../contract/excerpt.js'
import { DAY_MS, type DurationMs, HOUR_MS, httpDate, readHttpDate, readRetryAfter, SECOND_MS } from '../domain/time.js'

type Headers = EngineResponse['headers']

type Deprecable = Pick<OperationData, 'deprecated' | 'sunsetAt' | 'successor'>

export type DeprecationReading =
  | { readonly kind: 'kept' | 'absent' }
  | { readonly kind: 'drift'; readonly violations: readonly string[] }

/**
 * The specification does not require these headers, but they must not contradict its dates and successors.
 *
 * @source RFC 9745: Deprecation; RFC 8594: Sunset; RFC 5829: successor-version
 */
export function readDeprecation(operation: Deprecable, headers: Headers, basePath: string): DeprecationReading {
  const { deprecation, sunset, link = '' } = headers
  const { deprecated, sunsetAt } = operation
  const violations: string[] = []
  const successors = successorsIn(link)
  if (!deprecated) {
    const names = [
      deprecation !== undefined && 'Deprecation',
      sunset !== undefined && 'Sunset',
      successors.length > 0 && 'a Link to a successor',
    ]
    const sent = names.filter(Boolean).join(' and ')
    if (sent !== '') violations.push(`${sent} is sent, but the contract does not deprecate the operation`)
  } else {
    if (deprecation !== undefined) violations.push(...deprecationViolations(deprecation, sunsetAt))
    if (sunset !== undefined) violations.push(...sunsetViolations(sunset, sunsetAt))
    else if (deprecation !== undefined && sunsetAt !== undefined)
      violations.push(`Sunset is missing beside Deprecation: the contract says ${httpDate(sunsetAt)}`)
    if (headers.link !== undefined && !LINKS.test(link))
      violations.push(`Link is ${quote(link)}, which names no address in <…>`)
    violations.push(...successors.flatMap((target) => successorViolations(target, operation, basePath)))
  }
  if (violations.length > 0) return { kind: 'drift', violations }
  return { kind: deprecated && deprecation === undefined && sunset === undefined ? 'absent' : 'kept' }
}

function deprecationViolations(deprecation: string, sunsetAt: number | undefined): readonly string[] {
  const seconds = /^@(-?\d{1,15})$/.exec(deprecation)?.[1]
  if (seconds === undefined) return [`Deprecation is ${quote(deprecation)}, not a date such as @1764892800`]
  if (sunsetAt === undefined || Number(seconds) * SECOND_MS <= sunsetAt) return []
  return [`Deprecation is ${deprecation}, after the removal on ${httpDate(sunsetAt)}`]
}

function sunsetViolations(sunset: string, sunsetAt: number | undefined): readonly string[] {
  const said = Date.parse(sunset)
  if (Number.isNaN(said) || httpDate(said) !== sunset) return [`Sunset is ${quote(sunset)}, not an HTTP date`]
  if (sunsetAt === undefined || sunset.slice(0, 16) === httpDate(sunsetAt).slice(0, 16)) return []
  return [`Sunset is ${sunset}, but the contract says ${httpDate(sunsetAt)}`]
}

/** @source RFC 8288, section 3 */
const LINKS = /<([^>]*)>([^<]*)/

function successorsIn(link: string): readonly string[] {
  return [...link.matchAll(new RegExp(LINKS, 'g'))].flatMap(([, target = '', parameters = '']) => {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(parameters)
    const names = (relations?.[1] ?? relations?.[2] ?? '').toLowerCase().split(/\s+/)
    return names.includes('successor-version') ? [target] : []
  })
}

function successorViolations(target: string, { successor }: Deprecable, basePath: string): readonly string[] {
  if (successor === undefined) return []
  const wanted = new URL(`${basePath}${successor}`, ANYWHERE)
  const wrong = [`Link names ${quote(target)} as its successor, but the contract says ${basePath}${successor}`]
  if (!URL.canParse(target, ANYWHERE)) return wrong
  const { pathname, searchParams } = new URL(target, ANYWHERE)
  const hasAll = [...wanted.searchParams.keys()].every((name) => searchParams.has(name))
  return pathname === wanted.pathname && hasAll ? [] : wrong
}

/** The host is not compared: the instance may be behind a proxy. */
const ANYWHERE = 'http://instance.invalid'

const WHOLE_NUMBER = /^\d{1,15}$/
/** The longest documented window is a day; clocks may differ by minutes. */
const LATEST_RESET_MS = DAY_MS + HOUR_MS
/** Date, Retry-After and X-RateLimit-Reset are rounded to the second. */
const ROUNDING_MS: DurationMs = 2 * SECOND_MS
const CLOCK_SKEW_MS: DurationMs = 5 * SECOND_MS
/** An overloaded instance names shorter waits, whatever quota is left. */
const SHORT_WAIT_MS: DurationMs = 10 * SECOND_MS
const OTHER_REASONS = ['storm', 'ban', 'fault', 'forced']
/** The `code` of a banned key, whatever quota is left. */
const BANNED = 'api_key_banned'

const LIMIT_HEADERS = [
  ['X-RateLimit-Limit', 'x-ratelimit-limit', 'limit'],
  ['X-RateLimit-Remaining', 'x-ratelimit-remaining', 'remaining'],
  ['X-RateLimit-Reset', 'x-ratelimit-reset', 'reset'],
] as const

export const LIMIT_HEADER_KEYS: ReadonlySet<string> = new Set(LIMIT_HEADERS.map(([, key]) => key))

/** The limit headers; undefined where one is missing or invalid. `reset` is in seconds since the Unix epoch. */
export function readLimits(headers: Headers) {
  return {
    limit: wholeNumber(headers['x-ratelimit-limit']),
    remaining: wholeNumber(headers['x-ratelimit-remaining']),
    reset: wholeNumber(headers['x-ratelimit-reset']),
  }
}

/** @param documented those to check, by their names in lower case */
export function rateLimitViolations(
  headers: Headers,
  documented: ReadonlyMap<string, { readonly required: boolean }>,
): readonly string[] {
  const reading = readLimits(Object.fromEntries(Object.entries(headers).filter(([key]) => documented.has(key))))
  const { limit, remaining, reset } = reading
  const violations: string[] = []
  for (const [name, key, part] of LIMIT_HEADERS) {
    const rule = documented.get(key)
    const text = headers[key]
    if (rule === undefined || reading[part] !== undefined) continue
    if (text !== undefined) violations.push(`${name} is ${quote(text)}, not a whole number`)
    else if (rule.required) violations.push(`${name} is missing`)
  }
  if (limit === 0) violations.push('X-RateLimit-Limit is 0, which no plan has')
  if (limit !== undefined && remaining !== undefined && remaining > limit) {
    violations.push(`X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}`)
  }
  if (reset !== undefined && !isPlausibleReset(reset, headers.date)) {
    violations.push(`X-RateLimit-Reset is ${reset}, not a Unix timestamp in seconds within the next day`)
  }
  return violations
}

/** Only without a valid key: the limits of a key may be agreed. @source docs/specification.md, "Rate limits" */
export function unauthenticatedLimitViolations(headers: Headers, plans: Plans): readonly string[] {
  const { limit } = readLimits(headers)
  const stated = Object.values(plans).flatMap(({ perMinute, perDay }) => [perMinute ?? [], perDay ?? []].flat())
  if (limit === undefined || limit === 0 || stated.length === 0 || stated.includes(limit)) return []
  return [
    `X-RateLimit-Limit is ${limit}, which no plan states (they state ${[...new Set(stated)].join(', ')}), and the request had no valid key`,
  ]
}

/** @param code of the body @source docs/specification.md, "Rate limits"; RFC 9110, section 10.2.3 */
export function retryAfterViolations(headers: Headers, code: unknown): readonly string[] {
  const text = headers['retry-after']
  if (text === undefined) return ['Retry-After is missing']
  const isSeconds = /^\d+$/.test(text)
  if (!isSeconds && readHttpDate(text) === undefined)
    return [`Retry-After is ${quote(text)}, neither whole seconds nor an HTTP date`]
  const wait = readRetryAfter(text, headers.date, undefined)
  if (wait === 0) {
    const what = isSeconds ? 'asks for no wait' : 'is not after the Date of the response'
    return [`Retry-After is ${quote(text)}, which ${what}`]
  }
  const { remaining } = readLimits(headers)
  if (remaining === undefined || remaining === 0 || wait === undefined || isForAnotherReason(headers, code, wait))
    return []
  return [`it is a 429, although X-RateLimit-Remaining is ${remaining}`]
}

/** Whether the quota is not the reason: a ban outlasts the window, an overload ends before it. */
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
  // From 2001 to 2286, which excludes milliseconds.
  if (now === undefined) return seconds >= 1e9 && seconds < 1e10
  const reset = seconds * SECOND_MS
  return reset >= now - CLOCK_SKEW_MS && reset <= now + LATEST_RESET_MS
}
