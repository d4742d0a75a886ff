import { type AnswerLimits, piecesOf, readBounded } from './bounded-body.js'
import { withDeadline } from './deadline.js'

/** What a control plane has answered. */
export interface ControlAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Asks a control plane, and reads what it answers whole. No redirect is followed, so
 * that no token goes to where another one points.
 *
 * @throws what fetch throws, a TimeoutError, or a TooLargeError
 */
export function fetchControl(
  url: string,
  init: RequestInit,
  { timeout, maxBody }: AnswerLimits,
): Promise<ControlAnswer> {
  return withDeadline(timeout, undefined, async (signal) => {
    const { status, headers, body } = await fetch(url, { ...init, redirect: 'manual', signal })
    // What is compressed says how long it is as it travels.
    const said = headers.has('content-encoding') ? undefined : headers.get('content-length')
    return { status, text: new TextDecoder().decode(await readBounded(piecesOf(body), maxBody, said)) }
  })
}
