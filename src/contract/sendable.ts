import { quote } from './excerpt.js'

/** @source RFC 9110, section 5.6.2 */
export const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
/** Latin-1 without control characters except the tab, as Node writes. @source RFC 9110, section 5.5 */
export const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

interface Sendable {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** Why a response cannot be sent, as a sentence part. */
export function findUnsendable({ status, headers }: Sendable): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 599) return `the status ${status} must be from 200 to 599`
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) return `the header ${quote(name)} has no valid name`
    if (!FIELD_VALUE.test(value)) return `the header "${name}" cannot hold ${quote(value)}`
  }
  return undefined
}

/** @source RFC 9110, section 15.3.5; RFC 9110, section 15.3.6; RFC 9110, section 15.4.5 */
export function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}
