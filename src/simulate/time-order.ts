import { type DurationMs, type EpochMs, MINUTE_MS } from '../domain/time.js'

/** A server logs a request when it ends: those that came before it may be written after it. */
const WAITED_MS: DurationMs = MINUTE_MS
const MOST_WAITING = 20_000
/** What comes later than that is no straggler: a clock was set back, or a log of an earlier time follows. */
const LATEST_MS: DurationMs = 10 * MINUTE_MS

/** Puts what comes nearly in order of time into that order. What has the same time stays in the order in which it came. */
export class TimeOrder<Item extends { readonly at: EpochMs }> {
  readonly #take: (item: Item, at: EpochMs) => void
  readonly #waiting: Item[] = []
  /** Those before it have been given away. */
  #first = 0
  #last = Number.NEGATIVE_INFINITY
  #late = 0

  /**
   * @param take gets the items in order, each with the instant that it is taken for: that of the one before, for a
   *             straggler. An instant that is earlier than the one before begins a new order.
   */
  constructor(take: (item: Item, at: EpochMs) => void) {
    this.#take = take
  }

  /** How many came too late to be put into order. */
  get late(): number {
    return this.#late
  }

  add(item: Item): void {
    if (item.at < this.#last) {
      this.#late++
      if (this.#last - item.at <= LATEST_MS) {
        this.#take(item, this.#last)
        return
      }
      this.end()
    }
    const waiting = this.#waiting
    let place = waiting.length
    while (place > this.#first && (waiting[place - 1]?.at ?? 0) > item.at) place--
    if (place === waiting.length) waiting.push(item)
    else waiting.splice(place, 0, item)
    const newest = waiting.at(-1)?.at ?? item.at
    for (let oldest = waiting[this.#first]; oldest !== undefined; oldest = waiting[this.#first]) {
      if (newest - oldest.at <= WAITED_MS && waiting.length - this.#first <= MOST_WAITING) break
      this.#give(oldest)
    }
    if (this.#first < MOST_WAITING) return
    waiting.splice(0, this.#first)
    this.#first = 0
  }

  /** Gives away what is left. What comes then may be of any time. */
  end(): void {
    for (let item = this.#waiting[this.#first]; item !== undefined; item = this.#waiting[this.#first]) this.#give(item)
    this.#waiting.length = 0
    this.#first = 0
    this.#last = Number.NEGATIVE_INFINITY
  }

  #give(item: Item): void {
    this.#first++
    this.#last = item.at
    this.#take(item, item.at)
  }
}
