import { beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from '../../src/http/connection.js'
import { hasStalled, STALL_LIMIT_MS } from '../../src/http/stalled-readers.js'

let socket: { writableLength: number; bytesWritten: number }
let connection: Connection

beforeEach(() => {
  socket = { writableLength: 0, bytesWritten: 0 }
  connection = { socket, taken: undefined, takenAt: 0 } as unknown as Connection
})

describe('a reader', () => {
  it('is cut when it has taken nothing of what waits for it for 30 s, and not before', () => {
    Object.assign(socket, { bytesWritten: 5000, writableLength: 1000 })
    expect(hasStalled(connection, 1000)).toBe(false)
    expect(hasStalled(connection, 1000 + STALL_LIMIT_MS - 1)).toBe(false)
    expect(hasStalled(connection, 1000 + STALL_LIMIT_MS)).toBe(true)
  })

  it('is not cut while it takes something, however little', () => {
    Object.assign(socket, { bytesWritten: 5000, writableLength: 1000 })
    for (let now = 0; now < 10 * STALL_LIMIT_MS; now += STALL_LIMIT_MS - 1) {
      socket.writableLength--
      expect(hasStalled(connection, now)).toBe(false)
    }
  })

  it('is not cut where nothing waits for it, and its time begins when something does', () => {
    socket.bytesWritten = 5000
    expect(hasStalled(connection, 0)).toBe(false)
    expect(hasStalled(connection, STALL_LIMIT_MS)).toBe(false)
    Object.assign(socket, { bytesWritten: 6000, writableLength: 1000 })
    expect(hasStalled(connection, STALL_LIMIT_MS + 1)).toBe(false)
    expect(hasStalled(connection, 2 * STALL_LIMIT_MS)).toBe(false)
    expect(hasStalled(connection, 2 * STALL_LIMIT_MS + 1)).toBe(true)
  })
})
