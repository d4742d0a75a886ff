import type { Contract, Operation } from '../../contract/contract.js'
import type { MockedResponse } from '../../contract/engine.js'
import { isStateful } from '../../contract/resource-data.js'
import { findUnsendable, hasNoBody } from '../../contract/sendable.js'
import type { HandlerResult } from '../../domain/messages.js'
import { withLogin } from '../logins.js'
import type { RequestContext } from '../request-context.js'
import { encodedBody, noteHeader, problem, unreadBody } from '../responses.js'

/** Headers that would be wrong, belong to the connection, or are set by the sandbox. */
const NOT_TAKEN_OVER =
  /^(content-length|content-encoding|transfer-encoding|trailer|te|upgrade|connection|keep-alive|proxy-connection|date|content-type|x-content-type-options|x-ratelimit-.*|x-sandbox-reason|preference-applied|deprecation|sunset|access-control-.*)$/i

/** @source docs/spec.md, "Resources" */
export function mockedOperation(context: RequestContext, operation: Operation): HandlerResult {
  if (isParentMissing(context, operation)) return problem('not_found')
  const refusal = unreadBody(context.request) ?? encodedBody(context.request)
  return refusal ?? withLogin(context, operation, mockedResponse(context, operation))
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

/** Whether a mocked operation is below a record that does not exist, such as `/apps/{id}/logs`. */
function isParentMissing({ space, readings }: RequestContext, operation: Operation): boolean {
  if (readings === undefined) return false
  const ids = Object.values(readings.path.values).map(String)
  return parentsOf(operation, space.shared.contract).some(({ resource, depth }) => {
    const scope = ids.slice(0, depth - 1)
    return space.state.records.get(resource)?.get(scope, ids[depth - 1]) === undefined
  })
}

interface Parent {
  readonly resource: string
  /** The number of path parameters down to its id. */
  readonly depth: number
}

const parents = new WeakMap<Operation, readonly Parent[]>()

/** The stateful records that the path of an operation leads through. */
function parentsOf(operation: Operation, { operations, resources }: Contract): readonly Parent[] {
  const known = parents.get(operation)
  if (known !== undefined) return known
  const path = template(operation.path)
  const found = operations.flatMap((other) => {
    const { action } = other
    const isSingle = resources.some(({ name, single }) => single && name === action?.resource)
    const isRecord = action?.kind === 'get' && action.pathFilters === undefined && !isSingle && isStateful(other)
    if (!isRecord || !path.startsWith(`${template(other.path)}/`)) return []
    return [{ resource: action.resource, depth: other.path.split('{').length - 1 }]
  })
  parents.set(operation, found)
  return found
}

function template(path: string): string {
  return path.replace(/\{[^{}]*\}/g, '{}').replace(/(?<=.)\/$/, '')
}
