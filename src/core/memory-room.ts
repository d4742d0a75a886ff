import { StoreFull } from '../domain/store-full.js'

export interface RoomState {
  readonly bytes: number
  readonly hasTold: boolean
}

/** What the spaces that are in memory only hold beyond their seeds, all together. */
export class MemoryRoom {
  readonly #limit: number
  readonly #warn: (message: string) => void
  #bytes = 0
  #hasTold = false

  /** @param limit in bytes */
  constructor(limit: number, warn: (message: string) => void) {
    this.#limit = limit
    this.#warn = warn
  }

  /** What is booked, and whether it was told that there is no more room. */
  get state(): RoomState {
    return { bytes: this.#bytes, hasTold: this.#hasTold }
  }

  set state({ bytes, hasTold }: RoomState) {
    this.#bytes = bytes
    this.#hasTold = hasTold
  }

  /** Books bytes taken or given back. @throws StoreFull if there is no room for more; the first time, everybody is told */
  book(bytes: number): void {
    if (bytes > 0 && this.#bytes + bytes > this.#limit) {
      const full = new StoreFull('The memory of the spaces', this.#limit)
      if (!this.#hasTold) this.#warn(full.message)
      this.#hasTold = true
      throw full
    }
    this.#bytes += bytes
  }
}
