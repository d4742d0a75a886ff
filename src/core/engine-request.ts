import type { EngineRequest } from '../contract/engine.js'
import type { ServiceRequest } from '../domain/messages.js'
import { forcedMockStatus } from './gates/apply-preference.js'
import { findHandler } from './operations.js'
import { encodedBody, unreadBody } from './responses.js'
import type { SpaceContext } from './space-context.js'
import { engineRequest, findRoute, splitTarget } from './target.js'

export interface Question {
  readonly operation: string
  readonly request: EngineRequest
}

/** The request for Prism if it mocks the operation. @source docs/spec.md, "Resources" */
export function questionFor(
  { contract, basePath, upstream }: Pick<SpaceContext, 'contract' | 'basePath' | 'upstream'>,
  request: ServiceRequest,
): Question | undefined {
  // The packaged contract needs no mocks.
  if (contract.rules === undefined) return undefined
  const route = findRoute(contract, basePath, request, splitTarget(request.target).path)
  if (route.kind !== 'operation') return undefined
  const { operation } = route
  const { prefer } = request.headers
  const forced = forcedMockStatus(contract, operation, prefer === undefined ? undefined : String(prefer))
  if (forced !== undefined) return { operation: operation.id, request: { ...engineRequest(request, basePath), forced } }
  // Operations of the real service are mocked only with --mock.
  if (upstream !== undefined && !operation.isMocked) return undefined
  if (findHandler(operation, contract) !== undefined || (unreadBody(request) ?? encodedBody(request)) !== undefined)
    return undefined
  return { operation: operation.id, request: engineRequest(request, basePath) }
}
