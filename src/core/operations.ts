import type { Contract, Operation } from '../contract/contract.js'
import { isStateful } from '../contract/resource-data.js'
import type { HandlerResult } from '../domain/messages.js'
import { mockedOperation } from './operations/mocked-response.js'
import { recordHandler } from './operations/records.js'
import type { Handler, RequestContext } from './request-context.js'
import { problem } from './responses.js'

const handlers = new WeakMap<Operation, { readonly handler: Handler | undefined }>()

/** The handler of an operation that fits a resource. Prism mocks the others, and those that `--mock` names. */
export function findHandler(operation: Operation, { resources }: Contract): Handler | undefined {
  const known = handlers.get(operation)
  if (known !== undefined) return known.handler
  const { action } = operation
  const resource = resources.find(({ name }) => name === action?.resource)
  const isHandled = action !== undefined && resource !== undefined && isStateful(operation)
  const handler = isHandled ? recordHandler(operation, action, resource) : undefined
  handlers.set(operation, { handler })
  return handler
}

export function operate(context: RequestContext, operation: Operation): HandlerResult {
  const { handler, readings } = context
  return handler !== undefined && readings !== undefined
    ? handler(context, readings)
    : isParentMissing(context, operation)
      ? problem('not_found')
      : mockedOperation(context, operation)
}

/** Whether a mocked operation is below a record that does not exist, such as `/apps/{id}/logs`, and documents a 404. */
function isParentMissing({ space, readings }: RequestContext, operation: Operation): boolean {
  if (readings === undefined || !(operation.responses.has(404) || operation.ranges?.includes(4))) return false
  const ids = Object.values(readings.path.values).map(String)
  return parentsOf(operation, space.shared.contract).some(({ resource, depth }) => {
    const scope = ids.slice(0, depth - 1)
    return space.records.get(resource)?.get(scope, ids[depth - 1]) === undefined
  })
}

interface Parent {
  readonly resource: string
  /** The number of path parameters down to its id. */
  readonly depth: number
}

const parents = new WeakMap<Operation, readonly Parent[]>()

/** The stateful records that the path of an operation leads through. */
function parentsOf(operation: Operation, { operations }: Contract): readonly Parent[] {
  const known = parents.get(operation)
  if (known !== undefined) return known
  const path = template(operation.path)
  const found = operations.flatMap((other) => {
    const { action } = other
    const isRecord = action?.kind === 'get' && action.pathFilters === undefined && isStateful(other)
    if (!isRecord || !path.startsWith(`${template(other.path)}/`)) return []
    return [{ resource: action.resource, depth: other.path.split('{').length - 1 }]
  })
  parents.set(operation, found)
  return found
}

function template(path: string): string {
  return path.replace(/\{[^{}]*\}/g, '{}').replace(/(?<=.)\/$/, '')
}
