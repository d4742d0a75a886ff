import type { DurationMs } from '../domain/time.js'

/** Node takes a longer one for one of a millisecond. */
export const LONGEST_TIMER_MS: DurationMs = 2 ** 31 - 1

/**
 * Does something that has to end in time, or as soon as an outer signal is aborted.
 *
 * The timer is held by the call itself. A signal of AbortSignal.any over
 * AbortSignal.timeout is held by nobody once the headers are there: on Node 20 the
 * garbage collector takes it, timer and all, and a body that stalls is waited for
 * without end.
 *
 * @param limit milliseconds, > 0
 * @param act   its signal is aborted when the time is up; whether it heeds it or not, this rejects
 * @throws a TimeoutError when the time is up, the outer signal's reason when that is aborted
 */
export async function withDeadline<T>(
  limit: DurationMs,
  outer: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const inner = new AbortController()
  const cut = () => inner.abort(outer?.reason)
  const late = () => inner.abort(new DOMException('It took too long.', 'TimeoutError'))
  const timer = setTimeout(late, Math.min(limit, LONGEST_TIMER_MS))
  outer?.addEventListener('abort', cut)
  const ended = new Promise<never>((_resolve, reject) => {
    inner.signal.addEventListener('abort', () => reject(inner.signal.reason))
  })
  try {
    return await Promise.race([act(inner.signal), ended])
  } catch (error) {
    // What failed on the way is let go, whatever is still open of it.
    inner.abort(error)
    throw error
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', cut)
  }
}

/** Whether it is what `withDeadline` throws when the time is up. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
