import { later } from '../system/later.js'

/** How long after it was sent an answer has reached its reader for certain, in milliseconds of real time. @source docs/conduct.md, "early-retry" */
const HEARD_AFTER_MS = 250

/** Instants closer together than this need not be told apart, in milliseconds. */
const GRAIN_MS = 10

/**
 * Knows which answers have reached their readers for certain, whoever they are, by the time that has passed.
 *
 * All that is said of an answer is the position of the command that said it was
 * sent; an answer has been heard when that position is one that has been heard.
 *
 * A turn of the event loop reads whatever had come when it began. So what was sent
 * to a busy process before an answer left is read one turn later at the latest,
 * however long that turn takes.
 */
export class HeardInTime {
  /** When which position was reached, a few a second; the oldest first. */
  #sent: { from: number; at: number; position: number }[] = []
  /** What had been sent HEARD_AFTER_MS ago. */
  #upTo = 0
  #isWaking = false

  /**
   * Takes note of answers that were sent.
   *
   * @param position of the command that says so
   * @param now      monotonic
   */
  sent(position: number, now: number): void {
    const newest = this.#sent.at(-1)
    if (newest === undefined || now - newest.from > GRAIN_MS) this.#sent.push({ from: now, at: now, position })
    else {
      newest.at = now
      newest.position = position
    }
    if (!this.#isWaking) this.#wake(HEARD_AFTER_MS)
  }

  /** What everybody had heard who sends what is read now. */
  get upTo(): number {
    return this.#upTo
  }

  /** Something was sent of which that is not certain yet. */
  get isWaiting(): boolean {
    return this.#sent.length > 0
  }

  #wake(after: number): void {
    this.#isWaking = true
    later(after, (now) => this.#pass(now))
  }

  #pass(now: number): void {
    let oldest = this.#sent[0]
    for (; oldest !== undefined && now - oldest.at >= HEARD_AFTER_MS; oldest = this.#sent[0]) {
      this.#upTo = oldest.position
      this.#sent.shift()
    }
    this.#isWaking = false
    if (oldest !== undefined) this.#wake(Math.max(1, oldest.at + HEARD_AFTER_MS - now))
  }
}
