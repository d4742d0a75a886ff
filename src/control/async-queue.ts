/** A queue for one reader. */
export class AsyncQueue<T> {
  #items: T[] = []
  #isClosed = false
  #wake = () => {}

  push(item: T): void {
    this.#items.push(item)
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Takes all items, or waits for one. @returns undefined once it is closed and empty */
  async take(): Promise<readonly T[] | undefined> {
    if (this.#items.length === 0 && !this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    if (this.#items.length === 0) return undefined
    const items = this.#items
    this.#items = []
    return items
  }
}
