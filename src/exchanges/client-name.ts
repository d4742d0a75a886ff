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

const BROWSERS = /\b(Firefox|Edg|Chrome|Safari)\//
const MAX_LENGTH = 40

/** `curl` of `curl/8.5.0`; browsers name themselves last. */
function productOf(userAgent: string): string {
  const [, browser] = BROWSERS.exec(userAgent) ?? []
  return browser ?? userAgent.split(/[/\s]/, 1).join('').slice(0, MAX_LENGTH)
}
