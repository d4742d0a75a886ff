import type { Ending } from '../domain/messages.js'
import { isProxied } from '../domain/request-headers.js'
import { MAX_SENDERS } from '../domain/settings.js'
import { DAY_MS, type DurationMs, type EpochMs, MINUTE_MS } from '../domain/time.js'
import type { Arrival, JudgedRequest, Moment, Now } from './judged-request.js'
import type { LostWrite } from './lost-writes.js'
import { isReasonThere } from './reasons.js'
import { addFailure, addTry, isForgotten, noRetries, type Retries, type Try } from './retries.js'
import {
  addWait,
  type Context,
  dropEnded,
  elapsed,
  isWaitOpen,
  MAX_WAITS,
  orderOf,
  type RefusalNotice,
  type Running,
  runningWaits,
  type Wait,
} from './waits.js'

const MAX_RETRIES = 100
const MAX_OVERLAPS = 100
export const MAX_LOST_WRITES = 100

/** How long parallel requests count as several senders, and how long the end of a wait allows a request. */
const REMEMBERED_MS: DurationMs = MINUTE_MS

/** The most requests in flight at once. */
interface Overlap extends Moment {
  readonly count: number
}

/** A wait that is over: its sender may come back. */
export interface Ready extends Moment {
  readonly fingerprint: string
  readonly isShared: boolean
  readonly connection: number
}

/** Waits and failures of all senders of a key with the same name (or without one). */
export interface Senders {
  waits: Wait[]
  /** The first to end first. */
  ready: Ready[]
  /** By fingerprint; the oldest failure first. */
  retries: Map<string, Retries>
  /** By fingerprint. */
  lostWrites: Map<string, LostWrite>
  inFlight: Map<string, number>
  allInFlight: number
  /** Responses that proxies may not have passed on yet. */
  delayed: readonly { readonly fingerprint: string; readonly endedAt: number }[]
  /** Position of the latest request. */
  latest: number
  /** By fingerprint, or ALL. */
  overlaps: Map<string, Overlap>
  /** The most of the same request that were in flight at once. */
  most: number
}

/** Requests of any fingerprint. */
export const ALL = ''

export function openSenders(): Senders {
  return {
    ...{ waits: [], ready: [], delayed: [], allInFlight: 0, latest: 0, most: 1 },
    ...{ retries: new Map(), lostWrites: new Map(), inFlight: new Map(), overlaps: new Map() },
  }
}

/** Prefix of overlaps that the sandbox has not seen, because a proxy passes requests and responses on later. */
const THROUGH_PROXIES = 'proxied '

/** The most requests that were seen at once. @param what a fingerprint, or ALL */
export function countAtOnce({ overlaps }: Senders, what: string, now: Now): number {
  const overlap = overlaps.get(what)
  return overlap === undefined || elapsed(overlap, now) >= REMEMBERED_MS ? 1 : overlap.count
}

/** Estimates the number of senders, those behind proxies included. @param what a fingerprint, or ALL */
export function countParallel(senders: Senders, what: string, now: Now): number {
  return Math.max(countAtOnce(senders, what, now), countAtOnce(senders, THROUGH_PROXIES + what, now))
}

/** Counts a request through a proxy as sent at the same time as those whose responses it may not have read. */
export function noteDelayed(senders: Senders, fingerprint: string, itself: 0 | 1, arrival: Arrival): void {
  if (senders.delayed.length === 0 || !isProxied(arrival.request.headers)) return
  senders.delayed = senders.delayed.filter(({ endedAt }) => endedAt > arrival.request.deliveredUpTo)
  const same = senders.delayed.filter((value) => value.fingerprint === fingerprint).length
  const inFlight = senders.inFlight.get(fingerprint) ?? 0
  keepOverlap(senders, THROUGH_PROXIES + fingerprint, inFlight + itself + same, arrival)
  keepOverlap(senders, THROUGH_PROXIES + ALL, senders.allInFlight + itself + senders.delayed.length, arrival)
}

/** The response to a request through a proxy has been sent. */
export function delayResponse(senders: Senders, fingerprint: string, endedAt: number): void {
  senders.delayed = [...senders.delayed, { fingerprint, endedAt }].slice(-MAX_SENDERS)
}

/**
 * A request is in flight from its first byte until its response is sent or the client disconnects.
 * @returns whether another one is in flight
 */
export function beginRequest(senders: Senders, fingerprint: string, position: number, now: Arrival): boolean {
  const same = (senders.inFlight.get(fingerprint) ?? 0) + 1
  senders.inFlight.set(fingerprint, same)
  senders.allInFlight++
  senders.latest = position
  noteDelayed(senders, fingerprint, 0, now)
  if (senders.allInFlight === 1) return false
  noteAtOnce(senders, fingerprint, same, senders.allInFlight, now)
  return true
}

export function endRequest(senders: Senders, fingerprint: string): void {
  const { inFlight } = senders
  const same = inFlight.get(fingerprint)
  if (same === undefined) return
  senders.allInFlight--
  if (same > 1) inFlight.set(fingerprint, same - 1)
  else inFlight.delete(fingerprint)
}

