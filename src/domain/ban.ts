import { type DurationMs, type EpochMs, MINUTE_MS } from './time.js'

/** A half-open stretch of time: `until` itself comes after it. */
export interface Interval {
  readonly from: EpochMs
  readonly until: EpochMs
}

/** A key's early requests, and the ban they led to. */
export interface BanRecord {
  /** The wait that the key was last given; undefined before its first 429. */
  readonly wait?: Interval
  /** For each request that came too early and was refused again: the wait that it was given in turn. Full chunks, then a partial one. */
  readonly early: readonly (readonly Interval[])[]
  /** The interval in which all of them count, so that they need not be searched; undefined if there are none. */
  readonly allCount?: Interval
  readonly ban?: Interval
}

/** Early requests per chunk: adding one copies one chunk and the list of chunks, not everything that a large `--ban-after` allows. */
const CHUNK = 256

export const NO_BAN_RECORD: BanRecord = { early: [] }

/** Early requests within this time count together. @source docs/behaviour.md, "when a key is banned" */
const COUNTED_FOR_MS: DurationMs = MINUTE_MS

/** The ban in force at an instant. One that starts in the future (the clock was set back) is over. */
export function activeBan(record: BanRecord, now: EpochMs): Interval | undefined {
  return record.ban !== undefined && holds(record.ban, now) ? record.ban : undefined
}

/** Whether the key is still supposed to wait. */
function isWaiting(record: BanRecord, now: EpochMs): boolean {
  return record.wait !== undefined && holds(record.wait, now)
}

/**
 * Whether this request brings the ban: the nth within a minute that came
 * after a 429 and before its Retry-After had passed.
 *
 * Only early requests whose own wait is still running count. A client that
 * waits, request by request, and has fewer than n under way never has n such
 * waits at once, so it is never banned, however short the waits are.
 *
 * @param banAfter how many early requests make a ban, >= 1
 */
export function bringsBan(record: BanRecord, banAfter: number, now: EpochMs): boolean {
  return isWaiting(record, now) && countOf(stillCounting(record, now)) + 1 >= banAfter
}

/** Records that a request was refused with a 429 whose wait ends at `until`. */
export function noteRefusal(record: BanRecord, until: EpochMs, now: EpochMs): BanRecord {
  const counting = stillCounting(record, now)
  const { wait } = counting
  if (wait === undefined || !holds(wait, now)) return { ...counting, wait: { from: now, until } }
  const early = { from: now, until }
  const allCount = counting.allCount === undefined ? countsFor(early) : overlap(counting.allCount, countsFor(early))
  return {
    ...counting,
    wait: { from: wait.from, until: Math.max(wait.until, until) },
    early: added(counting.early, early),
    allCount,
  }
}

/** A record with a ban that starts now. What led to it is forgotten, so the key starts afresh afterwards. */
export function banFor(duration: DurationMs, now: EpochMs): BanRecord {
  return { early: [], ban: { from: now, until: now + duration } }
}

/** A record after the clock was set back to an instant: whatever began later is over. */
export function banRecordWithoutFuture(record: BanRecord, now: EpochMs): BanRecord {
  const { wait, ban } = record
  return banRecordOf(
    {
      ...(wait !== undefined && wait.from <= now ? { wait } : {}),
      ...(ban !== undefined && ban.from <= now ? { ban } : {}),
    },
    record.early.flat().filter(({ from }) => from <= now),
  )
}

/** The record reduced to the early requests that still count at an instant. */
function stillCounting(record: BanRecord, now: EpochMs): BanRecord {
  if (record.early.length === 0 || (record.allCount !== undefined && holds(record.allCount, now))) return record
  const { allCount: _before, ...others } = record
  return { ...others, ...earlyOnes(record.early.flat().filter((wait) => holds(countsFor(wait), now))) }
}

/** A record of its parts: the early requests as the rules keep them. */
export function banRecordOf({ wait, ban }: Omit<BanRecord, 'early'>, early: readonly Interval[]): BanRecord {
  return { ...(wait === undefined ? {} : { wait }), ...(ban === undefined ? {} : { ban }), ...earlyOnes(early) }
}

function earlyOnes(waits: readonly Interval[]): Pick<BanRecord, 'early' | 'allCount'> {
  if (waits.length === 0) return { early: [] }
  return { early: chunked(waits), allCount: waits.map(countsFor).reduce(overlap) }
}

/** The interval in which an early request counts, given the wait that it was answered with. */
function countsFor({ from, until }: Interval): Interval {
  return { from, until: Math.min(until, from + COUNTED_FOR_MS) }
}

function overlap(one: Interval, other: Interval): Interval {
  return { from: Math.max(one.from, other.from), until: Math.min(one.until, other.until) }
}

function countOf({ early }: BanRecord): number {
  const last = early.at(-1)
  return last === undefined ? 0 : (early.length - 1) * CHUNK + last.length
}

function added(chunks: BanRecord['early'], wait: Interval): BanRecord['early'] {
  const last = chunks.at(-1)
  if (last === undefined || last.length === CHUNK) return [...chunks, [wait]]
  return [...chunks.slice(0, -1), [...last, wait]]
}

function chunked(waits: readonly Interval[]): BanRecord['early'] {
  return Array.from({ length: Math.ceil(waits.length / CHUNK) }, (_, i) => waits.slice(i * CHUNK, (i + 1) * CHUNK))
}

function holds(stretch: Interval, now: EpochMs): boolean {
  return stretch.from <= now && now < stretch.until
}
