import { type DurationMs, type EpochMs, MINUTE_MS } from '../domain/time.js'

/** Servers log a request when it ends: earlier ones may be written after it. */
const MAX_WAIT_MS: DurationMs = MINUTE_MS
const MAX_WAITING = 20_000
/** After a longer delay, a clock was set back, or a log of an earlier time follows. */
const MAX_LATE_MS: DurationMs = 10 * MINUTE_MS

/** Sorts items that come nearly in order of time. Items with the same time keep their order. */
export class TimeOrder<Item extends { readonly at: EpochMs }> {
  readonly #take: (item: Item, at: EpochMs) => void
  readonly #waiting: Item[] = []
  #last = Number.NEGATIVE_INFINITY
  late = 0

  /** @param take gets each item with the instant it counts for: for a straggler, the instant of the item before */
  constructor(take: (item: Item, at: EpochMs) => void) {
    this.#take = take
  }

  add(item: Item): void {
    if (item.at < this.#last) {
      this.late++
      if (this.#last - item.at <= MAX_LATE_MS) {
        this.#take(item, this.#last)
        return
      }
      this.end()
    }
    const index = this.#waiting.findLastIndex(({ at }) => at <= item.at) + 1
    if (index === this.#waiting.length) this.#waiting.push(item)
    else this.#waiting.splice(index, 0, item)
    const due = (this.#waiting.at(-1)?.at ?? 0) - MAX_WAIT_MS
    while ((this.#waiting[0]?.at ?? due) < due || this.#waiting.length > MAX_WAITING) this.#takeFirst()
  }

  /** Gives away the rest. The next item may have any time. */
  end(): void {
    while (this.#waiting.length > 0) this.#takeFirst()
    this.#last = Number.NEGATIVE_INFINITY
  }

  #takeFirst(): void {
    const item = this.#waiting.shift()
    if (item === undefined) return
    this.#last = item.at
    this.#take(item, item.at)
  }
}
