import { stringifyJson } from '../../contract/json.js'
import { isPetCatalogue, type ResourceAction, type ResourceData } from '../../contract/resource-data.js'
import { InvalidPet, PET_FIELDS } from '../../domain/pets.js'
import { StoreFull } from '../../domain/problems.js'
import { documentedError, problem } from '../answers.js'
import { undocumented } from '../gates/validate.js'
import type { Handler } from '../request-context.js'
import { runAction } from '../resource-actions.js'
import { changeRecord, recordSpaceOf } from './record-space.js'

/** Carries out an operation on the records of its resource. @source docs/spec.md, "Resources" */
export const recordHandler: Handler = (context, { path, query, body }) => {
  const { space, now, route, request } = context
  if (route.kind !== 'operation' || route.operation.action === undefined) return problem('internal_error')
  const { operation } = route
  const { action } = route.operation
  const resource = space.shared.contract.resources.find(({ name }) => name === action.resource)
  if (resource === undefined) return problem('internal_error')
  const { host } = request.headers
  const result = runAction(
    {
      resource,
      action,
      path: path.values,
      query: query.values,
      body: body?.values ?? {},
      now,
      newestFirst: space.shared.order === 'newest',
      address: host === undefined ? context.path : `http://${host}${context.path}`,
      search: context.query,
    },
    recordSpaceOf(space),
  )
  if (result.kind === 'not-found')
    return documentedError(operation, 404) ?? problem('not_found', undocumented(operation, 404))
  if (result.kind === 'conflict') {
    const message = `${operation.id}: ${result.property} is taken.`
    return documentedError(operation, 409) ?? problem('conflict', { message })
  }
  try {
    for (const change of result.changes) changeRecord(space, change)
  } catch (error) {
    if (error instanceof StoreFull) return problem('store_full')
    if (error instanceof InvalidPet) return problem('invalid_request', { message: error.message, outside: true })
    throw error
  }
  return {
    status: result.status,
    body: result.body === undefined ? '' : stringifyJson(result.body),
    headers: result.headers.flat(),
  }
}

/** Whether the handlers of the packaged contract, which are faster, do the same for an operation on pets. */
export function isPlainPetAction(action: ResourceAction, resource: ResourceData): boolean {
  if (!isPetCatalogue(resource) || action.envelope !== undefined || action.headers !== undefined) return false
  if (Object.keys(resource.properties).some((name) => !PET_FIELDS.has(name))) return false
  const { filters = [], limit, ...others } = action.query ?? {}
  const isPlainList =
    (limit === undefined || limit === 'limit') &&
    Object.keys(others).length === 0 &&
    filters.every(([parameter]) => parameter === 'status')
  return action.pathFilters === undefined && isPlainList
}
