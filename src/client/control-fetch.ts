import { MIB } from '../domain/numbers.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import type { ControlRequest } from './control-message.js'
import { requestControl } from './control-request.js'
import { type ResponseLimits, readBounded, withDeadline } from './limits.js'

export interface ControlResponse {
  readonly status: number
  readonly text: string
}

/** @throws as fetch, TimeoutError, TooLargeError */
export function fetchControl(
  url: string,
  request: ControlRequest,
  { timeout, maxBody }: ResponseLimits,
): Promise<ControlResponse> {
  return withDeadline(timeout, undefined, async (signal) => {
    const { status, length, body } = await requestControl(url, { ...request, signal })
    return { status, text: new TextDecoder().decode(await readBounded(body, maxBody, length)) }
  })
}

export const HEALTH_TIMEOUT_MS: DurationMs = 2 * SECOND_MS
/** Codes of a connection that was made and then cut: a server is there, or was a moment ago. */
const CUT_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE']

/** `none`: no server there. `unclear`: a server responds, but not as a sandbox. */
export type Health =
  | { readonly kind: 'healthy'; readonly pid: unknown; readonly startedAt: unknown }
  | { readonly kind: 'none' | 'unclear' }

export async function checkHealth(controlUrl: string, timeout: DurationMs = HEALTH_TIMEOUT_MS): Promise<Health> {
  try {
    const init = { headers: { connection: 'close' } }
    const { status, text } = await fetchControl(`${controlUrl}/health`, init, { timeout, maxBody: MIB })
    const read: { readonly [field: string]: unknown } = Object(JSON.parse(text))
    if (status !== 200 || read.status !== 'healthy') return { kind: 'unclear' }
    return { kind: 'healthy', pid: read.pid, startedAt: read.startedAt }
  } catch (error) {
    // Without a response it is a TypeError; errors after that (timeout, size, JSON) mean that a server is there.
    const isNone = error instanceof TypeError && !CUT_CODES.includes(Object(error.cause).code)
    return { kind: isNone ? 'none' : 'unclear' }
  }
}
