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
  /** The ordinal of that end. */
  readonly endedAt: number
  /** The ordinal of the connection that carried it; 0 in process. */
  readonly connection: number
}

/** Clients' timers are off by so much, and so are their clocks between two readings. */
const TIMERS_ARE_OFF_BY_MS: DurationMs = 50

/** How much of a wait is left: not more than 0 when it is over. */
function timeLeft({ until, wallUntil }: NamedWait, { now, wall }: Pick<Arrival, 'now' | 'wall'>): DurationMs {
  return Math.min(until - now, wallUntil - wall)
}

export function isRunning(wait: NamedWait, arrival: Pick<Arrival, 'now' | 'wall'>): boolean {
  return timeLeft(wait, arrival) > TIMERS_ARE_OFF_BY_MS
}

/**
 * Whether whoever sent a request had heard of a wait, for certain: its own
 * connection carried the answer, or it was opened after everybody had it.
 */
function isHeard({ connection, endedAt }: Wait, arrival: Arrival): boolean {
  return (connection !== 0 && connection === arrival.connection) || endedAt <= arrival.heardUpTo
}

/** How many waits are running that whoever sent a request had heard of. */
export interface Running {
  /** For the same request, and what is left of the one that ends first. */
  own: number
  ownLeft: DurationMs
  /** For the number of requests, of this one or any other. */
  limits: number
  limitLeft: DurationMs
  /** For a ban. */
  bans: number
}

/**
 * Counts. Who keeps the rules has no wait running when it sends, so of n senders
 * at most n - 1 can have one then: n of them are proof, whoever they are.
 */
export function countRunning(waits: readonly Wait[], fingerprint: string, arrival: Arrival): Running {
  const running = {
    own: 0,
    ownLeft: Number.POSITIVE_INFINITY,
    limits: 0,
    limitLeft: Number.POSITIVE_INFINITY,
    bans: 0,
  }
  for (const wait of waits) {
    if (!isRunning(wait, arrival) || !isHeard(wait, arrival)) continue
    const left = timeLeft(wait, arrival)
    if (wait.fingerprint === fingerprint) {
      running.own++
      running.ownLeft = Math.min(running.ownLeft, left)
    }
    if (wait.kind === 'limit') {
      running.limits++
      running.limitLeft = Math.min(running.limitLeft, left)
    } else if (wait.kind === 'ban') running.bans++
  }
  return running
}
