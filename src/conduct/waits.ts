import type { DurationMs, EpochMs } from '../domain/time.js'
import type { Arrival } from './judged-request.js'

/** A wait that an answer named. It begins when that answer has been sent. */
export interface NamedWait {
  readonly fingerprint: string
  /** What it was for: this request alone, the number of the key's requests (quota, storm), or a ban. */
  readonly kind: 'request' | 'limit' | 'ban'
  /** When its request came, by the space's clock. */
  readonly from: EpochMs
  /** It is over when the clock is there, or real time is, whichever is first. */
  readonly until: EpochMs
  readonly wallUntil: EpochMs
}

/** A wait that was told: its answer was sent whole. */
export interface Wait extends NamedWait {
  /** The ordinal of the request whose answer named it. */
  readonly position: number
  /** The ordinal of that end. */
  readonly endedAt: number
  /** The ordinal of the connection that carried it; 0 in process. */
  readonly connection: number
}

/** Clients' timers are off by so much, and so are their clocks between two readings. */
const TIMERS_ARE_OFF_BY_MS: DurationMs = 50

/** Whether a wait that was just told is not over yet. */
export function isRunning({ until, wallUntil }: NamedWait, now: EpochMs, wall: EpochMs): boolean {
  return until - now > TIMERS_ARE_OFF_BY_MS && wallUntil - wall > TIMERS_ARE_OFF_BY_MS
}

/** How many waits are running that whoever sent a request had heard of. */
export interface Running {
  /** For the same request, and what is left, by the space's clock, of the one that ends first. */
  readonly own: number
  readonly ownLeft: DurationMs
  /** For the number of requests, of this one or any other. */
  readonly limits: number
  readonly limitLeft: DurationMs
  /** For a ban. */
  readonly bans: number
}

/**
 * Counts the waits that are running, and lets go of those that are over.
 *
 * Who keeps the rules has no wait running when it sends, so of n senders at most
 * n - 1 can have one then: n of them are proof, whoever they are. A wait is
 * heard of for certain if the request's own connection carried the answer, or if
 * that was opened after everybody had it.
 */
export function countRunning(waits: Wait[], fingerprint: string, arrival: Arrival): Running {
  const { now, wall, connection, heardUpTo } = arrival
  let own = 0
  let ownLeft = Number.POSITIVE_INFINITY
  let limits = 0
  let limitLeft = Number.POSITIVE_INFINITY
  let bans = 0
  let kept = 0
  for (const wait of waits) {
    const left = Math.min(wait.until - now, wait.wallUntil - wall)
    if (left <= TIMERS_ARE_OFF_BY_MS || isFromTheFuture(wait, arrival)) continue
    waits[kept++] = wait
    const isOwnConnection = connection !== 0 && wait.connection === connection
    if (!isOwnConnection && wait.endedAt > heardUpTo) continue
    if (wait.fingerprint === fingerprint) {
      own++
      ownLeft = Math.min(ownLeft, wait.until - now)
    }
    if (wait.kind === 'limit') {
      limits++
      limitLeft = Math.min(limitLeft, wait.until - now)
    } else if (wait.kind === 'ban') bans++
  }
  waits.length = kept
  return { own, ownLeft, limits, limitLeft, bans }
}

/** Whether one of the clocks was set back before it began, as the machine's own may be: then its end says nothing. */
function isFromTheFuture({ from, until, wallUntil }: NamedWait, { now, wall }: Arrival): boolean {
  return now < from || wall < wallUntil - (until - from)
}
