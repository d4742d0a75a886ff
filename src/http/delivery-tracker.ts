import { later } from '../system/system-clock.js'

/** A response counts as delivered this long after it was sent. @source docs/conduct.md, "early-retry" */
const DELIVERED_AFTER_MS = 250

/** Responses sent within this time share a record. */
const GRAIN_MS = 10

/**
 * Tracks, by time alone, which responses have certainly been delivered.
 *
 * A response is identified by the position of the command that reported it as sent. Each turn of the event loop reads
 * everything that arrived before the turn began, so a request that was sent before a response is read at most one turn
 * later.
 */
export class DeliveryTracker {
  readonly #pending: { from: number; at: number; position: number }[] = []
  #deliveredUpTo = 0
  #isWaking = false

  /** @param position of the command that reports the responses as sent @param now monotonic */
  sent(position: number, now: number): void {
    const newest = this.#pending.at(-1)
    if (newest === undefined || now - newest.from > GRAIN_MS) this.#pending.push({ from: now, at: now, position })
    else {
      newest.at = now
      newest.position = position
    }
    if (!this.#isWaking) this.#wake(DELIVERED_AFTER_MS)
  }

  /** Responses up to this position count as delivered to the senders of requests read now. */
  get deliveredUpTo(): number {
    return this.#deliveredUpTo
  }

  get isPending(): boolean {
    return this.#pending.length > 0
  }

  #wake(after: number): void {
    this.#isWaking = true
    later(after, (now) => {
      let oldest = this.#pending[0]
      for (; oldest !== undefined && now - oldest.at >= DELIVERED_AFTER_MS; oldest = this.#pending[0]) {
        this.#deliveredUpTo = oldest.position
        this.#pending.shift()
      }
      this.#isWaking = false
      if (oldest !== undefined) this.#wake(Math.max(1, oldest.at + DELIVERED_AFTER_MS - now))
    })
  }
}
