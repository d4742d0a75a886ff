/** How long traces of reading (quotas, the log) may wait to be written together, in milliseconds. */
const LATER_MS = 1000

/** Writes of a state that is written whole: one at a time, each with all that has changed before it begins. */
export class Writes {
  readonly #write: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #later: Promise<void> | undefined

  /** @param write writes the state as it is when it is called; never rejects */
  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  /** Resolves when all that has changed so far is written. */
  now(): Promise<void> {
    this.#next ??= this.#afterwards()
    return this.#next
  }

  /** The same, but not at once. */
  later(): Promise<void> {
    this.#later ??= new Promise<void>((resolve) => setTimeout(resolve, LATER_MS)).then(() => {
      this.#later = undefined
      return this.now()
    })
    return this.#later
  }

  async #afterwards(): Promise<void> {
    await this.#running
    this.#running = this.#next
    this.#next = undefined
    await this.#write()
  }
}
