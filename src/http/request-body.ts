import type { IncomingMessage } from 'node:http'
import type { UnreadBody } from '../domain/messages.js'

/** Limit of the request bodies of all connections together: 64 of the largest that the service reads. */
export const MAX_BODIES_BYTES = 64 * 1024 * 1024

export interface IncomingBody {
  /** Discards what was received of it. */
  giveUp(): void
}

/**
 * Limits the memory of request bodies on all connections together. When it is used up, the body that has received
 * nothing for the longest time is given up, so that stalled senders cannot keep others out.
 */
export class BodyBudget {
  readonly #limit: number
  #used = 0
  /** Their sizes; the one that has waited for the longest time is the first. */
  readonly #incoming = new Map<IncomingBody, number>()

  constructor(limit: number = MAX_BODIES_BYTES) {
    this.#limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** A body has received something, and needs this much memory. @returns whether there is room */
  grow(body: IncomingBody, bytes: number): boolean {
    this.release(body)
    if (!this.makeRoom(bytes)) return false
    this.#incoming.set(body, bytes)
    this.#used += bytes
    return true
  }

  /** A body has received something that fits into its memory. */
  touch(body: IncomingBody): void {
    const bytes = this.#incoming.get(body) ?? 0
    this.#incoming.delete(body)
    this.#incoming.set(body, bytes)
  }

  release(body: IncomingBody): void {
    this.#used -= this.#incoming.get(body) ?? 0
    this.#incoming.delete(body)
  }

  /** Reserves memory for a complete body while it is answered. @returns frees it; call it once */
  reserve(bytes: number): () => void {
    this.#used += bytes
    return () => {
      this.#used -= bytes
    }
  }

  /** Gives up bodies until there is room. @returns whether there is */
  makeRoom(bytes: number): boolean {
    for (const body of this.#incoming.keys()) {
      if (this.#used + bytes <= this.#limit) break
      this.release(body)
      body.giveUp()
    }
    return this.#used + bytes <= this.#limit
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** Buffer of a body that comes in pieces; it doubles as needed. */
const FIRST_CAPACITY_BYTES = 4096

const NOTHING = Buffer.alloc(0)

/**
 * Reads a body while there is room for it. The rest of a body without room is read and discarded, so that the client
 * can read the response.
 *
 * @param limit of this body, in bytes
 * @param done  called once, unless the connection breaks
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  budget: BodyBudget,
  done: (body: Buffer | UnreadBody) => void,
): void {
  let bytes: Buffer = NOTHING
  let size = 0
  let isDone = false
  const body: IncomingBody = { giveUp: () => finish('no-room') }

  function finish(result: Buffer | UnreadBody): void {
    isDone = true
    bytes = NOTHING
    budget.release(body)
    done(result)
  }

  request.on('data', (chunk: Buffer) => {
    if (isDone) return
    const filled = size
    size += chunk.length
    if (size > limit) return finish('too-large')
    // Most bodies come in one piece.
    if (filled === 0 && request.headers['content-length'] === String(size)) {
      bytes = chunk
      return
    }
    if (size <= bytes.length) budget.touch(body)
    else {
      let capacity = FIRST_CAPACITY_BYTES
      while (capacity < size) capacity *= 2
      capacity = Math.min(capacity, limit)
      if (bytes === NOTHING) request.once('close', () => budget.release(body))
      if (!budget.grow(body, capacity)) return finish('no-room')
      const larger = Buffer.allocUnsafeSlow(capacity)
      bytes.copy(larger, 0, 0, filled)
      bytes = larger
    }
    // Copied, or a body of single bytes would hold a buffer for each.
    chunk.copy(bytes, filled)
  })
  request.on('end', () => {
    if (!isDone) finish(bytes.subarray(0, size))
  })
}
