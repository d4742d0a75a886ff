import type { EndedExchange, ExchangeRef } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'

/** An exchange that is under way: which replica was asked, and when. */
interface OpenExchange {
  readonly replica: string
  readonly exchange: ExchangeRef
  readonly at: EpochMs
}

/** As plain data, in the order in which they began. */
export type SavedOpenExchanges = readonly OpenExchange[]

/**
 * Exchanges whose end is still to be told by the replica that was asked. Of one that is gone nobody will tell it: they
 * end with it.
 */
export class OpenExchanges {
  readonly #byPosition = new Map<number, OpenExchange>()

  began(replica: string, exchange: ExchangeRef, at: EpochMs): void {
    const { space, id, position } = exchange
    this.#byPosition.set(position, { replica, exchange: { space, id, position }, at })
  }

  /** Which of the ends that a replica tells are the first that are told. */
  end(replica: string, ends: readonly EndedExchange[]): readonly EndedExchange[] {
    return ends.filter(({ position }) => {
      const open = this.#byPosition.get(position)
      return open?.replica === replica && this.#byPosition.delete(position)
    })
  }

  /** Ends all of a replica that is gone: what has become of their answers nobody knows. */
  abandon(replica: string, now: EpochMs): readonly EndedExchange[] {
    const ends: EndedExchange[] = []
    for (const [position, { replica: asked, exchange, at }] of this.#byPosition) {
      if (asked !== replica) continue
      this.#byPosition.delete(position)
      ends.push({ ...exchange, how: 'unknown', durationMs: now - at, waitingMs: 0, bodyMs: 0, connection: 0 })
    }
    return ends
  }

  clear(): void {
    this.#byPosition.clear()
  }

  save(): SavedOpenExchanges {
    return [...this.#byPosition.values()]
  }

  /** Only for a new one. */
  load(saved: SavedOpenExchanges): void {
    for (const open of saved) this.#byPosition.set(open.exchange.position, open)
  }
}
