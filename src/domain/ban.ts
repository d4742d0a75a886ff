import { type DurationMs, type EpochMs, MINUTE_MS } from './time.js'

/** A half-open stretch of time: `until` itself comes after it. */
export interface Interval {
  readonly from: EpochMs
  readonly until: EpochMs
}

/**
 * A wait that a refusal named. It is over when the space's clock says so or when
 * the time has really passed, whichever is first: who waits is never early,
 * even if the clock stands still.
 */
export interface NamedWait extends Interval {
  /** When it is over in real time; half-open, too. */
  readonly wallUntil: EpochMs
}

/** A key's early requests, and the ban they led to. */
export interface BanRecord<Wait extends Interval = NamedWait> {
  /** The wait that the key was last given; undefined before its first 429. */
  readonly wait?: Wait
  /** For each request that came too early and was refused again: the wait that it was given in turn. Full chunks, then a partial one. */
  readonly early: readonly (readonly Wait[])[]
  /** The interval in which all of them count, so that they need not be searched; undefined if there are none. */
  readonly allCount?: Wait
  readonly ban?: Interval
}

/** A record as snapshots hold it: by the space's clock alone, as real time goes on while they lie there. */
export type KeptBanRecord = BanRecord<Interval>

/** Early requests per chunk: adding one copies one chunk and the list of chunks, not everything that a large `--ban-after` allows. */
const CHUNK = 256

export const NO_BAN_RECORD: BanRecord = { early: [] }

/** Early requests within this time count together. @source docs/behaviour.md, "when a key is banned" */
const COUNTED_FOR_MS: DurationMs = MINUTE_MS

/** The ban in force at an instant. One that starts in the future (the clock was set back) is over. */
export function activeBan(record: Pick<BanRecord, 'ban'>, now: EpochMs): Interval | undefined {
  return record.ban !== undefined && holds(record.ban, now) ? record.ban : undefined
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
 * @param now      from the space's clock
 * @param wall     real time
 */
export function bringsBan(record: BanRecord, banAfter: number, now: EpochMs, wall: EpochMs): boolean {
  const { wait } = record
  return wait !== undefined && isRunning(wait, now, wall) && countOf(stillCounting(record, now, wall)) + 1 >= banAfter
}

/**
 * Records that a request was refused with a 429 whose Retry-After ends at `until`.
 * A refusal that names no wait is none to be recorded: nobody can come early then.
 */
export function noteRefusal(record: BanRecord, until: EpochMs, now: EpochMs, wall: EpochMs): BanRecord {
  const counting = stillCounting(record, now, wall)
  const { wait } = counting
  const given: NamedWait = { from: now, until, wallUntil: wall + until - now }
  if (wait === undefined || !isRunning(wait, now, wall)) return { ...counting, wait: given }
  const counts = countsFor(given)
  return {
    ...counting,
    wait: {
      from: wait.from,
      until: Math.max(wait.until, until),
      wallUntil: Math.max(wait.wallUntil, given.wallUntil),
    },
    early: added(counting.early, given),
    allCount: counting.allCount === undefined ? counts : overlap(counting.allCount, counts),
  }
}

/** A record with a ban that starts now. What led to it is forgotten, so the key starts afresh afterwards. */
export function banFor(duration: DurationMs, now: EpochMs): BanRecord {
  return { early: [], ban: { from: now, until: now + duration } }
}

/** A record after the clock was set back to an instant: whatever began later is over. */
export function banRecordWithoutFuture(record: BanRecord, now: EpochMs): BanRecord {
  return recordOf(record, ({ from }) => from <= now)
}

/** A record for a snapshot: waits that are over by then are left out. A ban stays, as the clock may yet come back to it. */
export function keptBanRecord(record: BanRecord, now: EpochMs, wall: EpochMs): KeptBanRecord {
  const {
    wait,
    early,
    allCount: _none,
    ...others
  } = recordOf(record, (part) => !('wallUntil' in part) || isRunning(part, now, wall))
  return {
    ...others,
    ...(wait === undefined ? {} : { wait: onTheClock(wait) }),
    early: early.map((chunk) => chunk.map(onTheClock)),
  }
}

/** The record of a snapshot, taken at `now` by its clock, in force again: each wait has as long to go as it had then. */
export function revivedBanRecord({ wait, early, ban }: KeptBanRecord, now: EpochMs, wall: EpochMs): BanRecord {
  const given = ({ from, until }: Interval): NamedWait => ({ from, until, wallUntil: wall + until - now })
  return {
    ...(wait === undefined ? {} : { wait: given(wait) }),
    ...(ban === undefined ? {} : { ban }),
    ...earlyOnes(early.flat().map(given)),
  }
}

function onTheClock({ from, until }: NamedWait): Interval {
  return { from, until }
}

/** The record reduced to the early requests that still count at an instant. */
function stillCounting(record: BanRecord, now: EpochMs, wall: EpochMs): BanRecord {
  const { early, allCount } = record
  if (early.length === 0 || (allCount !== undefined && isRunning(allCount, now, wall))) return record
  const { allCount: _before, ...others } = record
  return { ...others, ...earlyOnes(early.flat().filter((wait) => isRunning(countsFor(wait), now, wall))) }
}

/** The parts of a record that are kept. */
function recordOf({ wait, early, ban }: BanRecord, isKept: (part: NamedWait | Interval) => boolean): BanRecord {
  return {
    ...(wait !== undefined && isKept(wait) ? { wait } : {}),
    ...(ban !== undefined && isKept(ban) ? { ban } : {}),
    ...earlyOnes(early.flat().filter(isKept)),
  }
}

function earlyOnes(waits: readonly NamedWait[]): Pick<BanRecord, 'early' | 'allCount'> {
  if (waits.length === 0) return { early: [] }
  return { early: chunked(waits), allCount: waits.map(countsFor).reduce(overlap) }
}

/** The interval in which an early request counts, given the wait that it was answered with. */
function countsFor({ from, until, wallUntil }: NamedWait): NamedWait {
  const end = Math.min(until, from + COUNTED_FOR_MS)
  return { from, until: end, wallUntil: wallUntil - (until - end) }
}

function overlap(one: NamedWait, other: NamedWait): NamedWait {
  return {
    from: Math.max(one.from, other.from),
    until: Math.min(one.until, other.until),
    wallUntil: Math.min(one.wallUntil, other.wallUntil),
  }
}

function countOf({ early }: BanRecord): number {
  const last = early.at(-1)
  return last === undefined ? 0 : (early.length - 1) * CHUNK + last.length
}

function added(chunks: BanRecord['early'], wait: NamedWait): BanRecord['early'] {
  const last = chunks.at(-1)
  if (last === undefined || last.length === CHUNK) return [...chunks, [wait]]
  return [...chunks.slice(0, -1), [...last, wait]]
}

function chunked(waits: readonly NamedWait[]): BanRecord['early'] {
  return Array.from({ length: Math.ceil(waits.length / CHUNK) }, (_, i) => waits.slice(i * CHUNK, (i + 1) * CHUNK))
}

function isRunning(wait: NamedWait, now: EpochMs, wall: EpochMs): boolean {
  return holds(wait, now) && wall < wait.wallUntil
}

function holds(stretch: Interval, now: EpochMs): boolean {
  return stretch.from <= now && now < stretch.until
}
