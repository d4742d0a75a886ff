import { type Bytes, formatSize } from '../domain/size.js'
import type { DurationMs } from '../domain/time.js'

/** An answer is larger than is read. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
  readonly limit: Bytes

  constructor(limit: Bytes) {
    super(`the answer is larger than ${formatSize(limit)}`)
    this.limit = limit
  }
}

/** How long an answer may take, and how large it may be. */
export interface AnswerLimits {
  /** From the connection to the body's last byte. */
  readonly timeout: DurationMs
  readonly maxBody: Bytes
}

/**
 * Reads a body whole, unless it is too large. What counts is what comes out: of a
 * compressed body, the bytes that it is unpacked to.
 *
 * @param said what the sender says of its length, if it does; nothing is read of one that is too large
 * @throws TooLargeError
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  limit: Bytes,
  said?: unknown,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (Number(said) > limit) throw new TooLargeError(limit)
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) throw new TooLargeError(limit)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** The pieces of a stream as they come. Not every browser has its streams iterable. */
export async function* piecesOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (stream === null) return
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}
