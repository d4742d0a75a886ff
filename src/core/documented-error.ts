import type { Operation } from '../contract/contract.js'
import { MESSAGE } from '../contract/resource-data.js'
import type { HandlerResult } from '../domain/messages.js'

/** An error in the form that a contract given with --spec documents for it, if that is not the service's own. */
export function documentedError({ action }: Operation, status: number, message = ''): HandlerResult | undefined {
  const error = action?.errors?.find((one) => one.status === status)
  if (error === undefined) return undefined
  const text = JSON.stringify(message).slice(1, -1)
  return { status, body: error.body.replaceAll(MESSAGE, () => text), contentType: error.contentType }
}
