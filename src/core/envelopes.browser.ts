import type { Values } from '../contract/contract.js'
import { recordText } from '../domain/records.js'
import type { ActionRequest } from './action-request.js'

/** The packaged contract has no envelopes. */
export function unwrapBody(request: ActionRequest): ActionRequest {
  return request
}

export function bodyText(_request: ActionRequest, value: Values): string {
  return recordText(value)
}
