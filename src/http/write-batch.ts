import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from '../domain/messages.js'
import type { DurationMs } from '../domain/time.js'
import type { Connection } from './connection.js'

/** A reply, and where it goes. */
export interface Outgoing {
  readonly connection: Connection
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly reply: Reply
}

/** So many leave before the turn is over, lest the first wait for hundreds of others to be made. */
const LEAVE_TOGETHER = 64

/** Less than any two readings of the clock lie apart, in milliseconds. */
const GRAIN_MS = 0.0001

/**
 * Replies wait here for the end of the turn of the event loop in which they were
 * made, and leave together. To wake a client that waits costs the sender as much
 * as to make the answer; who is sent several at once is woken once.
 */
export class Outbox {
  readonly #send: (outgoing: Outgoing) => void
  readonly #monotonic: () => number
  #waiting: Outgoing[] = []
  /** The first `dueAt` of those that wait, and of those that left last. */
  #waitingFrom = Number.POSITIVE_INFINITY
  #leftFrom = Number.POSITIVE_INFINITY
  #leftAt = Number.NEGATIVE_INFINITY

  /** @param monotonic milliseconds, of the clock that `dueAt` is read from */
  constructor(send: (outgoing: Outgoing) => void, monotonic: () => number) {
    this.#send = send
    this.#monotonic = monotonic
  }

  put(outgoing: Outgoing): void {
    const { dueAt } = outgoing.reply
    if (dueAt > 0 && dueAt < this.#waitingFrom) this.#waitingFrom = dueAt
    const count = this.#waiting.push(outgoing)
    if (count === 1) setImmediate(() => this.empty())
    else if (count === LEAVE_TOGETHER) this.empty()
  }

  /** Lets go what waits. */
  empty(): void {
    if (this.#waiting.length === 0) return
    const leaving = this.#waiting
    this.#leftFrom = this.#waitingFrom
    this.#waiting = []
    this.#waitingFrom = Number.POSITIVE_INFINITY
    for (const outgoing of leaving) this.#send(outgoing)
    this.#leftAt = this.#monotonic()
  }

  /**
   * What somebody can have heard who heard all that had left at an instant.
   *
   * @param instant monotonic
   * @returns until when replies were due that had left then
   */
  leftUntil(instant: number): number {
    const from = this.#leftAt > instant ? this.#leftFrom : this.#waitingFrom
    return Math.min(instant, from - GRAIN_MS)
  }

  /** How long ago the last left, in milliseconds; undefined while others wait. */
  quietFor(now: number): DurationMs | undefined {
    return this.#waiting.length === 0 ? now - this.#leftAt : undefined
  }
}
