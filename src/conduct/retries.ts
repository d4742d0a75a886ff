import { MAX_SENDERS } from '../domain/settings.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import type { Arrival, Moment, Now } from './judged-request.js'
import { type Context, elapsed, type GivenResponse, orderOf, type Sent } from './waits.js'

/** `isShared` is false once it has been repeated. */
export interface Failure extends Sent, Context {
  readonly response: GivenResponse
  readonly slackMs: DurationMs
}

/** Retries of one request after failures without Retry-After, until it succeeds. */
export interface Retries {
  failures: Failure[]
  /** `instant[n - 1]`: number of latest tries in a row without a pause, if there are n senders. */
  instant: number[]
  /** Of these, the number that may have been sent before the failure was readable. */
  unproven: number
  /** Waits before the latest tries, as long as each was at least as long as the previous one. */
  gaps: DurationMs[]
  latest: Moment
}

export interface Try {
  readonly failure: Failure
  readonly instant: number
  readonly unproven: number
  /** These tries are allowed for at least this number of senders. */
  readonly excusedBy: number
  readonly isWeak: boolean
  /** It repeats one of several parallel requests. */
  readonly isShared: boolean
}

const INSTANT_MS: DurationMs = 100

/** Instant tries in a row that are allowed per sender. @source docs/conduct.md, "no-backoff" */
const INSTANT_TRIES_PER_SENDER = 3

const MIN_GAPS = 5
const MAX_GAPS = 20

const LONG_BACKOFF_MS: DurationMs = SECOND_MS

/** Waits within this factor count as equal, because timers are inexact. */
const TOLERANCE = 1.1

/** Later requests do not count as retries. */
const FORGOTTEN_AFTER_MS: DurationMs = MINUTE_MS

export function noRetries(): Retries {
  return { failures: [], instant: [], unproven: 0, gaps: [], latest: { at: 0, wall: 0 } }
}

export function addFailure({ failures }: Retries, failure: Failure): void {
  failures.push(failure)
  if (failures.length > MAX_SENDERS) failures.shift()
}

export function isForgotten({ failures }: Retries, arrival: Now): boolean {
  return sinceFailure(failures.at(-1), arrival) >= FORGOTTEN_AFTER_MS
}

/**
 * Counts a retry. Each of n senders fails at most once while one of them backs off. With n failures in that time, one
 * of them was this sender's, which did not wait: an instant try. Failures that were not readable yet do not count.
 * Of parallel requests, each may be repeated after its own failure, the first first.
 * @param senders 1 to MAX_SENDERS
 * @returns undefined if it is not a retry
 */
export function addTry(retries: Retries, senders: number, arrival: Arrival): Try | undefined {
  const failures = retries.failures.filter((failure) => orderOf(failure, arrival) !== 'at-once')
  if (failures.length === 0) return undefined
  const own = failures.find(({ isShared }) => isShared)
  if (own !== undefined) own.isShared = false
  const hasPaused = own !== undefined && !isInstant(own, arrival, -1)
  let recent = 0
  if (!hasPaused) while (isInstant(failures.at(-recent - 1), arrival, -1)) recent++
  retries.instant = Array.from({ length: recent }, (_, n) => (retries.instant[n] ?? 0) + 1)
  const failure = hasPaused ? own : failures.at(-senders)
  const gap = sinceFailure(failure, arrival)
  if (failure === undefined || gap === Number.POSITIVE_INFINITY) return undefined
  const instant = retries.instant[senders - 1] ?? 0
  if (instant === 0) retries.unproven = 0
  else if (orderOf(failure, arrival) === 'unknown' || !isInstant(failure, arrival, 1)) retries.unproven++
  // A burst of several senders counts as one gap.
  const isSame = (own !== undefined || senders > 1) && elapsed(retries.latest, arrival) < INSTANT_MS
  if (!isSame) addGap(retries, gap)
  retries.latest = { at: arrival.now, wall: arrival.wall }
  let excusedBy = senders
  while (lacksBackoff(retries.instant[excusedBy - 1] ?? 0, excusedBy)) excusedBy++
  const isWeak = !isSame && gap >= INSTANT_MS && isWeakBackoff(retries.gaps)
  return { failure, instant, unproven: retries.unproven, excusedBy, isWeak, isShared: own !== undefined }
}

/** A shorter wait starts a new series: a new call of the client. */
function addGap(retries: Retries, gap: DurationMs): void {
  const before = retries.gaps.at(-1)
  if (before !== undefined && gap * TOLERANCE < before) retries.gaps = []
  retries.gaps.push(gap)
  if (retries.gaps.length > MAX_GAPS) retries.gaps.shift()
}

export function lacksBackoff(instant: number, senders: number): boolean {
  return instant > INSTANT_TRIES_PER_SENDER * senders
}

function isWeakBackoff(gaps: readonly DurationMs[]): boolean {
  if (gaps.length < MIN_GAPS) return false
  const sum = (some: readonly DurationMs[]) => some.reduce((total, gap) => total + gap, 0)
  const half = Math.floor(gaps.length / 2)
  const last = gaps.slice(-half)
  return last.every((gap) => gap < LONG_BACKOFF_MS) && sum(last) <= sum(gaps.slice(0, half)) * TOLERANCE
}

/** Infinite without a failure, or after a clock was set back. */
function sinceFailure(failure: Failure | undefined, now: Now): DurationMs {
  const since = failure === undefined ? -1 : elapsed(failure, now)
  return since < 0 ? Number.POSITIVE_INFINITY : since
}

/** Whether a try was too soon after a failure: possibly (-1), or certainly (1). */
function isInstant(failure: Failure | undefined, now: Now, sign: 1 | -1): boolean {
  return sinceFailure(failure, now) + sign * (failure?.slackMs ?? 0) < INSTANT_MS
}
