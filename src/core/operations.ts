import type { Operation } from '../contract/contract.js'
import type { HandlerResult } from '../domain/messages.js'
import { createPet } from './operations/create-pet.js'
import { getPet } from './operations/get-pet.js'
import { listOrders } from './operations/list-orders.js'
import { listPets } from './operations/list-pets.js'
import { mockedOperation } from './operations/mocked-answer.js'
import type { Handler, RequestContext } from './request-context.js'

/** The operations that the sandbox implements; Prism mocks the others of a fuller contract, and those that --mock names. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map(Object.entries({ listPets, createPet, getPet, listOrders }))

export function handlerOf(operation: Operation): Handler | undefined {
  return operation.isMocked ? undefined : HANDLERS.get(operation.id)
}

export function operate(context: RequestContext, operation: Operation): HandlerResult {
  const { handler } = context
  return handler !== undefined && context.readings !== undefined
    ? handler(context, context.readings)
    : mockedOperation(context, operation)
}
