import { type DurationMs, SECOND_MS } from '../domain/time.js'
import type { Connection } from './connection.js'
import type { WriteBatch } from './write-batch.js'

/**
 * Who sends on a connection that is in use is taken to have heard of what had left so long ago on others: a pool takes
 * turns between its connections. Requests that are sent together come closer together than that.
 */
const HEARD_AFTER_MS: DurationMs = 1

/** A connection on which nothing has come for so long is not thought of as still being in turn. */
const IN_TURN_MS: DurationMs = SECOND_MS

/** Of the usual time between an answer and the next request: whatever comes sooner was sent together with the one before. */
const TOO_SOON = 1 / 3

/**
 * Tells what the sender of a request can have heard of answers to others.
 *
 * A client that sends one request after the other mostly does so on two
 * connections of its pool, in turn, and may well be faster than HEARD_AFTER_MS.
 * So while no more than two are in turn, that time is measured by the client.
 */
export class Hearing {
  readonly #batch: WriteBatch
  readonly #monotonic: () => number
  /** The two connections on which requests came last. */
  #last: Connection | undefined
  #other: Connection | undefined
  /** When a request came that was on neither. */
  #thirdAt = Number.NEGATIVE_INFINITY
  /** Between an answer and the next request, the last three times. */
  #gaps: readonly DurationMs[] = []

  constructor(batch: WriteBatch, monotonic: () => number) {
    this.#batch = batch
    this.#monotonic = monotonic
  }

  /** Takes note of a request that has just come. @returns the latest `dueAt` of what its sender can have heard */
  heardOn(connection: Connection): number {
    const now = this.#monotonic()
    this.#takeTurn(connection, now)
    const areTwo = now - this.#thirdAt >= IN_TURN_MS
    const heardAfter = areTwo ? Math.min(HEARD_AFTER_MS, middleOf(this.#gaps) * TOO_SOON) : HEARD_AFTER_MS
    if (areTwo) this.#measureGap(now)
    if (!connection.isSettled) return connection.heardUntil
    return Math.max(connection.heardUntil, this.#batch.leftUntil(now - heardAfter))
  }

  #takeTurn(connection: Connection, now: number): void {
    if (connection === this.#last) return
    if (connection !== this.#other && this.#other !== undefined) this.#thirdAt = now
    this.#other = this.#last
    this.#last = connection
  }

  #measureGap(now: number): void {
    const gap = this.#batch.quietFor(now)
    if (gap !== undefined) this.#gaps = [...this.#gaps.slice(-2), gap]
  }
}

/** The middle one, so that a hiccup does not count; nor, where requests are sent in pairs, how soon the second follows the first. */
function middleOf(gaps: readonly DurationMs[]): DurationMs {
  const sorted = [...gaps].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.POSITIVE_INFINITY
}
