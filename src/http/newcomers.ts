import type { Connection } from './connection.js'

/**
 * Connections that were accepted and not yet answered, and what can have been
 * heard by who opened them: all that was sent before.
 *
 * As long as there are any, those that come after belong to them: connections
 * are accepted one a turn, so of those that were opened together the last may be
 * accepted when the first was already answered.
 */
export class Newcomers {
  readonly #waiting = new Set<Connection>()
  #heardUntil = 0

  /** @param sentUntil until when replies were due that have been sent: all that a newcomer who is alone can have heard */
  welcome(connection: Connection, sentUntil: number): void {
    if (this.#waiting.size === 0) this.#heardUntil = sentUntil
    this.#waiting.add(connection)
    connection.heardUntil = this.#heardUntil
  }

  /** The connection was answered for the first time, or has gone. */
  settle(connection: Connection): void {
    this.#waiting.delete(connection)
  }
}
