import { chunksOf, type ResponseLimits, readBounded } from './bounded-body.js'
import { withDeadline } from './deadline.js'

/** A response of a control plane. */
export interface ControlAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Sends a request to a control plane and reads the whole response. Redirects are not followed, so that a token stays
 * at its address.
 *
 * @throws what fetch throws, a TimeoutError, or a TooLargeError
 */
export function fetchControl(
  url: string,
  init: RequestInit,
  { timeout, maxBody }: ResponseLimits,
): Promise<ControlAnswer> {
  return withDeadline(timeout, undefined, async (signal) => {
    const { status, headers, body } = await fetch(url, { ...init, redirect: 'manual', signal })
    // Content-Length is that of the compressed body.
    const length = headers.has('content-encoding') ? undefined : headers.get('content-length')
    return { status, text: new TextDecoder().decode(await readBounded(chunksOf(body), maxBody, length)) }
  })
}
