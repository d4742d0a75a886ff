import type { Operation } from '../contract/contract.js'
import type { Answer } from '../domain/messages.js'
import { createPet } from './operations/create-pet.js'
import { getPet } from './operations/get-pet.js'
import { listOrders } from './operations/list-orders.js'
import { listPets } from './operations/list-pets.js'
import { mockOperation } from './operations/mock-operation.js'
import type { Handler, Visit } from './request-context.js'

/** The operations that the sandbox implements; Prism mocks the others of a fuller contract. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map(Object.entries({ listPets, createPet, getPet, listOrders }))

export function handlerOf(operation: Operation): Handler | undefined {
  return HANDLERS.get(operation.id)
}

export function operate(visit: Visit, operation: Operation): Answer | Promise<Answer> {
  const { handler } = visit
  return handler !== undefined && visit.readings !== undefined
    ? handler(visit, visit.readings)
    : mockOperation(visit, operation)
}
