import type { Socket } from 'node:net'

/**
 * Connections that were accepted and not yet answered, and what can have been
 * heard by who opened them: all that was sent before.
 *
 * As long as there are any, those that come after belong to them: connections
 * are accepted one a turn, so of those that were opened together the last may be
 * accepted when the first was already answered.
 */
export class Newcomers {
  readonly #waiting = new Set<Socket>()
  #heardUntil = 0

  /** @returns what the newcomer can have heard: everything that was sent until this monotonic instant */
  welcome(socket: Socket): number {
    if (this.#waiting.size === 0) this.#heardUntil = performance.now()
    this.#waiting.add(socket)
    return this.#heardUntil
  }

  /** It was answered for the first time, or has gone. */
  settle(socket: Socket): void {
    this.#waiting.delete(socket)
  }
}
