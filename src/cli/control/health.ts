/** How long a sandbox may think about whether it is well. */
const PATIENCE_MS = 2000

/** A connection that was there and was cut: somebody is, or was just now. */
const CUT_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/** Whether a sandbox answers: it does, nobody does, or somebody does not say. */
export type Pulse = 'healthy' | 'none' | 'unclear'

/** Asks the control plane at an address how it is; that needs no token. */
export async function feelPulse(controlUrl: string): Promise<Pulse> {
  try {
    const response = await fetch(`${controlUrl}/health`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const body: unknown = await response.json()
    const status = typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined
    return response.ok && status === 'healthy' ? 'healthy' : 'unclear'
  } catch (error) {
    // `fetch failed` is a TypeError; what came late or was no JSON came from somebody.
    return error instanceof TypeError && !CUT_CODES.includes(codeOf(error.cause)) ? 'none' : 'unclear'
  }
}

function codeOf(cause: unknown): unknown {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
}
