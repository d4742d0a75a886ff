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

/** Memory of a piece besides its bytes. */
const PIECE_BYTES = 512

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
  const pieces: Buffer[] = []
  let size = 0
  let isDone = false
  const body: IncomingBody = { discard: () => finish('no-room') }

  function finish(result: Buffer | UnreadBody): void {
    isDone = true
    pieces.length = 0
    budget.release(body)
    done(result)
  }

  request.on('data', (piece: Buffer) => {
    if (isDone) return
    size += piece.length
    pieces.push(piece)
    if (size > limit) finish('too-large')
    else if (!budget.grow(body, size + pieces.length * PIECE_BYTES)) finish('no-room')
  })
  request.on('end', () => {
    if (!isDone) finish(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces))
  })
  request.once('close', () => budget.release(body))
}
