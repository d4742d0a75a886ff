import type { ControlReply, ControlRequest } from './control-message.js'
import { readChunks } from './limits.js'

export async function requestControl(url: string, request: ControlRequest): Promise<ControlReply> {
  // Redirects are not followed, so that a token stays at its address.
  const { status, headers, body } = await fetch(url, { ...request, redirect: 'manual' })
  // Content-Length counts compressed bytes.
  const length = headers.has('content-encoding') ? undefined : (headers.get('content-length') ?? undefined)
  return { status, length, body: readChunks(body) }
}
