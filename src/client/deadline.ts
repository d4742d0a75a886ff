import type { DurationMs } from '../domain/time.js'
import { clearTimeout, setTimeout } from '../system/timers.js'

/** Node runs a longer timer after one millisecond. */
export const MAX_TIMER_MS: DurationMs = 2 ** 31 - 1

export function timeoutError(): DOMException {
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
