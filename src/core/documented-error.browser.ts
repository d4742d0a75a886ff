import type { Operation } from '../contract/contract.js'
import type { HandlerResult } from '../domain/messages.js'

/** The errors of the packaged contract are the service's own. */
export function documentedError(_operation: Operation, _status: number, _message?: string): HandlerResult | undefined {
  return undefined
}
