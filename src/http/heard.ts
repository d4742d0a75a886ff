import { systemClock } from '../system/system-clock.js'

/** How long after it was sent an answer has reached its reader for certain, in milliseconds of real time. @source docs/conduct.md, "early-retry" */
const HEARD_AFTER_MS = 250

/** Instants closer together than this need not be told apart, in milliseconds. */
const GRAIN_MS = 10

/**
 * Knows which answers have reached their readers for certain, whoever they are.
 *
 * All that is said of an answer is the position of the command that said it was
 * sent; an answer has been heard when that position is one that has been heard.
 *
 * A turn of the event loop reads whatever had come when it began. So what was sent
 * to a busy process before an answer left is read one turn later at the latest,
 * however long that turn takes.
 */
export class Heard {
  /** When which position was reached, a few a second; the oldest first. */
  #sent: { from: number; at: number; position: number }[] = []
  /** What had been sent HEARD_AFTER_MS ago. */
  #upTo = 0
  #timer: NodeJS.Timeout | undefined
  /** What was sent before the last moment at which no connection stood in the queue. */
  #beforeQueue = 0
  /** The last position at which something was sent that somebody has to wait for. */
  #last = 0
  #accepted = 0
  #isWatching = false

  /**
   * Takes note of answers that were sent.
   *
   * @param position of the command that says so
   * @param now      monotonic
   * @param isAtEnd  of a turn of the event loop, so that the next look at the queue comes after
   */
  sent(position: number, now: number, isAtEnd: boolean): void {
    this.#last = position
    const newest = this.#sent.at(-1)
    if (newest === undefined || now - newest.from > GRAIN_MS) this.#sent.push({ from: now, at: now, position })
    else {
      newest.at = now
      newest.position = position
    }
    this.#timer ??= this.#wake(HEARD_AFTER_MS)
    if (isAtEnd) this.#watch()
    else setImmediate(() => this.#watch())
  }

  /**
   * Takes note of a new connection.
   *
   * @returns what whoever opened it had heard: all that was sent before the queue of those who connect was last empty
   */
  accepted(): number {
    this.#accepted++
    return this.#beforeQueue
  }

  /** What everybody had heard who sends what is read now. */
  get upTo(): number {
    return this.#upTo
  }

  #wake(after: number): NodeJS.Timeout {
    return setTimeout(() => {
      const now = systemClock.monotonic()
      // In this turn comes what was sent while the process was kept from reading.
      setImmediate(() => this.#pass(now))
    }, after).unref()
  }

  #pass(now: number): void {
    let oldest = this.#sent[0]
    for (; oldest !== undefined && now - oldest.at >= HEARD_AFTER_MS; oldest = this.#sent[0]) {
      this.#upTo = oldest.position
      this.#sent.shift()
    }
    this.#timer = oldest && this.#wake(Math.max(1, oldest.at + HEARD_AFTER_MS - now))
  }

  /**
   * Connections are accepted one a turn of the event loop: a whole turn that accepts
   * none has found the queue empty, so whoever comes later has connected later.
   */
  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    const position = this.#last
    const before = this.#accepted
    setImmediate(() => {
      this.#isWatching = false
      if (this.#accepted === before) this.#beforeQueue = position
      if (this.#beforeQueue < this.#last) this.#watch()
    })
  }
}
