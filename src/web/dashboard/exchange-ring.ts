import type { Exchange } from '../../exchanges/exchange-view.js'

export const EXCHANGES_KEPT = 1000

export class ExchangeRing {
  readonly #limit: number
  readonly #byId = new Map<number, Exchange>()
  highestId = 0

  constructor(limit = EXCHANGES_KEPT) {
    this.#limit = limit
  }

  /** @returns `ended` for a known exchange that has ended, `restarted` if ids restarted after the log was cleared */
  add(exchange: Exchange): 'new' | 'ended' | 'known' | 'restarted' {
    const known = this.#byId.get(exchange.id)
    const isSame = known?.at === exchange.at && known.path === exchange.path && known.key === exchange.key
    const hasEnded = isSame && known.ended === null && exchange.ended !== null
    if (isSame && !hasEnded && (exchange.ended === null || known.durationMs === exchange.durationMs)) return 'known'
    const isRestart = known !== undefined && !hasEnded
    if (isRestart) this.clear()
    this.#byId.set(exchange.id, exchange)
    this.highestId = Math.max(this.highestId, exchange.id)
    const [oldest] = this.#byId.keys()
    if (this.#byId.size > this.#limit && oldest !== undefined) this.#byId.delete(oldest)
    if (hasEnded) return 'ended'
    return isRestart ? 'restarted' : 'new'
  }

  clear(): void {
    this.#byId.clear()
    this.highestId = 0
  }

  get(id: number): Exchange | undefined {
    return this.#byId.get(id)
  }

  newestFirst(): readonly Exchange[] {
    return [...this.#byId.values()].reverse()
  }
}
