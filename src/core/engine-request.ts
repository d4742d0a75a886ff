import type { EngineRequest } from '../contract/engine.js'
import type { ServiceRequest } from '../domain/messages.js'
import { encodedBody, unreadBody } from './answers.js'
import { forcedMockStatus } from './gates/force.js'
import { handlerOf } from './operations.js'
import type { SpaceContext } from './space-context.js'
import { findRoute, splitTarget } from './target.js'

/** What is to be asked of Prism, and about which operation. */
export interface Question {
  readonly operation: string
  readonly request: EngineRequest
}

/**
 * What Prism has to be asked before a request is applied, so that nothing waits
 * while it is; undefined where the sandbox answers by itself.
 *
 * @source docs/spec.md, "A fuller contract"
 */
export function questionFor(
  { contract, basePath }: Pick<SpaceContext, 'contract' | 'basePath'>,
  request: ServiceRequest,
): Question | undefined {
  // The sandbox carries out every operation of the packaged contract itself.
  if (contract.pets === undefined) return undefined
  const route = findRoute(contract, basePath, request, splitTarget(request.target).path)
  if (route.kind !== 'operation') return undefined
  const { operation } = route
  const { prefer } = request.headers
  const forced = forcedMockStatus(contract, operation, prefer === undefined ? undefined : String(prefer))
  if (forced !== undefined) return { operation: operation.id, request: { ...engineRequest(request, basePath), forced } }
  if (handlerOf(operation) !== undefined || (unreadBody(request) ?? encodedBody(request)) !== undefined)
    return undefined
  return { operation: operation.id, request: engineRequest(request, basePath) }
}

/** A request in Prism's terms. */
function engineRequest(request: ServiceRequest, basePath: string): EngineRequest {
  const { path, query } = splitTarget(request.target)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = String(value)
  const body = request.body instanceof Uint8Array ? new TextDecoder().decode(request.body) : ''
  const method = request.method === 'HEAD' ? 'GET' : request.method
  return { method, path: path.slice(basePath.length), query, headers, body }
}
