import { type DurationMs, SECOND_MS } from '../domain/time.js'
import type { Connection } from './connection.js'

/** A reader that takes nothing of what waits for it for so long is cut. */
export const STALL_LIMIT_MS: DurationMs = 30 * SECOND_MS

/** How often connections are looked at. */
export const LOOK_EVERY_MS: DurationMs = 5 * SECOND_MS

/**
 * Looks at a connection, and says whether it is to be cut.
 *
 * @param now monotonic
 */
export function hasStalled(connection: Connection, now: number): boolean {
  const { socket } = connection
  const taken = socket.writableLength === 0 ? undefined : socket.bytesWritten - socket.writableLength
  if (taken === undefined || taken !== connection.taken) {
    connection.taken = taken
    connection.takenAt = now
    return false
  }
  return now - connection.takenAt >= STALL_LIMIT_MS
}
