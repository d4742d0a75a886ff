import { type Bytes, formatSize } from '../domain/size.js'

/** An answer is larger than is read. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
  readonly limit: Bytes

  constructor(limit: Bytes) {
    super(`the answer is larger than ${formatSize(limit)}`)
    this.limit = limit
  }
}

/**
 * Reads a body whole, unless it is too large. What counts is what comes out: of a
 * compressed body, the bytes that it is unpacked to.
 *
 * @param said what the sender says of its length, if it does; nothing is read of one that is too large
 * @throws TooLargeError
 */
export async function readBounded(body: AsyncIterable<Uint8Array>, limit: Bytes, said?: unknown): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (Number(said) > limit) throw new TooLargeError(limit)
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) throw new TooLargeError(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}
