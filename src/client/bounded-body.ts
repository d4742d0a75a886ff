import { type Bytes, formatSize } from '../domain/numbers.js'
import type { DurationMs } from '../domain/time.js'

export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
  readonly limit: Bytes

  constructor(limit: Bytes) {
    super(`the response is larger than ${formatSize(limit)}`)
    this.limit = limit
  }
}

export interface ResponseLimits {
  /** From the connection to the last byte of the body. */
  readonly timeout: DurationMs
  readonly maxBody: Bytes
}

/** Decompressed bytes count. @param contentLength refused unread if it exceeds the limit @throws TooLargeError */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  limit: Bytes,
  contentLength?: unknown,
): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(contentLength) > limit) throw new TooLargeError(limit)
  const chunks: Uint8Array[] = []
  let size = 0
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

/** The chunks of a stream. Not every browser has iterable streams. */
export async function* readChunks(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
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
