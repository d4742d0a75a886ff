import type { Reason } from './problems.js'
import { type DurationMs, type EpochMs, MINUTE_MS } from './time.js'

export interface Interval {
  readonly from: EpochMs
  readonly until: EpochMs
}

/**
 * A wait requested by a refusal. It ends when the space's clock reaches `until`, or when as much real time has passed:
 * a client that waits is never early, even if the clock is frozen.
 */
export interface RetryWindow extends Interval {
  /** Real time; half-open. */
  readonly wallUntil: EpochMs
}

/** A request before the end of a wait. It counts towards a ban, for the time of the wait in its own response. */
export interface EarlyRequest extends RetryWindow {
  readonly sender: string
  /** Its number among the requests to the space. */
  readonly request: number
  readonly reason: Reason | null
  /** The fault rule that refused it. */
  readonly rule: string | null
}

interface Ban extends Interval {
  /** Requests to the space before it started. */
  readonly afterRequests: number
}

export interface BanRecord {
  readonly ban?: Ban
}

export const NO_BAN_RECORD: BanRecord = {}

/** @source docs/behaviour.md, "when a key is banned" */
const COUNTED_FOR_MS: DurationMs = MINUTE_MS

/** A ban that starts in the future (after the clock was set back) is over. */
export function activeBan({ ban }: BanRecord, now: EpochMs): Ban | undefined {
  return ban !== undefined && holds(ban, now) ? ban : undefined
}

export function banFor(duration: DurationMs, now: EpochMs, afterRequests: number): BanRecord {
  return { ban: { from: now, until: now + duration, afterRequests } }
}

export function banRecordWithoutFuture(record: BanRecord, now: EpochMs): BanRecord {
  return record.ban === undefined || record.ban.from <= now ? record : NO_BAN_RECORD
}

/**
 * Whether another early request causes a ban. Each counts for a minute at most, while the wait in its response lasts. The
 * first refused request was not early, but counts as well while its wait lasts. When one of n clients that all wait
 * sends, at most n - 1 waits are running, so they stay below `threshold`.
 * @param early requests that no longer count are removed from it @param hasFirst the wait of the first request lasts
 */
export function causesBan(
  early: RetryWindow[],
  hasFirst: boolean,
  threshold: number,
  now: EpochMs,
  wall: EpochMs,
): boolean {
  const others = hasFirst ? 1 : 0
  if (early.length + others < threshold) return false
  let kept = 0
  for (const wait of early) if (isRetryWindowOpen(wait, now, wall)) early[kept++] = wait
  early.length = kept
  return kept + others >= threshold
}

export function isRetryWindowOpen(wait: RetryWindow, now: EpochMs, wall: EpochMs): boolean {
  return holds(wait, now) && wall < wait.wallUntil
}

/** The time for which an early request counts, by the wait in its response. */
export function countedTime({ from, until, wallUntil }: RetryWindow): RetryWindow {
  const end = Math.min(until, from + COUNTED_FOR_MS)
  return { from, until: end, wallUntil: wallUntil - (until - end) }
}

function holds(stretch: Interval, now: EpochMs): boolean {
  return stretch.from <= now && now < stretch.until
}
