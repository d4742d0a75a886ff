import type { Interval } from '../domain/ban.js'
import { type DurationMs, type EpochMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { type Failure, findTry, gapSince, TRIES_WITHOUT_BACKOFF, type Try } from './backoff.js'
import { type FreeSenders, noSenders, setFree, takeUp } from './free-senders.js'
import { type Arrival, isKnown, type Moment } from './knowledge.js'

/** A refusal that said when to come back. */
export interface Wait extends Moment {
  readonly fingerprint: string
  /** The wait begins with the request, `at` is when its answer went out. */
  readonly from: EpochMs
  readonly until: EpochMs
  /** It was for the number of requests (quota, storm), so it is meant for others of the key, too. */
  readonly isLimit: boolean
}

/** What the senders of one key were last answered, as far as it obliges them or sets them free. */
export interface Senders {
  readonly free: FreeSenders
  /** Still to be waited through; or waited through, and not yet followed by a request. Oldest first. */
  waits: Wait[]
  failures: Failure[]
  /** The ban that the key was told of last. */
  ban: (Moment & { readonly ban: Interval | undefined }) | undefined
}

/** Kept of each kind; the oldest is forgotten. */
const MOST_KEPT = 200

/** Who was told to wait, and has waited so much longer, is not thought of as still being there. */
const GONE_AFTER_MS: DurationMs = MINUTE_MS
const FAILURE_GONE_AFTER_MS: DurationMs = 10 * MINUTE_MS

export function newSenders(): Senders {
  return { free: noSenders(), waits: [], failures: [], ban: undefined }
}

/** Whether nobody owes anything: then a request can break no rule on coming back. */
export function oweNothing({ waits, failures }: Senders): boolean {
  return waits.length === 0 && failures.length === 0
}

/** What a request meant, coming after all that its key was answered before. */
export type Coming =
  /** Of somebody who was free to send it, or who could not know better. */
  | { readonly kind: 'free' }
  | { readonly kind: 'fresh' }
  /** The same request again, before its wait had passed. */
  | { readonly kind: 'early'; readonly wait: Wait }
  /** Another request, while the key was told to wait. */
  | { readonly kind: 'while-limited'; readonly wait: Wait }
  /** The same request again after a failure that said nothing of when. */
  | { readonly kind: 'try'; readonly try: Try }

const FREE: Coming = { kind: 'free' }
const FRESH: Coming = { kind: 'fresh' }

/**
 * Says what a request of a key meant, and takes up whoever sent it.
 *
 * The benefit of the doubt is the sender's: before a request is held against
 * anybody, it counts as somebody's who was free to send it, if there is any.
 */
export function receive(senders: Senders, fingerprint: string, arrival: Arrival): Coming {
  forget(senders, arrival)
  const { free, waits, failures } = senders
  const waited = waits.filter(({ until }) => until <= arrival.at)
  // Who was told to wait, or has failed, mostly comes back with the same request.
  const ownWaited = waited.find((wait) => wait.fingerprint === fingerprint)
  if (ownWaited !== undefined) return takeOut(waits, ownWaited, FREE)
  const another = findTry(failures, fingerprint, arrival)
  if (another !== undefined && another.tries < TRIES_WITHOUT_BACKOFF) {
    return takeOut(failures, another.after, { kind: 'try', try: another })
  }
  if (takeUp(free, arrival.monotonic, arrival.heardUntil)) return FREE
  const [otherWaited] = waited
  if (otherWaited !== undefined) return takeOut(waits, otherWaited, FREE)
  const known = waits.filter((wait) => isKnown(wait, arrival))
  const own = shortest(known.filter((wait) => wait.fingerprint === fingerprint))
  const limit = known.findLast(({ isLimit }) => isLimit)
  if (another === undefined && own === undefined && limit === undefined) return FRESH
  // Its connection may have been another sender's before, so what was heard on it does not tell.
  if (takeUp(free, arrival.monotonic, Number.POSITIVE_INFINITY)) return FREE
  if (another !== undefined) return takeOut(failures, another.after, { kind: 'try', try: another })
  if (own !== undefined) return takeOut(waits, own, { kind: 'early', wait: own })
  return limit === undefined ? FRESH : { kind: 'while-limited', wait: limit }
}

function takeOut<T>(items: T[], item: T, coming: Coming): Coming {
  items.splice(items.indexOf(item), 1)
  return coming
}

/** The same, and its answer that asks for no wait, where nobody owes anything: most of all requests. Monotonic instants. */
export function passCalmly({ free }: Senders, arrivedAt: number, heardUntil: number, answeredAt: number): void {
  takeUp(free, arrivedAt, heardUntil)
  setFree(free, answeredAt)
}

/** Whether a key had been told of a ban before, and its sender could know. */
export function knewOfBan({ ban: told }: Senders, ban: Interval | undefined, arrival: Arrival): boolean {
  return told !== undefined && told.ban === ban && isKnown(told, arrival)
}

export function tellOfBan(senders: Senders, ban: Interval | undefined, moment: Moment): void {
  if (senders.ban === undefined || senders.ban.ban !== ban) senders.ban = { ...moment, ban }
}

/** Forgets what began after an instant to which the clock has gone back: nobody need wait for the end of what is over. */
export function forgetFuture(senders: Senders, now: EpochMs): void {
  senders.waits = senders.waits.filter(({ from }) => from <= now)
  senders.failures = senders.failures.filter(({ at }) => at <= now)
}

/** Notes an answer that said when to come back. */
export function noteWait(senders: Senders, wait: Wait): void {
  senders.waits.push(wait)
  if (senders.waits.length > MOST_KEPT) senders.waits.shift()
}

/** Notes a 429 or 5xx that did not. @param coming what the request was */
export function noteFailure(senders: Senders, fingerprint: string, coming: Coming, moment: Moment): void {
  const { gap, tries } = coming.kind === 'try' ? coming.try : { gap: undefined, tries: 0 }
  senders.failures.push({ ...moment, fingerprint, gap, tries })
  if (senders.failures.length > MOST_KEPT) senders.failures.shift()
}

/** Notes any other answer. Who sent while told to wait is still told so. */
export function noteAnswer(senders: Senders, coming: Coming, monotonic: number): void {
  if (coming.kind !== 'while-limited') setFree(senders.free, monotonic)
}

/** Whether a try is one too many that waited no longer than the one before. */
export function lacksBackoff(coming: Coming): coming is Coming & { kind: 'try' } {
  return coming.kind === 'try' && coming.try.tries >= TRIES_WITHOUT_BACKOFF
}

function shortest(waits: readonly Wait[]): Wait | undefined {
  let found: Wait | undefined
  for (const wait of waits) if (found === undefined || wait.until < found.until) found = wait
  return found
}

/**
 * Lets go what is long over; a wait from the future (the clock went back) is
 * over, too. Requests that are answered late come here late, so not to the second.
 */
function forget(senders: Senders, arrival: Moment): void {
  const isOver = ({ from, until }: Wait) => from - arrival.at > SECOND_MS || arrival.at - until > GONE_AFTER_MS
  if (senders.waits.some(isOver)) senders.waits = senders.waits.filter((wait) => !isOver(wait))
  const isLongAgo = (failure: Failure) => gapSince(failure, arrival) > FAILURE_GONE_AFTER_MS
  if (senders.failures.some(isLongAgo)) senders.failures = senders.failures.filter((failure) => !isLongAgo(failure))
}
