import { productOf } from '../domain/user-agent.js'
import type { Exchange } from './exchange-record.js'

type Sent = Pick<Exchange, 'key' | 'sender' | 'request'>

/** Distinguishes the clients of a log: a named sender, or else the key with the product of its User-Agent. */
export function clientOf({ key, sender, request }: Sent): string {
  const product = productOf(request.headers['user-agent'] ?? '')
  return sender ?? (product === '' ? key : `${key}/${product}`)
}

/** The short form, which several clients may share. */
export function clientName({ key, sender, request }: Sent): string {
  return sender ?? (productOf(request.headers['user-agent'] ?? '') || key)
}
