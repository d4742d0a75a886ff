import { type ResponseLimits, readBounded, readChunks } from './bounded-body.js'
import { withDeadline } from './deadline.js'

export interface ControlResponse {
  readonly status: number
  readonly text: string
}

/** Redirects are not followed, so that a token stays at its address. @throws as fetch, TimeoutError, TooLargeError */
export function fetchControl(
  url: string,
  init: RequestInit,
  { timeout, maxBody }: ResponseLimits,
): Promise<ControlResponse> {
  return withDeadline(timeout, undefined, async (signal) => {
    const { status, headers, body } = await fetch(url, { ...init, redirect: 'manual', signal })
    // Content-Length counts compressed bytes.
    const length = headers.has('content-encoding') ? undefined : headers.get('content-length')
    return { status, text: new TextDecoder().decode(await readBounded(readChunks(body), maxBody, length)) }
  })
}
