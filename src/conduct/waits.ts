import type { Wait as Stretch } from '../domain/ban.js'
import type { WireFault } from '../domain/faults.js'
import type { HandlerResult, ResponseEnd, ServiceRequest } from '../domain/messages.js'
import type { Reason } from '../domain/problems.js'
import { type DurationMs, type EpochMs, LAST_INSTANT, readRetryAfter } from '../domain/time.js'
import { digestOf } from '../system/digest.js'
import type { Arrival } from './judged-request.js'

export interface GivenResponse {
  readonly exchange: number
  readonly status: number
  readonly retryAfter: string | null
}

/** A wait that a response names. It begins when that response has been sent. */
export interface NamedWait extends Stretch {
  readonly fingerprint: string
  /** What has to wait: this request alone, all requests of the key (quota, storm), or a banned key. */
  readonly kind: 'request' | 'limit' | 'ban'
  readonly reason: Reason | null
  readonly response: GivenResponse
  /** All senders of the key had a wait running when the request came: it counts towards a ban. */
  readonly isEarly: boolean
}

export interface Sent {
  /** The ordinal of the request that it answers. */
  readonly position: number
  readonly endedAt: number
  /** The ordinal of its connection; 0 in process. */
  readonly connection: number
  readonly at: EpochMs
  readonly wall: EpochMs
}

export type Wait = NamedWait & { readonly sent: Sent }

/** What a response tells its client about coming back. */
export type RefusalNotice =
  | { readonly kind: 'wait'; readonly wait: NamedWait }
  /** A 429 or 5xx without Retry-After, or a response broken on the way. */
  | {
      readonly kind: 'failure'
      readonly fingerprint: string
      readonly from: EpochMs
      readonly isBroken: boolean
      readonly response: GivenResponse
    }

/** Faults that a client sees as a failure of the connection. One that hangs shows nothing. */
const BREAKING: readonly (WireFault | undefined)[] = ['connection-reset', 'empty-response', 'malformed-chunk']

/** Whether a request succeeded, or failed in a way that retrying does not change. */
export function isServed({ status, reason, retryAt, fault }: HandlerResult): boolean {
  if (fault !== undefined && (fault === 'hang' || BREAKING.includes(fault))) return false
  return status !== 429 && status < 500 && reason !== 'ban' && retryAt === undefined
}

/**
 * @param exchange id of the exchange
 * @param isEarly  see NamedWait
 * @returns undefined for a response that says nothing about coming back
 */
export function readNotice(
  answer: HandlerResult,
  { now, wall }: Arrival,
  fingerprint: string,
  exchange: number,
  isEarly: boolean,
): RefusalNotice | undefined {
  if (isServed(answer) || answer.fault === 'hang') return undefined
  const { status, fault, reason = null, headers = [], retryAt } = answer
  const isBroken = BREAKING.includes(fault)
  const index = headers.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === 'retry-after')
  const retryAfter = isBroken || index === -1 ? null : String(headers[index + 1])
  const response: GivenResponse = { exchange, status: isBroken ? 0 : status, retryAfter }
  // Responses that only a custom contract documents have no `retryAt`.
  const until = retryAfter === null ? undefined : (retryAt ?? retryInstant(retryAfter, now))
  if (until !== undefined) {
    // A forced 429 is only a rehearsal: it concerns its own request.
    const kind = reason === 'ban' ? 'ban' : status === 429 && reason !== 'forced' ? 'limit' : 'request'
    const wait = { fingerprint, kind, reason, from: now, until, wallUntil: wall + until - now } as const
    return { kind: 'wait', wait: { ...wait, response, isEarly } }
  }
  if (!isBroken && status !== 429 && status < 500) return undefined
  return { kind: 'failure', fingerprint, from: now, isBroken, response }
}

function retryInstant(retryAfter: string, now: EpochMs): EpochMs | undefined {
  const wait = readRetryAfter(retryAfter, undefined, now)
  return wait === undefined ? undefined : Math.min(now + wait, LAST_INSTANT)
}

export function isReceived(notice: RefusalNotice, how: ResponseEnd): boolean {
  return how === 'sent' || (how === 'cut' && notice.kind === 'failure' && notice.isBroken)
}

const MAX_TARGET_LENGTH = 200

