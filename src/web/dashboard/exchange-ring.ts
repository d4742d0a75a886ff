import type { Exchange } from '../../exchanges/exchange-view.js'

/** Exchanges kept by the page; as many as the sandbox's own log keeps unless told otherwise. */
export const EXCHANGES_KEPT = 1000

/** What the ring did with an exchange: `ended` is one that was there, under way. */
export type Taken = 'new' | 'ended' | 'known' | 'restarted'

/** The last exchanges of a space, in the order in which they came. */
export class ExchangeRing {
  readonly #limit: number
  #byId = new Map<number, Exchange>()
  #highestId = 0

  constructor(limit = EXCHANGES_KEPT) {
    this.#limit = limit
  }

  get size(): number {
    return this.#byId.size
  }

  /** The highest id seen, 0 before the first: what the sandbox has counted at least. */
  get highestId(): number {
    return this.#highestId
  }

  /**
   * Takes an exchange.
   *
   * The same id for another exchange means that the log was cleared and counts from 1 again: what was
   * there before is forgotten.
   */
  add(exchange: Exchange): Taken {
    const known = this.#byId.get(exchange.id)
    if (known !== undefined) {
      const isSame = known.at === exchange.at && known.path === exchange.path && known.key === exchange.key
      if (isSame && known.ended === null && exchange.ended !== null) {
        this.#byId.set(exchange.id, exchange)
        return 'ended'
      }
      if (isSame && (exchange.ended === null || known.durationMs === exchange.durationMs)) return 'known'
      this.clear()
      this.#keep(exchange)
      return 'restarted'
    }
    this.#keep(exchange)
    return 'new'
  }

  clear(): void {
    this.#byId = new Map()
    this.#highestId = 0
  }

  get(id: number): Exchange | undefined {
    return this.#byId.get(id)
  }

  newestFirst(): readonly Exchange[] {
    return [...this.#byId.values()].reverse()
  }

  #keep(exchange: Exchange): void {
    this.#byId.set(exchange.id, exchange)
    this.#highestId = Math.max(this.#highestId, exchange.id)
    if (this.#byId.size <= this.#limit) return
    const [oldest] = this.#byId.keys()
    if (oldest !== undefined) this.#byId.delete(oldest)
  }
}
