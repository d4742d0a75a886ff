import { beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from '../../src/http/connection.js'
import { hasStalled, STALL_TIMEOUT_MS } from '../../src/http/connection.js'

let socket: { writableLength: number; bytesWritten: number }
let connection: Connection

beforeEach(() => {
  socket = { writableLength: 0, bytesWritten: 0 }
  connection = { socket, flushedBytes: undefined, flushedAt: 0 } as unknown as Connection
})

describe('hasStalled', () => {
  it('is true once a client has received nothing for 30 s', () => {
    Object.assign(socket, { bytesWritten: 5000, writableLength: 1000 })
    expect(hasStalled(connection, 1000)).toBe(false)
    expect(hasStalled(connection, 1000 + STALL_TIMEOUT_MS - 1)).toBe(false)
    expect(hasStalled(connection, 1000 + STALL_TIMEOUT_MS)).toBe(true)
  })

  it('is false while a client receives anything', () => {
    Object.assign(socket, { bytesWritten: 5000, writableLength: 1000 })
    for (let now = 0; now < 10 * STALL_TIMEOUT_MS; now += STALL_TIMEOUT_MS - 1) {
      socket.writableLength--
      expect(hasStalled(connection, now)).toBe(false)
    }
  })

  it('counts only while data is waiting to be sent', () => {
    socket.bytesWritten = 5000
    expect(hasStalled(connection, 0)).toBe(false)
    expect(hasStalled(connection, STALL_TIMEOUT_MS)).toBe(false)
    Object.assign(socket, { bytesWritten: 6000, writableLength: 1000 })
    expect(hasStalled(connection, STALL_TIMEOUT_MS + 1)).toBe(false)
    expect(hasStalled(connection, 2 * STALL_TIMEOUT_MS)).toBe(false)
    expect(hasStalled(connection, 2 * STALL_TIMEOUT_MS + 1)).toBe(true)
  })
})
