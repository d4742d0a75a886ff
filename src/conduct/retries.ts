import { MAX_SENDERS } from '../domain/settings.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import type { Arrival } from './judged-request.js'
import { type GivenResponse, orderOf, type Sent } from './waits.js'

export interface Failure extends Sent {
  readonly response: GivenResponse
  readonly slackMs: DurationMs
}

/** The tries of one request after failures without Retry-After, until it is served. */
export interface Retries {
  failures: Failure[]
  /** `instant[n - 1]`: the latest tries in a row that were instant ones if there are n senders. */
  instant: number[]
  /** Those of these tries that may have been sent before the failure was readable. */
  unproven: number
  /** How long the latest tries have waited, while each wait was at least as long as the one before. */
  gaps: DurationMs[]
  /** Position of the failure after which the last gap began: a burst of several senders waits once. */
  since: number
}

export interface Try {
  /** The latest failure that its sender received. */
  readonly failure: Failure
  readonly instant: number
  readonly unproven: number
  /** The smallest number of senders with which there would not be too many instant tries. */
  readonly excusedBy: number
  readonly isWeak: boolean
}

/** A try this soon after a failure has not waited. */
const INSTANT_MS: DurationMs = 100

/** Instant tries in a row that are allowed per sender. @source docs/conduct.md, "no-backoff" */
const INSTANT_TRIES_PER_SENDER = 3

const MIN_GAPS = 5
const MAX_GAPS = 20

const LONG_BACKOFF_MS: DurationMs = SECOND_MS

/** Timers are not exact: waits that differ by less than this factor are equal. */
const TOLERANCE = 1.1

/** A request this long after a failure is not a retry of it. */
const FORGOTTEN_AFTER_MS: DurationMs = MINUTE_MS

export function noRetries(): Retries {
  return { failures: [], instant: [], unproven: 0, gaps: [], since: 0 }
}

export function addFailure({ failures }: Retries, failure: Failure): void {
  failures.push(failure)
  if (failures.length > MAX_SENDERS) failures.shift()
}

type Now = Pick<Arrival, 'now' | 'wall'>

export function isForgotten({ failures }: Retries, arrival: Now): boolean {
  return sinceFailure(failures, 1, arrival) >= FORGOTTEN_AFTER_MS
}

/**
 * Counts the same request again after failures.
 *
 * Of n senders, each fails at most once in the time for which one of them backs off. So if there were n failures
 * within that time, one of them was this sender's, and it has not waited: an instant try. Failures that were not
 * readable when the request was sent do not count.
 *
 * @param senders 1 to MAX_SENDERS
 * @returns undefined if it is not a retry of any failure
 */
export function addTry(retries: Retries, senders: number, arrival: Arrival): Try | undefined {
  const failures = retries.failures.filter((failure) => orderOf(failure, arrival) !== 'at-once')
  if (failures.length === 0) return undefined
  let recent = 0
  while (isInstant(failures, recent + 1, arrival, -1)) recent++
  retries.instant = Array.from({ length: recent }, (_, n) => (retries.instant[n] ?? 0) + 1)
  const failure = failures.at(-senders)
  const gap = sinceFailure(failures, senders, arrival)
  if (failure === undefined || gap === Number.POSITIVE_INFINITY) return undefined
  const instant = retries.instant[senders - 1] ?? 0
  if (instant === 0) retries.unproven = 0
  else if (orderOf(failure, arrival) === 'unknown' || !isInstant(failures, senders, arrival, 1)) retries.unproven++
  const isSame = retries.since === failure.position
  if (!isSame) addGap(retries, gap)
  retries.since = failure.position
  let excusedBy = senders
  while (lacksBackoff(retries.instant[excusedBy - 1] ?? 0, excusedBy)) excusedBy++
  const isWeak = !isSame && gap >= INSTANT_MS && isWeakBackoff(retries.gaps)
  return { failure, instant, unproven: retries.unproven, excusedBy, isWeak }
}

/** A shorter wait starts a new series: the next call of a client that backs off. */
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

/** Since the nth last failure, by the clock or in real time, whichever is longer; infinite if there were fewer, or a clock was set back. */
function sinceFailure(failures: readonly Failure[], n: number, { now, wall }: Now): DurationMs {
  const failure = failures.at(-n)
  if (failure === undefined) return Number.POSITIVE_INFINITY
  const since = Math.max(now - failure.at, wall - failure.wall)
  return since < 0 ? Number.POSITIVE_INFINITY : since
}

/** Whether a try came too soon after the nth last failure: perhaps (-1), or certainly (1). */
function isInstant(failures: readonly Failure[], n: number, now: Now, sign: 1 | -1): boolean {
  return sinceFailure(failures, n, now) + sign * (failures.at(-n)?.slackMs ?? 0) < INSTANT_MS
}
