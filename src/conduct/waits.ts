import { readPairs } from '../contract/query.js'
import type { Wait as Stretch } from '../domain/ban.js'
import type { FaultName } from '../domain/faults.js'
import type { HandlerResult, ResponseEnd } from '../domain/messages.js'
import type { Reason } from '../domain/problems.js'
import { type DurationMs, type EpochMs, LAST_INSTANT, readRetryAfter } from '../domain/time.js'
import { digestOf, utf8Text } from '../system/runtime.js'
import type { Arrival, JudgedRequest } from './judged-request.js'

export interface GivenResponse {
  readonly exchange: number
  readonly status: number
  readonly retryAfter: string | null
}

/** A wait that a response requests. It begins when the response has been sent. */
export interface NamedWait extends Stretch {
  readonly fingerprint: string
  /** Scope: this request, all requests of the key (quota, storm), or a banned key. */
  readonly kind: 'request' | 'limit' | 'ban'
  readonly reason: Reason | null
  readonly response: GivenResponse
  readonly isEarly: boolean
}

export interface Sent {
  readonly position: number
  readonly endedAt: number
  readonly connection: number
  readonly at: EpochMs
  readonly wall: EpochMs
}

export type Wait = NamedWait & { readonly sent: Sent }

/** How a refusal affects the next request of its client. */
export type RefusalNotice =
  | { readonly kind: 'wait'; readonly wait: NamedWait }
  /** A 429 or 5xx without Retry-After, or a broken response. */
  | {
      readonly kind: 'failure'
      readonly fingerprint: string
      readonly from: EpochMs
      readonly isBroken: boolean
      readonly response: GivenResponse
    }

/** Faults that a client sees as a failed connection. A hang is not one, because the client sees nothing. */
const BREAKING: readonly (FaultName | undefined)[] = [
  'connection-reset',
  'empty-response',
  'truncated-body',
  'malformed-chunk',
]

export function isServed({ status, reason, retryAt, fault }: HandlerResult): boolean {
  if (fault !== undefined && (fault === 'hang' || BREAKING.includes(fault))) return false
  return status !== 429 && status < 500 && reason !== 'ban' && retryAt === undefined
}

/** @param isEarly see NamedWait @returns undefined if the response does not affect the next request */
export function readNotice(
  result: HandlerResult,
  { now, wall }: Arrival,
  fingerprint: string,
  exchange: number,
  isEarly: boolean,
): RefusalNotice | undefined {
  if (isServed(result) || result.fault === 'hang') return undefined
  const { status, fault, reason = null, headers = [], retryAt } = result
  const isBroken = BREAKING.includes(fault)
  const index = headers.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === 'retry-after')
  const retryAfter = isBroken || index === -1 ? null : String(headers[index + 1])
  const response: GivenResponse = { exchange, status: isBroken ? 0 : status, retryAfter }
  // Responses documented only by a custom contract have no `retryAt`.
  const until = retryAfter === null ? undefined : (retryAt ?? retryInstant(retryAfter, now))
  if (until !== undefined) {
    // A forced 429 only concerns its own request.
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

const MAX_SHORT_LENGTH = 200

/** Equal for repeats of a request: method, path, query parameters that the contract has, and body. */
export function fingerprintOf(judged: JudgedRequest): string {
  const { method, body } = judged.request
  const target = knownTarget(judged)
  const length = target.length + (body?.length ?? 0)
  if (length > MAX_SHORT_LENGTH) return digestOf(`${method} ${target}\n`, body ?? '')
  // Runs for every request: avoid digests of short bodies, and new strings for GET.
  if (body === undefined) return method === 'GET' ? target : `${method} ${target}`
  return `${method} ${target}\n${typeof body === 'string' ? body : utf8Text(body)}`
}

function knownTarget({ path, query, route, handler }: JudgedRequest): string {
  // The parameters of operations that Prism mocks are not read.
  const isRead = query !== '' && route.kind === 'operation' && handler !== undefined
  const unknown = isRead ? route.operation.readQuery(query).unknown : []
  const isKnown = (part: string) => readPairs(part).some(([name]) => !unknown.includes(name))
  const known = unknown.length === 0 ? query : query.split('&').filter(isKnown).join('&')
  return known === '' ? path : `${path}?${known}`
}

const MAX_WAITS = 200

const TIMER_TOLERANCE_MS: DurationMs = 50

type Order = 'after' | 'unknown' | 'at-once'

/**
 * Whether a request was sent after a response was readable. Proven by positions (`http/write-batch.ts`), or by a common
 * connection.
 */
export function orderOf(sent: Sent, { request }: Pick<Arrival, 'request'>): Order {
  const { connection, deliveredUpTo, sentUpTo = deliveredUpTo } = request
  if (sent.endedAt <= deliveredUpTo || (connection !== 0 && sent.connection === connection)) return 'after'
  return sent.endedAt <= sentUpTo ? 'unknown' : 'at-once'
}

export function isRunning({ until, wallUntil }: Stretch, now: EpochMs, wall: EpochMs): boolean {
  return Math.min(until - now, wallUntil - wall) > TIMER_TOLERANCE_MS
}

/** Beyond the limit for its kind, drops the first wait that does not count towards a ban. */
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

/** Removes waits that have ended, and waits from before the wall clock was set back. */
export function dropEnded(waits: Stretch[], { now, wall }: Pick<Arrival, 'now' | 'wall'>): void {
  let kept = 0
  for (const wait of waits) {
    const { from, until, wallUntil } = wait
    if (isRunning(wait, now, wall) && from <= now && wall >= wallUntil - (until - from)) waits[kept++] = wait
  }
  waits.length = kept
}

/** Waits that have ended, or begin in the future, do not come back. */
export function waitsAfterMove<Kept extends Stretch>(
  waits: readonly Kept[],
  before: EpochMs,
  now: EpochMs,
  wall: EpochMs,
): Kept[] {
  return waits.filter((wait) => wait.from <= now && isRunning(wait, before, wall) && isRunning(wait, now, wall))
}

export interface RunningWaits {
  /** Certainly readable when the request was sent. */
  known: number
  unknown: number
  atOnce: number
  /** The latest known one, or else the latest unknown one. */
  latest: Wait | undefined
}

export interface Running {
  readonly own: RunningWaits
  readonly limits: RunningWaits
  readonly bans: RunningWaits
  /** There is a known limit whose request was not early. */
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
