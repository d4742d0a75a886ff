import type { Contract, Operation } from '../../contract/contract.js'
import type { MockedResponse } from '../../contract/engine.js'
import { idFromPath, isStateful } from '../../contract/resource-data.js'
import { findUnsendable, hasNoBody } from '../../contract/sendable.js'
import type { HandlerResult } from '../../domain/messages.js'
import { endedRefresh, withLogin, withLogout } from '../logins.js'
import { hasParent } from '../parent-records.js'
import type { RequestContext } from '../request-context.js'
import { noteHeader, problem, refusedBody } from '../responses.js'

/** Headers that would be wrong, belong to the connection, or are set by the sandbox. */
const NOT_TAKEN_OVER =
  /^(content-length|content-encoding|transfer-encoding|trailer|te|upgrade|connection|keep-alive|proxy-connection|date|content-type|x-content-type-options|x-ratelimit-.*|x-sandbox-reason|preference-applied|deprecation|sunset|access-control-.*)$/i

/** @source docs/spec.md, "Resources" */
export function mockedOperation(context: RequestContext, operation: Operation): HandlerResult {
  if (isParentMissing(context, operation)) return problem('not_found')
  const refusal = refusedBody(context.request) ?? endedRefresh(context, operation)
  if (refusal !== undefined) return refusal
  const response = withLogin(context, operation, mockedResponse(context, operation))
  return withLogout(context, operation, response)
}

/** Prism was called before the machine applies the request. */
export function mockedResponse({ mock, space }: RequestContext, operation: Operation): HandlerResult {
  // The caller has logged why.
  if (mock === undefined) return problem('internal_error')
  const unsendable = findUnsendable(mock)
  if (unsendable === undefined) return taken(mock)
  space.shared.warn(`The mocked response of ${operation.id} cannot be sent: ${unsendable}`)
  return problem('internal_error')
}

function taken({ status, headers, body, note }: MockedResponse): HandlerResult {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  const others = Object.entries(headers).filter(([name]) => !NOT_TAKEN_OVER.test(name))
  return {
    status,
    body: hasNoBody(status) ? '' : body,
    headers: [...others.flat(), ...(note === undefined ? [] : noteHeader(note))],
    reason: 'mock',
    ...(contentType === undefined && body === '' ? {} : { contentType: contentType ?? 'text/plain' }),
  }
}

/** Whether a mocked operation is about a record that does not exist, or below it: `/apps/{id}/logs`. */
function isParentMissing({ space, readings }: RequestContext, operation: Operation): boolean {
  if (readings === undefined) return false
  const parameters = Object.entries(readings.path.values)
  const { contract } = space.shared
  return parentsOf(operation, contract).some(({ resource, depth }) => {
    const ids = parameters.slice(0, depth).map(([, value]) => String(value))
    const { parts, template } = contract.resources.find(({ name }) => name === resource)?.id ?? {}
    // One parameter may hold a whole path.
    const isWhole = operation.names !== undefined || template === undefined
    const own = parts === undefined ? 1 : parts.length
    const id = parts === undefined && !isWhole ? idFromPath(template, ids) : ids.slice(-own).join()
    const [parameter = ''] = parameters[depth - 1] ?? []
    return !hasParent({ resource, parameter, scope: ids.slice(0, -own), id: String(id) }, space)
  })
}

interface Parent {
  readonly resource: string
  /** The number of path parameters down to its id. */
  readonly depth: number
}

const parents = new WeakMap<Operation, readonly Parent[]>()

/** The stateful records that the path of an operation leads to, or through. */
function parentsOf(operation: Operation, { operations, resources }: Contract): readonly Parent[] {
  const known = parents.get(operation)
  if (known !== undefined) return known
  const path = template(operation.path)
  const found = operations.flatMap((other) => {
    const { action } = other
    const isSingle = resources.some(({ name, single }) => single && name === action?.resource)
    const own = template(other.path)
    const isOfOne = action?.kind === 'get' || (!/^(?:list|create)$/.test(action?.kind ?? '') && own.endsWith('{}'))
    if (action === undefined || !isOfOne || action.pathFilters !== undefined || isSingle) return []
    // PUT may create it.
    const isBelow = path.startsWith(`${own}/`) || (path === own && !/^P(?:OS|U)T$/.test(operation.method))
    if (!isStateful(other) || !isBelow) return []
    return [{ resource: action.resource, depth: other.path.split('{').length - 1 }]
  })
  parents.set(operation, found)
  return found
}

function template(path: string): string {
  return path
    .replace(/\{[^{}]*\}/g, '{}')
    .replace('}:', '}/')
    .replace(/(?<=.)\/$/, '')
}
