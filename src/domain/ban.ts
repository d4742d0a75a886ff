import { type DurationMs, type EpochMs, MINUTE_MS } from './time.js'

/** A half-open stretch of time: `until` itself comes after it. */
export interface Stretch {
  readonly from: EpochMs
  readonly until: EpochMs
}

/** A key's refusals that were not waited for, and the ban that came of them. */
export interface BanRecord {
  /** The stretch that the key was last told to wait through, undefined before its first 429. */
  readonly wait?: Stretch
  /** Of each request that came too early and was refused again: the wait that it was itself answered with. */
  readonly early: readonly Stretch[]
  readonly ban?: Stretch
}

export const NO_BAN_RECORD: BanRecord = { early: [] }

/** Early requests within this stretch count together. @source interface, "when a ban falls" */
const COUNTED_FOR_MS: DurationMs = MINUTE_MS

/** The ban in force at an instant. One from the future (the clock went back to real time) is over. */
export function activeBan(record: BanRecord, now: EpochMs): Stretch | undefined {
  return record.ban !== undefined && holds(record.ban, now) ? record.ban : undefined
}

/** Whether the key has been told to wait for an instant that has not come yet. */
export function isWaiting(record: BanRecord, now: EpochMs): boolean {
  return record.wait !== undefined && holds(record.wait, now)
}

/**
 * Whether this request is the one too many: the nth within a minute that came
 * after a 429 and before its Retry-After had passed.
 *
 * Only early requests whose own wait is still running count. A client that
 * waits, request by request, and has fewer than n under way never has n such
 * waits at once, so it is never banned, however short the waits are.
 *
 * @param banAfter how many early requests make a ban, >= 1
 */
export function bringsBan(record: BanRecord, banAfter: number, now: EpochMs): boolean {
  return isWaiting(record, now) && stillCounting(record, now).length + 1 >= banAfter
}

/** Notes that a request was refused with a 429 whose wait ends at `until`. */
export function noteRefusal(record: BanRecord, until: EpochMs, now: EpochMs): BanRecord {
  const early = stillCounting(record, now)
  if (record.wait === undefined || !holds(record.wait, now)) return { ...record, wait: { from: now, until }, early }
  return {
    ...record,
    wait: { from: record.wait.from, until: Math.max(record.wait.until, until) },
    early: [...early, { from: now, until }],
  }
}

/** A record with a ban that starts now; what led to it is forgotten, so that the key starts afresh after it. */
export function banFor(duration: DurationMs, now: EpochMs): BanRecord {
  return { early: [], ban: { from: now, until: now + duration } }
}

function stillCounting(record: BanRecord, now: EpochMs): readonly Stretch[] {
  return record.early.filter((wait) => holds(wait, now) && now - wait.from < COUNTED_FOR_MS)
}

function holds(stretch: Stretch, now: EpochMs): boolean {
  return stretch.from <= now && now < stretch.until
}
