import type { Dispatcher } from 'undici'
import type { Bytes } from '../domain/size.js'
import type { DurationMs } from '../domain/time.js'
import { TooLargeError } from './bounded-body.js'
import { LONGEST_TIMER_MS } from './deadline.js'
import { interimCounter } from './interim.js'

/** An answer as it came, still packed. */
export interface RawAnswer {
  readonly status: number
  /** Flat list: name, value, name, value … */
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** How long an exchange may take, how large its answer may be, and who cares for it. */
export interface ExchangeTerms {
  /** From now to the last byte of the answer. */
  readonly timeout: DurationMs
  readonly maxBody: Bytes
  /** Ends it when it is aborted. */
  readonly signal: AbortSignal | undefined
  /** From now on it may have been received. */
  onSent(): void
}

/**
 * Sends a request once and reads the answer whole, by undici's dispatch: what `request`
 * adds to it (streams, signals) would cost as much as all else that is done with a forwarded request.
 *
 * @throws TimeoutError when the time is up, TooLargeError, TooManyInterimError, the signal's reason, and undici's errors
 */
export function exchangeOnce(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { timeout, maxBody, signal, onSent }: ExchangeTerms,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let status = 0
    let headers: readonly string[] = []
    let controller: Dispatcher.DispatchController | undefined
    let failure: Error | undefined
    const countInterim = interimCounter()
    function settle(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cut)
    }
    function fail(error: Error): void {
      if (failure !== undefined) return
      failure = error
      settle()
      reject(error)
      controller?.abort(error)
    }
    const cut = () => fail(signal?.reason)
    const late = () => fail(new DOMException('It took too long.', 'TimeoutError'))
    const timer = setTimeout(late, Math.min(timeout, LONGEST_TIMER_MS))
    signal?.addEventListener('abort', cut)
    try {
      dispatcher.dispatch(options, {
        onRequestStart(started) {
          // It had to wait for a connection, and nobody waits for it any more.
          if (failure !== undefined) return started.abort(failure)
          controller = started
          onSent()
        },
        onResponseStart(started, statusCode) {
          // An interim one is not the answer. What is thrown here ends the exchange as its error.
          if (statusCode < 200) return countInterim()
          status = statusCode
          const { rawHeaders } = started
          headers = Array.isArray(rawHeaders) ? rawHeaders.map(latin1Of) : []
          const length = headers.findIndex((item, place) => place % 2 === 0 && CONTENT_LENGTH.test(item))
          if (length !== -1 && Number(headers[length + 1]) > maxBody) fail(new TooLargeError(maxBody))
        },
        onResponseData(_started, chunk) {
          size += chunk.length
          if (size > maxBody) fail(new TooLargeError(maxBody))
          else chunks.push(chunk)
        },
        onResponseEnd() {
          settle()
          const [only] = chunks
          resolve({
            status,
            headers,
            body: only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size),
          })
        },
        onResponseError(_started, error) {
          fail(error)
        },
      })
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

const CONTENT_LENGTH = /^content-length$/i

function latin1Of(item: Buffer | string): string {
  return typeof item === 'string' ? item : item.toString('latin1')
}
