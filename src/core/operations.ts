import type { Contract, Operation } from '../contract/contract.js'
import { isPetCatalogue, recordResources } from '../contract/resource-data.js'
import type { HandlerResult } from '../domain/messages.js'
import type { Forward } from '../domain/upstream.js'
import { mockedOperation } from './operations/mocked-answer.js'
import { createPet, getPet, listPets } from './operations/pets.js'
import { isPlainPetAction, recordHandler } from './operations/records.js'
import { overlay } from './overlay.js'
import type { Handler, RequestContext } from './request-context.js'

/** The contract declares no shape for orders. @source docs/specification.md, "Store endpoints" */
const listOrders: Handler = ({ space }) => ({ status: 200, body: space.ordersText })

const PET_HANDLERS = { list: listPets, create: createPet, get: getPet } as const

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

function handlersOf(contract: Contract): ReadonlyMap<string, Handler> {
  const kept = recordResources(contract)
  return new Map(
    contract.operations.flatMap(({ id, action, isMocked }) => {
      const resource = contract.resources.find(({ name }) => name === action?.resource)
      if (action === undefined || resource === undefined || isMocked) return []
      if (isPlainPetAction(action, resource) && Object.hasOwn(PET_HANDLERS, action.kind))
        return [[id, PET_HANDLERS[action.kind as keyof typeof PET_HANDLERS]]]
      return [[id, isPetCatalogue(resource) || kept.includes(resource) ? recordHandler : listOrders]]
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
