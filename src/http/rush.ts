/**
 * Tells what somebody can have heard who opens a connection.
 *
 * Where the event loop has been idle since a refusal was sent, no connection was
 * waiting to be accepted then: who comes now has connected after it. In a rush,
 * without idle time, a connection may be older than the refusals before it.
 */
export class Rush {
  /** Idle time of the event loop, in all, at the first refusal of the present rush. */
  #idle = -1
  /** When that refusal was sent, monotonic. */
  #since = 0

  noteRefusal(sentAt: number): void {
    const idle = idleTime()
    if (idle === this.#idle) return
    this.#idle = idle
    this.#since = sentAt
  }

  /** Everything that was sent until this monotonic instant. */
  heardByNewcomer(): number {
    return idleTime() === this.#idle ? this.#since - 1 : performance.now()
  }
}

/** How long the event loop has waited in all, in milliseconds with fractions; not counted is a look that finds something at once. */
function idleTime(): number {
  return performance.nodeTiming.idleTime
}
