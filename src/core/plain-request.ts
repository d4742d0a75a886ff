import type { EngineRequest } from '../contract/engine.js'
import type { ServiceRequest } from '../domain/messages.js'
import { splitTarget } from './target.js'

/** A request as the contract speaks of it: below the base path, its body as text. */
export function engineRequest(request: ServiceRequest, basePath: string): EngineRequest {
  const { path, query } = splitTarget(request.target)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = String(value)
  const body = request.body instanceof Uint8Array ? new TextDecoder().decode(request.body) : ''
  const method = request.method === 'HEAD' ? 'GET' : request.method
  return { method, path: path.slice(basePath.length), query, headers, body }
}
