/** `quiet` after a timeout; `closed` permanently. */
export type Delivery<T> =
  | { readonly kind: 'items'; readonly items: readonly T[]; readonly dropped: number }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'closed' }

/** A queue for a slow reader. Beyond its limit, the oldest items are dropped and counted. */
export class AsyncQueue<T> {
  readonly #limit: number
  readonly #isCounted: (item: T) => boolean
  #items: T[] = []
  #dropped = 0
  #isClosed = false
  #wake = () => {}

  constructor(limit = Number.POSITIVE_INFINITY, isCounted: (item: T) => boolean = () => true) {
    this.#limit = limit
    this.#isCounted = isCounted
  }

  push(item: T): void {
    if (this.#items.push(item) > this.#limit) {
      const [oldest] = this.#items.splice(0, 1)
      if (oldest !== undefined && this.#isCounted(oldest)) this.#dropped++
    }
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Takes all items, or waits for one. @param timeoutMs default: no timeout */
  async take(timeoutMs?: number): Promise<Delivery<T>> {
    if (this.#items.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    if (this.#items.length === 0) return { kind: this.#isClosed ? 'closed' : 'quiet' }
    const delivery: Delivery<T> = { kind: 'items', items: this.#items, dropped: this.#dropped }
    this.#items = []
    this.#dropped = 0
    return delivery
  }
}
