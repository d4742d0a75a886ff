import { readPairs } from '../contract/query.js'
import type { RetryWindow } from '../domain/ban.js'
import type { FaultName } from '../domain/faults.js'
import type { DecodedRequest, HandlerResult, ResponseOutcome } from '../domain/messages.js'
import type { Reason } from '../domain/problems.js'
import { type DurationMs, type EpochMs, LAST_INSTANT, readRetryAfter } from '../domain/time.js'
import { digestOf, utf8Text } from '../system/runtime.js'
import type { Arrival, JudgedRequest, Moment, Now } from './judged-request.js'

export interface GivenResponse {
  readonly exchange: number
  readonly status: number
  readonly retryAfter: string | null
}

/** How a refusal affects the next request of its client. */
export interface RefusalNotice {
  readonly fingerprint: string
  readonly from: EpochMs
  readonly isBroken: boolean
  readonly response: GivenResponse
  /** What it requests; null for a 429 or 5xx without Retry-After, and for a broken response. */
  readonly wait: RequestedWait | null
}

export interface RequestedWait extends RetryWindow {
  /** The refused request: its number among the requests to the space. */
  readonly request: number
  readonly reason: Reason | null
  /** The fault rule that made the refusal. */
  readonly ruleId: string | null
  /** Scope: this request, all requests of the key (quota, storm), or a banned key. */
  readonly kind: 'request' | 'limit' | 'ban'
  readonly userAgent: string
}

export interface Sent extends Moment {
  readonly position: number
  readonly endedAt: number
  readonly connection: number
}

/** Of a request. */
export interface Context {
  /** It was in flight together with another one, or repeats such a request. */
  isShared: boolean
  /** It is the nth in a row that was sent right after the refusal of the one before. */
  readonly inLoop: number
}

/** A wait that begins when its response has been sent. */
export interface Wait extends RequestedWait, Context, Pick<RefusalNotice, 'fingerprint' | 'response'> {
  readonly sent: Sent
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

/** @returns undefined if the response does not affect the next request */
export function readNotice(
  result: HandlerResult,
  judged: JudgedRequest,
  fingerprint: string,
  exchange: number,
): RefusalNotice | undefined {
  const { now, wall, space } = judged
  if (isServed(result) || result.fault === 'hang') return undefined
  const { status, fault, reason = null, ruleId = null, headers = [], retryAt } = result
  const isBroken = BREAKING.includes(fault)
  const index = headers.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === 'retry-after')
  const retryAfter = isBroken || index === -1 ? null : String(headers[index + 1])
  const response: GivenResponse = { exchange, status: isBroken ? 0 : status, retryAfter }
  // Responses documented only by a custom contract have no `retryAt`.
  const until = retryAfter === null ? undefined : (retryAt ?? retryInstant(retryAfter, now))
  if (until === undefined && !isBroken && status !== 429 && status < 500) return undefined
  // A forced 429 only concerns its own request.
  const kind = reason === 'ban' ? 'ban' : status === 429 && reason !== 'forced' ? 'limit' : 'request'
  const wait = until === undefined ? null : { from: now, until, wallUntil: wall + until - now }
  return {
    ...{ fingerprint, from: now, isBroken, response },
    wait: wait && { ...wait, kind, reason, ruleId, request: space.requests, userAgent: userAgentOf(judged) },
  }
}

function retryInstant(retryAfter: string, now: EpochMs): EpochMs | undefined {
  const wait = readRetryAfter(retryAfter, undefined, now)
  return wait === undefined ? undefined : Math.min(now + wait, LAST_INSTANT)
}

export function isReceived(notice: RefusalNotice, how: ResponseOutcome): boolean {
  return how === 'sent' || (how === 'cut' && notice.isBroken)
}

const MAX_SHORT_LENGTH = 200

/** Without secrets: a client may write its key there. */
export function userAgentOf({ request, hide }: Arrival): string {
  const userAgent = String(request.headers['user-agent'] ?? '').slice(0, MAX_SHORT_LENGTH)
  return hide === undefined ? userAgent : hide(userAgent)
}

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

