import type { Operation } from '../contract/contract.js'
import type { HandlerResult } from '../domain/messages.js'
import type { Forward } from '../domain/upstream.js'
import { createPet } from './operations/create-pet.js'
import { getPet } from './operations/get-pet.js'
import { listOrders } from './operations/list-orders.js'
import { listPets } from './operations/list-pets.js'
import { mockedOperation } from './operations/mocked-answer.js'
import { overlaid } from './overlay.js'
import type { Handler, RequestContext } from './request-context.js'

/** The operations that the sandbox implements; Prism mocks the others of a fuller contract, and those that --mock names. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map(Object.entries({ listPets, createPet, getPet, listOrders }))

export function handlerOf(operation: Operation): Handler | undefined {
  return operation.isMocked ? undefined : HANDLERS.get(operation.id)
}

/** Carries an operation out, or says what is to be sent on to the real service. */
export function operate(context: RequestContext, operation: Operation): HandlerResult | Forward {
  const { realService } = context.space.shared
  if (realService === undefined) return carryOut(context, operation)
  const where = overlaid(context, operation, realService)
  switch (where.kind) {
    case 'local':
      return carryOut(context, operation)
    case 'refused':
      return where.answer
    case 'forward':
      return where
  }
}

function carryOut(context: RequestContext, operation: Operation): HandlerResult {
  const { handler } = context
  return handler !== undefined && context.readings !== undefined
    ? handler(context, context.readings)
    : mockedOperation(context, operation)
}
