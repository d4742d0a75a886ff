/** A change that others wait for. */
export class Change {
  #waiting: (() => void)[] = []

  /** It has come. */
  tell(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  /** Resolves at the next change, or when the signal comes. */
  next(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      this.#waiting.push(wake)
    })
  }
}
