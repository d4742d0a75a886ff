import { systemClock } from '../system/system-clock.js'
import type { Outgoing } from './connection.js'

/** A batch of this size is sent before the turn is over, so that the first reply need not wait for hundreds of others. */
const LEAVE_TOGETHER = 64

/** Where a batch sends its replies. */
export interface WayOut {
  /** Waits until everything that replies may tell of is kept; undefined if it is. Never rejects. */
  settle(): Promise<void> | undefined
  send(outgoing: Outgoing): void
  /** All of a batch are sent. @param isAtEnd of a turn */
  sent(batch: readonly Outgoing[], isAtEnd: boolean): void
}

/**
 * Collects the replies made in one turn of the event loop and sends them together,
 * when what they may tell of is kept.
 *
 * Waking a waiting client costs the sender about as much as making the response,
 * and a client that is sent several replies at once is woken only once.
 */
export class WriteBatch {
  readonly #out: WayOut
  #waiting: Outgoing[] = []
  #begunAt = 0

  constructor(out: WayOut) {
    this.#out = out
  }

  /**
   * When what is read now had come, monotonic: with the first that is answered in this turn, as a turn reads what had
   * come before it began. The clock is read once for all of them (0.4 µs each time).
   */
  arrival(): number {
    if (this.#waiting.length === 0) this.#begunAt = systemClock.monotonic()
    return this.#begunAt
  }

  /** @param isLate its request did not come in this turn: what does begins now, and not when that came */
  put(outgoing: Outgoing, isLate = true): void {
    if (isLate) this.arrival()
    const count = this.#waiting.push(outgoing)
    if (count === 1) setImmediate(() => this.empty(true))
    else if (count === LEAVE_TOGETHER) this.empty()
  }

  /** Sends everything that is waiting. @param isAtEnd of a turn of the event loop */
  empty(isAtEnd = false): void {
    if (this.#waiting.length === 0) return
    const leaving = this.#waiting
    this.#waiting = []
    const settled = this.#out.settle()
    if (settled === undefined) this.#leave(leaving, isAtEnd)
    else void settled.then(() => this.#leave(leaving, false))
  }

  #leave(leaving: readonly Outgoing[], isAtEnd: boolean): void {
    for (const outgoing of leaving) this.#out.send(outgoing)
    this.#out.sent(leaving, isAtEnd)
  }
}
