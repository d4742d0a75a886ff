import type { Contract, Operation } from '../contract/contract.js'
import { isStateful } from '../contract/resource-data.js'
import type { HandlerResult } from '../domain/messages.js'
import type { Forward } from '../domain/upstream.js'
import { mockedOperation } from './operations/mocked-response.js'
import { recordHandler } from './operations/records.js'
import { overlay } from './overlay.js'
import type { Handler, RequestContext } from './request-context.js'

const handlers = new WeakMap<Contract, ReadonlyMap<string, Handler>>()

/** The handler of an operation that fits a resource. Prism mocks the others, and those that `--mock` names. */
export function findHandler({ id }: Operation, contract: Contract): Handler | undefined {
  let known = handlers.get(contract)
  if (known === undefined) {
    known = handlersOf(contract)
    handlers.set(contract, known)
  }
  return known.get(id)
}

function handlersOf({ operations, resources }: Contract): ReadonlyMap<string, Handler> {
  return new Map(
    operations.flatMap((operation): readonly (readonly [string, Handler])[] => {
      const { id, action } = operation
      const resource = resources.find(({ name }) => name === action?.resource)
      if (action === undefined || resource === undefined || !isStateful(operation)) return []
      return [[id, recordHandler(operation, action, resource)]]
    }),
  )
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
