import type { Contract, Operation } from '../contract/contract.js'
import { isStateful, tagName } from '../contract/resource-data.js'
import type { HandlerResult } from '../domain/messages.js'
import { ignoredConditions } from './entity-tags.js'
import { withLogin } from './logins.js'
import { mockedOperation } from './operations/mocked-response.js'
import { recordHandler } from './operations/records.js'
import type { Handler, RequestContext } from './request-context.js'

const handlers = new WeakMap<Operation, { readonly handler: Handler | undefined }>()

/** The handler of an operation that fits a resource. Prism mocks the others, and those that `--mock` names. */
export function findHandler(operation: Operation, { operations, resources }: Contract): Handler | undefined {
  const known = handlers.get(operation)
  if (known !== undefined) return known.handler
  const { action } = operation
  const resource = resources.find(({ name }) => name === action?.resource)
  const isHandled = action !== undefined && resource !== undefined && isStateful(operation)
  const handler = isHandled ? recordHandler(operation, action, resource, isTagged(operation, operations)) : undefined
  handlers.set(operation, { handler })
  return handler
}

/** Whether clients can know the entity tags of the records that it is about. */
function isTagged({ action }: Operation, operations: Contract['operations']): boolean {
  return operations.some((other) => other.action?.resource === action?.resource && tagName(other.action) !== undefined)
}

export function operate(context: RequestContext, operation: Operation): HandlerResult {
  const { handler, readings, request, space } = context
  const { isPackaged, operations } = space.shared.contract
  if (request.headers['if-match'] !== undefined || request.headers['if-none-match'] !== undefined)
    if (isPackaged !== true)
      context.ignoredConditions = ignoredConditions(request, operation, isTagged(operation, operations))
  if (handler === undefined || readings === undefined) return mockedOperation(context, operation)
  const reply = handler(context, readings)
  const isSignUp = operation.isPublic === true && operation.action?.kind === 'create'
  return isSignUp ? withLogin(context, operation, reply, readings.body?.values) : reply
}