/** Identifies repeats of a request by method, path, query and body. */
export function fingerprintOf({ method, target, body }: ServiceRequest): string {
  const isShort = body === undefined && target.length <= MAX_TARGET_LENGTH
  // This runs for every request; the target of a GET is an existing string.
  if (isShort) return method === 'GET' ? target : `${method} ${target}`
  return digestOf(`${method} ${target}\n`, body ?? '')
}

const MAX_WAITS = 200

/** Error of clients' timers, and of their clocks between two readings. */
const TIMER_TOLERANCE_MS: DurationMs = 50

type Order = 'after' | 'unknown' | 'at-once'

/**
 * Whether a request was sent after a response was readable. The edge proves it by positions (`http/write-batch.ts`);
 * a connection proves it for its own responses.
 */
export function orderOf(sent: Sent, { connection, deliveredUpTo, sentUpTo }: Arrival): Order {
  if (sent.endedAt <= deliveredUpTo || (connection !== 0 && sent.connection === connection)) return 'after'
  return sent.endedAt <= sentUpTo ? 'unknown' : 'at-once'
}

export function isRunning({ until, wallUntil }: Stretch, now: EpochMs, wall: EpochMs): boolean {
  return Math.min(until - now, wallUntil - wall) > TIMER_TOLERANCE_MS
}

/** Adds a wait. If there are too many of its kind, one is forgotten: the first whose request counts towards no ban. */
export function addWait<Kept extends Stretch & { readonly isEarly: boolean; readonly kind?: Wait['kind'] }>(
  waits: Kept[],
  wait: Kept,
): void {
  waits.push(wait)
  if (waits.length <= MAX_WAITS) return
  const same = waits.filter(({ kind }) => kind === wait.kind)
  if (same.length <= MAX_WAITS) return
  const dropped = same.find(({ isEarly }) => isEarly) ?? same[0]
  if (dropped !== undefined) waits.splice(waits.indexOf(dropped), 1)
}

/** Removes waits that have ended, and those from before the machine's own clock was set back: their end means nothing. */
export function dropEnded(waits: Stretch[], { now, wall }: Pick<Arrival, 'now' | 'wall'>): void {
  let kept = 0
  for (const wait of waits) {
    const { from, until, wallUntil } = wait
    if (isRunning(wait, now, wall) && from <= now && wall >= wallUntil - (until - from)) waits[kept++] = wait
  }
  waits.length = kept
}

/** The waits that remain after the clock was moved. Those that have ended, or began later than it shows, do not come back. */
export function waitsAfterMove<Kept extends Stretch>(
  waits: readonly Kept[],
  before: EpochMs,
  now: EpochMs,
  wall: EpochMs,
): Kept[] {
  return waits.filter((wait) => wait.from <= now && isRunning(wait, before, wall) && isRunning(wait, now, wall))
}

export interface RunningWaits {
  /** That the request was certainly sent after. */
  known: number
  /** That it was perhaps sent after. */
  unknown: number
  /** Whose responses were not readable when it was sent. */
  atOnce: number
  /** The one whose response was sent last, of those known; if there are none, of those unknown. */
  latest: Wait | undefined
}

export interface Running {
  readonly own: RunningWaits
  readonly limits: RunningWaits
  readonly bans: RunningWaits
  /** A limit that is known, whose request was not early. */
  hasFirst: boolean
}

export function countRunning(waits: Wait[], fingerprint: string, arrival: Arrival): Running {
  dropEnded(waits, arrival)
  const none = () => ({ known: 0, unknown: 0, atOnce: 0, latest: undefined })
  const running: Running = { own: none(), limits: none(), bans: none(), hasFirst: false }
  for (const wait of waits) {
    const order = orderOf(wait.sent, arrival)
    if (wait.fingerprint === fingerprint) count(running.own, wait, order)
    if (wait.kind === 'ban') count(running.bans, wait, order)
    if (wait.kind === 'limit') {
      count(running.limits, wait, order)
      if (order === 'after' && !wait.isEarly) running.hasFirst = true
    }
  }
  return running
}

function count(waits: RunningWaits, wait: Wait, order: Order): void {
  if (order === 'at-once') waits.atOnce++
  else {
    if (order === 'after' || waits.known === 0) waits.latest = wait
    waits[order === 'after' ? 'known' : 'unknown']++
  }
}
