import type { EngineRequest } from '../contract/engine.js'
import type { ServiceRequest } from '../domain/messages.js'
import { encodedBody, unreadBody } from './answers.js'
import { forcedMockStatus } from './gates/force.js'
import { handlerOf } from './operations.js'
import { engineRequest } from './plain-request.js'
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
  { contract, basePath, realService }: Pick<SpaceContext, 'contract' | 'basePath' | 'realService'>,
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
  // What the real service answers is not mocked, unless it was asked for.
  if (realService !== undefined && !operation.isMocked) return undefined
  if (handlerOf(operation) !== undefined || (unreadBody(request) ?? encodedBody(request)) !== undefined)
    return undefined
  return { operation: operation.id, request: engineRequest(request, basePath) }
}
