/** How long changes by reading (quotas, the log) may wait to be written together, in milliseconds. */
const LATER_MS = 1000

/** Writes a state as a whole: one write at a time, each with all changes before it begins. */
export class Writes {
  readonly #write: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #later: Promise<void> | undefined

  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  now(): Promise<void> {
    this.#next ??= this.#writeNext()
    return this.#next
  }

  later(): Promise<void> {
    this.#later ??= new Promise<void>((resolve) => setTimeout(resolve, LATER_MS)).then(() => {
      this.#later = undefined
      return this.now()
    })
    return this.#later
  }

  async #writeNext(): Promise<void> {
    await this.#running
    this.#running = this.#next
    this.#next = undefined
    await this.#write()
  }
}
