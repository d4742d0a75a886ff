/** What `take` returns: new items, that nothing came for a while, or that nothing more will. */
export type Delivery<T> =
  | { readonly kind: 'items'; readonly items: readonly T[]; readonly dropped: number }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'closed' }

/** A queue for a slow reader; beyond its limit, the oldest items are dropped and counted. */
export class AsyncQueue<T> {
  readonly #limit: number
  readonly #isMissed: (item: T) => boolean
  #items: T[] = []
  #dropped = 0
  #isClosed = false
  #wake = () => {}

  /** @param isMissed whether it is to be counted if it is dropped */
  constructor(limit = Number.POSITIVE_INFINITY, isMissed: (item: T) => boolean = () => true) {
    this.#limit = limit
    this.#isMissed = isMissed
  }

  push(item: T): void {
    if (this.#items.push(item) > this.#limit) {
      const [oldest] = this.#items.splice(0, 1)
      if (oldest !== undefined && this.#isMissed(oldest)) this.#dropped++
    }
    this.#wake()
  }

  /** Items already in it can still be taken. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Takes everything that has come, or waits for it. @param patienceMs time after which it is `quiet` */
  async take(patienceMs?: number): Promise<Delivery<T>> {
    if (this.#items.length === 0 && !this.#isClosed) await this.#somethingComes(patienceMs)
    if (this.#items.length === 0) return { kind: this.#isClosed ? 'closed' : 'quiet' }
    const delivery: Delivery<T> = { kind: 'items', items: this.#items, dropped: this.#dropped }
    this.#items = []
    this.#dropped = 0
    return delivery
  }

  #somethingComes(patienceMs: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = patienceMs === undefined ? undefined : setTimeout(resolve, patienceMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