const NOTHING_READ: Pick<DecodedRequest['query'], 'unknown'> = { unknown: [] }

function knownTarget({ request: { target }, path, query, route, handler, readings }: JudgedRequest): string {
  if (query === '') return path
  // The parameters of operations that Prism mocks are not read.
  const isRead = route.kind === 'operation' && handler !== undefined
  const { unknown } = readings?.query ?? (isRead ? route.operation.readQuery(query) : NOTHING_READ)
  if (unknown.length === 0 && target.startsWith('/')) return target
  const isKnown = (part: string) => readPairs(part).some(([name]) => !unknown.includes(name))
  const known = query.split('&').filter(isKnown).join('&')
  return known === '' ? path : `${path}?${known}`
}

export const MAX_WAITS = 200

const TIMER_TOLERANCE_MS: DurationMs = 50

type Order = 'after' | 'unknown' | 'at-once'

/**
 * Whether a request was sent after a response was readable. Proven by positions (`http/delivery-order.ts`), or by a common
 * connection.
 */
export function orderOf(sent: Pick<Sent, 'endedAt' | 'connection'>, { request }: Pick<Arrival, 'request'>): Order {
  const { connection, deliveredUpTo, sentUpTo = deliveredUpTo } = request
  if (sent.endedAt <= deliveredUpTo || (connection !== 0 && sent.connection === connection)) return 'after'
  return sent.endedAt <= sentUpTo ? 'unknown' : 'at-once'
}

/** By the longer of both clocks. */
export function elapsed(since: Moment, { now, wall }: Now): DurationMs {
  return Math.max(now - since.at, wall - since.wall)
}

export function isWaitOpen({ until, wallUntil }: RetryWindow, now: EpochMs, wall: EpochMs): boolean {
  return Math.min(until - now, wallUntil - wall) > TIMER_TOLERANCE_MS
}

/** Beyond the limit for its kind, drops the first wait. */
export function addWait<Kept extends RetryWindow & { readonly kind?: Wait['kind'] }>(waits: Kept[], wait: Kept): void {
  waits.push(wait)
  if (waits.length <= MAX_WAITS) return
  const same = waits.filter(({ kind }) => kind === wait.kind)
  if (same.length <= MAX_WAITS) return
  const [dropped] = same
  if (dropped !== undefined) waits.splice(waits.indexOf(dropped), 1)
}

/**
 * Removes waits that have ended, begin in the future, or are from before the wall clock was set back. @returns the removed
 * waits
 */
export function dropEnded<Kept extends RetryWindow>(waits: Kept[], { now, wall }: Now): readonly Kept[] {
  const ended: Kept[] = []
  let kept = 0
  for (const wait of waits) {
    const { from, until, wallUntil } = wait
    if (isWaitOpen(wait, now, wall) && from <= now && wall >= wallUntil - (until - from)) waits[kept++] = wait
    else ended.push(wait)
  }
  waits.length = kept
  return ended
}

/** In the order of their responses. */
export interface RunningWaits {
  /** Certainly readable when the request was sent. */
  readonly after: Wait[]
  readonly unknown: Wait[]
  readonly 'at-once': Wait[]
}

export interface Running {
  readonly own: RunningWaits
  readonly limits: RunningWaits
  readonly bans: RunningWaits
}

/** A wait of the same request, and a ban, count as unknown if another User-Agent received them. */
export function runningWaits(waits: readonly Wait[], fingerprint: string, arrival: Arrival): Running {
  const none = (): RunningWaits => ({ after: [], unknown: [], 'at-once': [] })
  const { own, limits, bans } = { own: none(), limits: none(), bans: none() }
  const userAgent = userAgentOf(arrival)
  for (const wait of waits) {
    const order = orderOf(wait.sent, arrival)
    const toldOrder = order === 'after' && wait.userAgent !== userAgent ? 'unknown' : order
    if (wait.fingerprint === fingerprint) own[toldOrder].push(wait)
    if (wait.kind === 'ban') bans[toldOrder].push(wait)
    if (wait.kind === 'limit') limits[order].push(wait)
  }
  return { own, limits, bans }
}
