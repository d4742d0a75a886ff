import { HeardInTime } from './heard-in-time.js'

/** Knows it of answers on connections, too: who has connected since has heard what was sent before. */
export class Heard extends HeardInTime {
  /** What was sent before the last moment at which no connection stood in the queue. */
  #beforeQueue = 0
  /** The last position at which something was sent that somebody has to wait for. */
  #last = 0
  #accepted = 0
  #isWatching = false

  /** @param isAtEnd of a turn of the event loop, so that the next look at the queue comes after */
  override sent(position: number, now: number, isAtEnd = false): void {
    this.#last = position
    super.sent(position, now)
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
