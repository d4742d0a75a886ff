import { MOST_SENDERS } from '../domain/settings.js'
import { type DurationMs, type EpochMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import type { Arrival } from './judged-request.js'

/**
 * The tries of one request after failures that did not say when to come back,
 * until one is served. Plain numbers, and of a bounded length.
 */
export interface Retries {
  /** The failures that were told last, oldest first: each by the space's clock, then in real time. */
  readonly told: EpochMs[]
  /**
   * How many of the last tries, in a row, were instant ones for so many senders,
   * less one: `instant[0]` for 1. It never grows from one number to the next.
   */
  readonly instant: number[]
  /** How long the last tries had waited, by the number of senders that was stated. */
  readonly gaps: DurationMs[]
}

/** What a try was. */
export interface Try {
  /** Since the failure that its sender had at the latest. */
  readonly gap: DurationMs
  /** So many instant tries in a row, this one included. */
  readonly instant: number
  /** The smallest number of senders with which they would not be too many; more than can be stated if there is none. */
  readonly excusedBy: number
  /** Its sender's waits do not grow. */
  readonly isWeak: boolean
}

/** A try that comes so soon after a failure has waited for nothing. */
const INSTANT_MS: DurationMs = 100

/** So many instant tries in a row are not held against a sender. @source docs/conduct.md, "no-backoff" */
const INSTANT_TRIES_A_SENDER = 3

/** Fewer gaps say nothing, as jitter makes one or the other shorter than the one before. */
const GAPS_TO_JUDGE = 5
const GAPS_KEPT = 20

/** Waits of this length need not grow any more. */
const LONGEST_BACKOFF_MS: DurationMs = SECOND_MS

/** Waits have grown if later ones are longer by this share: timers are not exact. */
const GROWN_BY = 1.1

/** A request that comes so long after a failure is no try of it. */
export const FORGOTTEN_AFTER_MS: DurationMs = MINUTE_MS

export function noRetries(): Retries {
  return { told: [], instant: [], gaps: [] }
}

/** Notes a failure whose answer has ended. */
export function noteFailure({ told }: Retries, at: EpochMs, wall: EpochMs): void {
  told.push(at, wall)
  if (told.length > 2 * MOST_SENDERS) told.splice(0, 2)
}

/** How long ago the last failure was, really or by the clock, whichever is longer: who moves the clock has waited, too. */
export function sinceLastFailure({ told }: Retries, arrival: Pick<Arrival, 'now' | 'wall'>): DurationMs {
  return sinceFailure(told, 1, arrival)
}

/**
 * Counts the same request again after failures.
 *
 * Of n senders, each has failed once at most in the time that one who backs off
 * waits. So n failures within it are one of each: this sender's was among them,
 * and it has not waited. That is an instant try; with one sender it is
 * simply one that comes too soon after the failure before it.
 *
 * @param senders how many there may be, 1 to MOST_SENDERS
 * @returns undefined if there were no failures that it can be a try of
 */
export function noteTry(retries: Retries, senders: number, arrival: Pick<Arrival, 'now' | 'wall'>): Try | undefined {
  const { told, instant, gaps } = retries
  if (told.length === 0) return undefined
  let recent = 0
  while (sinceFailure(told, recent + 1, arrival) < INSTANT_MS) recent++
  for (let n = 0; n < recent; n++) instant[n] = (instant[n] ?? 0) + 1
  instant.length = recent
  const gap = sinceFailure(told, senders, arrival)
  if (gap === Number.POSITIVE_INFINITY) return undefined
  gaps.push(gap)
  if (gaps.length > GAPS_KEPT) gaps.shift()
  return {
    gap,
    instant: instant[senders - 1] ?? 0,
    excusedBy: excusedBy(instant, senders),
    isWeak: gap >= INSTANT_MS && isWeak(gaps),
  }
}

/** Whether a try is one instant one too many. */
export function lacksBackoff({ instant }: Try, senders: number): boolean {
  return instant > INSTANT_TRIES_A_SENDER * senders
}

function excusedBy(instant: readonly number[], senders: number): number {
  let enough = senders
  while ((instant[enough - 1] ?? 0) > INSTANT_TRIES_A_SENDER * enough) enough++
  return enough
}

/** By the sums of the first and the last half of the gaps. */
function isWeak(gaps: readonly DurationMs[]): boolean {
  if (gaps.length < GAPS_TO_JUDGE) return false
  const half = Math.floor(gaps.length / 2)
  const last = gaps.slice(-half)
  return last.every((gap) => gap < LONGEST_BACKOFF_MS) && sumOf(last) <= sumOf(gaps.slice(0, half)) * GROWN_BY
}

function sumOf(gaps: readonly DurationMs[]): DurationMs {
  return gaps.reduce((sum, gap) => sum + gap, 0)
}

/** Since the nth last failure; infinite if there were not so many, or a clock was set back since. */
function sinceFailure(told: readonly EpochMs[], n: number, { now, wall }: Pick<Arrival, 'now' | 'wall'>): DurationMs {
  const index = told.length - 2 * n
  const [at, wallAt] = [told[index], told[index + 1]]
  if (index < 0 || at === undefined || wallAt === undefined) return Number.POSITIVE_INFINITY
  const since = Math.max(now - at, wall - wallAt)
  return since < 0 ? Number.POSITIVE_INFINITY : since
}
