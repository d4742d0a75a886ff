import type { IncomingMessage } from 'node:http'
import type { UnreadBody } from '../domain/messages.js'
import type { BodyRoom, ComingBody } from './body-room.js'

/** A body that comes in pieces is first given so much, then always twice as much. */
const FIRST_BYTES = 4096

const NOTHING = Buffer.alloc(0)

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/**
 * Reads a body as long as there is room for it. Where there is none, what still
 * comes is read and thrown away, so that the client lives to see the answer.
 *
 * @param limit in bytes, of this one body
 * @param done  is called once, unless the client goes or its body breaks off
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  room: BodyRoom,
  done: (body: Buffer | UnreadBody) => void,
): void {
  let bytes: Buffer = NOTHING
  let size = 0
  let isOver = false
  const body: ComingBody = { giveUp: () => finish('no-room') }

  function finish(read: Buffer | UnreadBody): void {
    isOver = true
    bytes = NOTHING
    room.leave(body)
    done(read)
  }

  request.on('data', (chunk: Buffer) => {
    if (isOver) return
    size += chunk.length
    if (size > limit) finish('too-large')
    // Most come in one piece.
    else if (size === chunk.length && request.headers['content-length'] === String(size)) bytes = chunk
    else if (size <= bytes.length) {
      room.touch(body)
      chunk.copy(bytes, size - chunk.length)
    } else {
      const capacity = capacityFor(size, limit)
      if (bytes === NOTHING) request.once('close', () => room.leave(body))
      if (!room.grow(body, capacity)) return finish('no-room')
      // Copied, lest a body of single bytes hold an object for each.
      bytes = grown(bytes, size - chunk.length, capacity)
      chunk.copy(bytes, size - chunk.length)
    }
  })
  request.on('end', () => {
    if (!isOver) finish(bytes.subarray(0, size))
  })
}

function capacityFor(size: number, limit: number): number {
  let capacity = FIRST_BYTES
  while (capacity < size) capacity *= 2
  return Math.min(capacity, limit)
}

function grown(bytes: Buffer, filled: number, capacity: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(capacity)
  bytes.copy(larger, 0, 0, filled)
  return larger
}
