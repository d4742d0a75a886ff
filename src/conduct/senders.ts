import type { Wait as Stretch } from '../domain/ban.js'
import type { Ending } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'
import type { Arrival } from './judged-request.js'
import type { LostWrite } from './lost-writes.js'
import type { Plain } from './plain.js'
import { addFailure, addTry, isForgotten, noRetries, type Retries, type Try } from './retries.js'
import {
  addWait,
  countRunning,
  isRunning,
  type RefusalNotice,
  type Running,
  type Wait,
  waitsAfterMove,
} from './waits.js'

const MAX_RETRIES = 100
const MAX_PEAKS = 100
export const MAX_LOST_WRITES = 100

/** Waits and failures of all senders of a key with the same name (or without one). */
export interface Senders {
  waits: Wait[]
  /** By fingerprint; the oldest failure first. */
  retries: Map<string, Retries>
  /** By operation: the largest number of senders, but not all, that had a running wait when a request arrived. */
  mostWaits: Map<string, number>
  /** Waits in responses to early requests: enough of them cause a ban. */
  early: Stretch[]
  /** By fingerprint. */
  lostWrites: Map<string, LostWrite>
  inFlight: Map<string, number>
  allInFlight: number
  /** The most of the same request in flight at once, by fingerprint, if more than one. */
  peaks: Map<string, number>
  peak: number
}

export type SavedSenders = Plain<Senders>

export type WaitFilter = (wait: Pick<Wait, 'kind' | 'reason'>) => boolean

export function openSenders(saved?: SavedSenders): Senders {
  const { waits, retries, mostWaits, early, lostWrites, inFlight, peaks, peak = 1 } = structuredClone(saved) ?? {}
  const allInFlight = (inFlight ?? []).reduce((sum, [, count]) => sum + count, 0)
  return {
    waits: waits ?? [],
    retries: new Map(retries),
    mostWaits: new Map(mostWaits),
    early: early ?? [],
    lostWrites: new Map(lostWrites),
    inFlight: new Map(inFlight),
    allInFlight,
    peaks: new Map(peaks),
    peak,
  }
}

export function mostAtOnce({ peaks }: Senders): number {
  return Math.max(1, ...peaks.values())
}

/** A request is in flight from its first byte until its response is sent or the client disconnects. */
export function beginRequest(senders: Senders, fingerprint: string): void {
  const same = (senders.inFlight.get(fingerprint) ?? 0) + 1
  senders.inFlight.set(fingerprint, same)
  senders.allInFlight++
  raisePeaks(senders, fingerprint, same)
}

export function endRequest(senders: Senders, fingerprint: string): void {
  const { inFlight } = senders
  const same = inFlight.get(fingerprint)
  if (same === undefined) return
  senders.allInFlight--
  if (same > 1) inFlight.set(fingerprint, same - 1)
  else inFlight.delete(fingerprint)
}

/** Counts a request as in flight at the same time if its response was not readable when this one was sent. */
export function runningWaits(senders: Senders, fingerprint: string, arrival: Arrival): Running {
  const running = countRunning(senders.waits, fingerprint, arrival)
  const { own, limits } = running
  if (limits.atOnce + own.atOnce > 0) {
    const same = (senders.inFlight.get(fingerprint) ?? 0) + own.atOnce
    raisePeaks(senders, fingerprint, same, Math.max(own.atOnce, limits.atOnce))
  }
  return running
}

function raisePeaks(senders: Senders, fingerprint: string, same: number, others = 0): void {
  const { peaks, allInFlight } = senders
  senders.peak = Math.max(senders.peak, allInFlight + others)
  if (same > 1 && same > (peaks.get(fingerprint) ?? 1)) put(peaks, fingerprint, same, MAX_PEAKS)
}

export function noteTry({ retries }: Senders, fingerprint: string, count: number, arrival: Arrival): Try | undefined {
  for (const [other, tries] of retries) {
    if (!isForgotten(tries, arrival)) break
    retries.delete(other)
  }
  const tries = retries.get(fingerprint)
  return tries && addTry(tries, count, arrival)
}

export function receive(senders: Senders, notice: RefusalNotice, ending: Ending): void {
  const { position, at, wall, endedAt, connection, slackMs = 0 } = ending
  const sent = { position, at, wall, endedAt, connection }
  if (notice.kind === 'failure') {
    const { fingerprint, response } = notice
    const retries = senders.retries.get(fingerprint) ?? noRetries()
    addFailure(retries, { ...sent, response, slackMs })
    senders.retries.delete(fingerprint)
    put(senders.retries, fingerprint, retries, MAX_RETRIES)
    return
  }
  const { wait } = notice
  if (!isRunning(wait, at, wall)) return
  addWait(senders.waits, { ...wait, sent })
  const { from, until, wallUntil, isEarly, kind, reason } = wait
  // Only the sandbox's own refusals cause a ban.
  if (isEarly && kind === 'limit' && reason !== 'upstream') senders.early.push({ from, until, wallUntil })
}

export function forgetResponse(senders: Senders, position: number): void {
  senders.waits = senders.waits.filter(({ sent }) => sent.position !== position)
  for (const retries of senders.retries.values())
    retries.failures = retries.failures.filter((failure) => failure.position !== position)
}

export function endWaits(senders: Senders, which: WaitFilter): void {
  senders.waits = senders.waits.filter((wait) => !which(wait))
  senders.early = []
}

/** Waits that have ended, or begin in the future, do not come back. */
export function moveClock(senders: Senders, before: EpochMs, now: EpochMs, wall: EpochMs): void {
  senders.waits = waitsAfterMove(senders.waits, before, now, wall)
  senders.early = senders.early.filter(({ from }) => from <= now)
  for (const [fingerprint, { failures }] of senders.retries)
    if (failures.some(({ at }) => at > now)) senders.retries.delete(fingerprint)
}

export function put<Value>(map: Map<string, Value>, name: string, value: Value, max: number): void {
  map.set(name, value)
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
