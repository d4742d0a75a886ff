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

/** A request before the end of a wait. It counts towards a ban for a minute. */
export interface EarlyRequest extends RetryWindow {
  readonly sender: string
}

interface Ban extends Interval {
  /** Requests to the space before it started. */
  readonly afterRequests: number
  /** A client has caused it by early requests. */
  readonly byClient?: true
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

export function banFor(duration: DurationMs, now: EpochMs, afterRequests: number, byClient?: true): BanRecord {
  return { ban: { from: now, until: now + duration, afterRequests, ...(byClient && { byClient }) } }
}

export function banRecordWithoutFuture(record: BanRecord, now: EpochMs): BanRecord {
  return record.ban === undefined || record.ban.from <= now ? record : NO_BAN_RECORD
}

/** For a very large `--ban-after`. */
const MAX_EARLY = 100_000

/** The early requests of the last minute, with one more. */
export function withEarly(
  early: readonly EarlyRequest[],
  sender: string,
  now: EpochMs,
  wall: EpochMs,
): readonly EarlyRequest[] {
  const open = early.filter((earlyRequest) => isRetryWindowOpen(earlyRequest, now, wall)).slice(-MAX_EARLY + 1)
  return [...open, { sender, from: now, until: now + COUNTED_FOR_MS, wallUntil: wall + COUNTED_FOR_MS }]
}

export function isRetryWindowOpen(wait: RetryWindow, now: EpochMs, wall: EpochMs): boolean {
  return holds(wait, now) && wall < wait.wallUntil
}

function holds(stretch: Interval, now: EpochMs): boolean {
  return stretch.from <= now && now < stretch.until
}