/** A request has arrived: waits may be over, and it may show how many senders work at once. @returns the waits left */
export function settleWaits(senders: Senders, fingerprint: string, arrival: Arrival): Running {
  for (const wait of dropEnded(senders.waits, arrival)) addReady(senders, wait, wait.until, wait.wallUntil)
  senders.ready = senders.ready.filter((ready) => elapsed(ready, arrival) < REMEMBERED_MS).slice(-MAX_WAITS)
  for (const wait of senders.waits) if (orderOf(wait.sent, arrival) === 'at-once') wait.isShared = true
  const running = runningWaits(senders.waits, fingerprint, arrival)
  const own = running.own['at-once'].length
  const limits = running.limits['at-once'].length
  if (limits + own > 0) {
    const same = (senders.inFlight.get(fingerprint) ?? 0) + own
    noteAtOnce(senders, fingerprint, same, senders.allInFlight + Math.max(own, limits), arrival)
  }
  return running
}

function noteAtOnce(senders: Senders, fingerprint: string, same: number, all: number, now: Now): void {
  senders.most = Math.max(senders.most, same)
  keepOverlap(senders, fingerprint, same, now)
  keepOverlap(senders, ALL, all, now)
}

function keepOverlap(senders: Senders, what: string, count: number, now: Now): void {
  if (count < 2 || count < countAtOnce(senders, what, now)) return
  // The latest last: ALL is never the oldest.
  senders.overlaps.delete(what)
  put(senders.overlaps, what, { count, at: now.now, wall: now.wall }, MAX_OVERLAPS)
}

function addReady({ ready }: Senders, { fingerprint, isShared, sent }: Wait, at: EpochMs, wall: EpochMs): void {
  ready.push({ fingerprint, isShared, connection: sent.connection, at, wall })
}

/** A sender of this request whose own wait is over; preferably one of several parallel requests. */
export function findReady({ ready }: Senders, fingerprint: string): Ready | undefined {
  const own = ready.filter((item) => item.fingerprint === fingerprint)
  return own.find(({ isShared }) => isShared) ?? own[0]
}

export function takeReady(senders: Senders, fingerprint: string): Ready | undefined {
  const found = findReady(senders, fingerprint)
  if (found !== undefined) senders.ready.splice(senders.ready.indexOf(found), 1)
  return found
}

export function noteTry({ retries }: Senders, fingerprint: string, count: number, arrival: Arrival): Try | undefined {
  for (const [other, tries] of retries) {
    if (!isForgotten(tries, arrival)) break
    retries.delete(other)
  }
  const tries = retries.get(fingerprint)
  return tries && addTry(tries, count, arrival)
}

/** Parallel requests that failed may still be repeated. */
export function endRetries({ retries }: Senders, fingerprint: string): void {
  const failures = retries.get(fingerprint)?.failures.filter(({ isShared }) => isShared) ?? []
  if (failures.length === 0) retries.delete(fingerprint)
  else retries.set(fingerprint, { ...noRetries(), failures })
}

export function receive(senders: Senders, notice: RefusalNotice, ending: Ending, context: Context): void {
  const { position, at, wall, endedAt, connection, slackMs = 0 } = ending
  const sent = { position, at, wall, endedAt, connection }
  const { fingerprint, response } = notice
  if (notice.wait === null) {
    const retries = senders.retries.get(fingerprint) ?? noRetries()
    addFailure(retries, { ...sent, ...context, response, slackMs })
    senders.retries.delete(fingerprint)
    put(senders.retries, fingerprint, retries, MAX_RETRIES)
    return
  }
  const wait: Wait = { ...notice.wait, ...context, fingerprint, response, sent }
  if (isWaitOpen(wait, at, wall)) addWait(senders.waits, wait)
  else addReady(senders, wait, at, wall)
}

export function forgetResponse(senders: Senders, position: number): void {
  senders.waits = senders.waits.filter(({ sent }) => sent.position !== position)
  for (const retries of senders.retries.values())
    retries.failures = retries.failures.filter((failure) => failure.position !== position)
}

/** Waits are over without their reason, and writes may be repeated if their record is gone, or another day. */
export function dropWithoutReason(senders: Senders, judged: JudgedRequest): void {
  if (senders.waits.length > 0) senders.waits = senders.waits.filter((wait) => isReasonThere(wait, judged))
  for (const [fingerprint, write] of senders.lostWrites) {
    const isGone = write.record !== null && !judged.space.hasRecord(write.record)
    if (isGone || elapsed(write, judged) >= DAY_MS) senders.lostWrites.delete(fingerprint)
  }
}

/** Waits that have ended, or begin in the future, do not come back. */
export function moveClock(senders: Senders, before: EpochMs, now: EpochMs, wall: EpochMs): void {
  for (const instant of [before, now])
    for (const wait of dropEnded(senders.waits, { now: instant, wall })) addReady(senders, wait, now, wall)
  for (const [fingerprint, { failures }] of senders.retries)
    if (failures.some(({ at }) => at > now)) senders.retries.delete(fingerprint)
}

export function put<Value>(map: Map<string, Value>, name: string, value: Value, max: number): void {
  map.set(name, value)
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
