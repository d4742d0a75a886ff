import type { Operation } from '../contract/contract.js'
import type { HandlerResult } from '../domain/messages.js'
import { fillError } from './fill-error.js'

/** An error of the service in the status and the form that the contract documents for it, if it documents one. */
export function documentedError(operation: Operation, given: HandlerResult): HandlerResult {
  if (given.problem === undefined) return given
  const { code } = given.problem
  const isInvalid = code === 'invalid_request' && given.status === 400
  const isUnprocessable = isInvalid && !isDocumented(operation, 400) && operation.responses.has(422)
  const status = isUnprocessable ? 422 : given.status
  const { outside: _, ...response } = { ...given, status }
  const wanted = [String(status), `${String(status)[0]}xx`, 'default']
  const exact = operation.responses.has(status) ? wanted.slice(0, 1) : wanted
  const error = exact.flatMap((one) => operation.errors?.find((error) => error.status === one) ?? [])[0]
  const isKnown = isDocumented(operation, status) || error !== undefined
  const body =
    error === undefined && status !== given.status
      ? given.body.toString().replace('"status":400', '"status":422')
      : given.body
  if (error === undefined) return isKnown ? { ...response, body } : { ...given, outside: true }
  return { ...response, contentType: error.contentType, body: fillError(error, status, given.problem) }
}

function isDocumented({ responses, ranges }: Operation, status: number): boolean {
  return responses.has(status) || ranges?.includes(Math.floor(status / 100)) === true
}
