import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from '../domain/messages.js'
import type { DurationMs } from '../domain/time.js'
import type { Connection } from './connection.js'

/** A reply and its destination. */
export interface Outgoing {
  readonly connection: Connection
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly reply: Reply
}

/** A batch of this size is sent before the turn is over, so that the first reply need not wait for hundreds of others. */
const LEAVE_TOGETHER = 64

/** Smaller than the difference of any two clock readings, in milliseconds. */
const GRAIN_MS = 0.0001

/**
 * Collects the replies made in one turn of the event loop and sends them together.
 * Waking a waiting client costs the sender about as much as making the response,
 * and a client that is sent several replies at once is woken only once.
 */
export class WriteBatch {
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

  /** Sends everything that is waiting. */
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

  /** Milliseconds since the last batch was sent; undefined while replies are waiting. */
  quietFor(now: number): DurationMs | undefined {
    return this.#waiting.length === 0 ? now - this.#leftAt : undefined
  }
}
