import type { Contract, Operation } from '../contract/contract.js'
import { isStateful } from '../contract/resource-data.js'
import type { HandlerResult } from '../domain/messages.js'
import type { Forward } from '../domain/upstream.js'
import { mockedOperation } from './operations/mocked-response.js'
import { recordHandler } from './operations/records.js'
import { overlay } from './overlay.js'
import type { Handler, RequestContext } from './request-context.js'

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

/** Carries an operation out, or forwards it to the real service. */
export function operate(context: RequestContext, operation: Operation): HandlerResult | Forward {
  const { handler, readings, space } = context
  const { realService } = space.shared
  const elsewhere = realService && overlay(context, operation, realService)
  if (elsewhere !== undefined) return elsewhere
  return handler !== undefined && readings !== undefined
    ? handler(context, readings)
    : mockedOperation(context, operation)
}
