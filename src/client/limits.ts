import { type Bytes, formatSize } from '../domain/numbers.js'
import type { DurationMs } from '../domain/time.js'
import { clearTimeout, setTimeout } from '../system/system-clock.js'

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
  /** The part of it that passed before the first attempt. */
  readonly spent?: DurationMs
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

/** Node runs a longer timer after one millisecond. */
export const MAX_TIMER_MS: DurationMs = 2 ** 31 - 1

function timeoutError(): DOMException {
  return new DOMException('It took too long.', 'TimeoutError')
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

/**
 * Not AbortSignal.any over AbortSignal.timeout: on Node 20 both are garbage collected once the headers are there, and a
 * body that stalls is read forever.
 *
 * @param act its signal is aborted at the deadline; the result rejects then in any case
 * @throws a TimeoutError, or the outer signal's reason
 */
export async function withDeadline<T>(
  limit: DurationMs,
  outer: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const inner = new AbortController()
  const cut = () => inner.abort(outer?.reason)
  const timer = setTimeout(() => inner.abort(timeoutError()), Math.min(limit, MAX_TIMER_MS))
  outer?.addEventListener('abort', cut)
  const ended = new Promise<never>((_resolve, reject) => {
    inner.signal.addEventListener('abort', () => reject(inner.signal.reason))
  })
  try {
    return await Promise.race([act(inner.signal), ended])
  } catch (error) {
    // Releases open connections.
    inner.abort(error)
    throw error
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', cut)
  }
}
