import type { MockRequest } from '../contract/engine.js'
import type { ServiceRequest } from '../domain/messages.js'
import { forcedMock } from './gates/apply-preference.js'
import { findHandler } from './operations.js'
import type { SpaceContext } from './space-context.js'
import { findRoute, splitTarget } from './target.js'

/** The request for Prism if it mocks the operation. @source docs/spec.md, "Resources" */
export function questionFor(
  { contract, basePath, upstream }: Pick<SpaceContext, 'contract' | 'basePath' | 'upstream'>,
  request: ServiceRequest,
): MockRequest | undefined {
  const route = findRoute(contract, basePath, request, splitTarget(request.target).path)
  if (route.kind !== 'operation') return undefined
  const { operation } = route
  const { prefer, accept } = request.headers
  const wished = typeof accept === 'string' ? accept : undefined
  const forced = forcedMock(contract, operation, prefer === undefined ? undefined : String(prefer))
  if (forced !== undefined) return { operation, accept: wished, ...forced }
  // Operations of the real service are mocked only with --mock.
  if (upstream !== undefined && !operation.isMocked) return undefined
  return findHandler(operation, contract) === undefined ? { operation, accept: wished } : undefined
}
