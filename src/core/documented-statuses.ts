import type { Operation } from '../contract/contract.js'

export function isDocumented({ responses, ranges }: Operation, status: number): boolean {
  return responses.has(status) || ranges?.includes(Math.floor(status / 100)) === true
}

/** Whether an operation checks conditions such as `If-Match`: it documents a 412, or all errors as one. */
export function checksConditions(operation: Operation): boolean {
  return isDocumented(operation, 412) || operation.hasDefault === true
}
