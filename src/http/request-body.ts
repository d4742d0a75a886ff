import type { IncomingMessage } from 'node:http'
import type { UnreadBody } from '../domain/messages.js'

/** For all connections together: 64 bodies of the largest accepted size. */
export const MAX_BODIES_BYTES = 64 * 1024 * 1024

export interface IncomingBody {
  discard(): void
}

/**
 * Limits the memory of request bodies on all connections. When it is used up, the body that has waited longest for data
 * is discarded, so that stalled senders cannot block others.
 */
export class BodyBudget {
  readonly #limit: number
  #used = 0
  /** Sizes. The body that has waited longest is first. */
  readonly #incoming = new Map<IncomingBody, number>()

  constructor(limit: number = MAX_BODIES_BYTES) {
    this.#limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** @returns whether there is room for a body that now needs this much memory */
  grow(body: IncomingBody, bytes: number): boolean {
    this.release(body)
    if (!this.makeRoom(bytes)) return false
    this.#incoming.set(body, bytes)
    this.#used += bytes
    return true
  }

  touch(body: IncomingBody): void {
    const bytes = this.#incoming.get(body) ?? 0
    this.#incoming.delete(body)
    this.#incoming.set(body, bytes)
  }

  release(body: IncomingBody): void {
    this.#used -= this.#incoming.get(body) ?? 0
    this.#incoming.delete(body)
  }

  /** Reserves memory for a complete body. @returns frees it; call it once */
  reserve(bytes: number): () => void {
    this.#used += bytes
    return () => {
      this.#used -= bytes
    }
  }

  /** Discards bodies until there is room. @returns whether there is */
  makeRoom(bytes: number): boolean {
    for (const body of this.#incoming.keys()) {
      if (this.#used + bytes <= this.#limit) break
      this.release(body)
      body.discard()
    }
    return this.#used + bytes <= this.#limit
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

const FIRST_CAPACITY_BYTES = 4096

const NOTHING = Buffer.alloc(0)

/**
 * Reads a body while there is room. The rest of a refused body is read and discarded, so that the client can read the
 * response.
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
  const body: IncomingBody = { discard: () => finish('no-room') }

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
    // Copied: a body sent byte by byte would otherwise hold a buffer for each.
    chunk.copy(bytes, filled)
  })
  request.on('end', () => {
    if (!isDone) finish(bytes.subarray(0, size))
  })
}
