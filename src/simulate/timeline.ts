import { type DurationMs, type EpochMs, MINUTE_MS } from '../domain/time.js'

const MAX_CELLS_OF_KEY = 720
const MAX_CELLS = 50_000
const WIDER = 4

/** The most requests of each key in its minute window, in cells of equal width, had nothing been refused. */
export class Timeline {
  readonly #keys = new Map<string, Map<number, number>>()
  #cells = 0
  width: DurationMs = MINUTE_MS

  add(key: string, at: EpochMs, requests: number): void {
    const cells = this.#keys.get(key) ?? new Map<number, number>()
    this.#keys.set(key, cells)
    const index = Math.floor(at / this.width)
    const before = cells.get(index)
    if (before === undefined) this.#cells++
    cells.set(index, Math.max(before ?? 0, requests))
    while (cells.size > MAX_CELLS_OF_KEY || (this.#cells > MAX_CELLS && this.#cells > this.#keys.size)) this.#widen()
  }

  of(key: string): readonly (readonly [EpochMs, number])[] {
    const cells = [...(this.#keys.get(key) ?? [])].sort(([one], [other]) => one - other)
    return cells.map(([index, most]) => [index * this.width, most])
  }

  #widen(): void {
    this.width *= WIDER
    this.#cells = 0
    for (const cells of this.#keys.values()) {
      const narrow = [...cells]
      cells.clear()
      for (const [index, most] of narrow) {
        const wide = Math.floor(index / WIDER)
        cells.set(wide, Math.max(cells.get(wide) ?? 0, most))
      }
      this.#cells += cells.size
    }
  }
}
