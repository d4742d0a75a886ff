import { type Bytes, MIB } from '../domain/size.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { fetchControl } from './control-fetch.js'

/** How long a health check may take. */
export const HEALTH_PATIENCE_MS: DurationMs = 2 * SECOND_MS
const LARGEST_ANSWER: Bytes = MIB

/** Codes of a connection that was made and then cut: something is there, or was a moment ago. */
const CUT_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/** Whether a sandbox answers: it does, and says which one it is; nobody does; or somebody does not say. */
export type Health =
  | { readonly kind: 'healthy'; readonly pid: unknown; readonly startedAt: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'unclear' }

/** Checks the health of the control plane at an address, which needs no token. */
export async function askHealth(controlUrl: string, timeout: DurationMs = HEALTH_PATIENCE_MS): Promise<Health> {
  try {
    const { status, text } = await fetchControl(
      `${controlUrl}/health`,
      { headers: { connection: 'close' } },
      { timeout, maxBody: LARGEST_ANSWER },
    )
    const said: { readonly status?: unknown; readonly pid?: unknown; readonly startedAt?: unknown } = Object(
      JSON.parse(text),
    )
    if (status !== 200 || said.status !== 'healthy') return { kind: 'unclear' }
    return { kind: 'healthy', pid: said.pid, startedAt: said.startedAt }
  } catch (error) {
    // `fetch failed` is a TypeError; what came late, or was too much or no JSON, came from somebody.
    const isNone = error instanceof TypeError && !CUT_CODES.includes(codeOf(error.cause))
    return { kind: isNone ? 'none' : 'unclear' }
  }
}

function codeOf(cause: unknown): unknown {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
}
