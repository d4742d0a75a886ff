import { BEARER, type KeyHeader } from '../contract/contract-data.js'
import { decodePercent } from '../contract/query.js'

/** Replaces a secret; hides its length too. */
export const MASK = '***'

/** Headers and parameters with secrets, with any prefix. Page tokens are not secret. */
const SECRET_NAME =
  /cookie|secret|passw|passphrase|credential|signature|session|sessid|(?<!(?:page|next|continuation|max)[-_.]?)token|(?:api|access|account|client|function|functions|license|master|private|secret|shared|subscription)[-_.]?key|(?:^|[-_.[])(?:auth|authorization|jwt|pass|pwd|sid|sig)(?:[-_.\]]|$)|^(?:x-)?key$/i

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** @param key replaces the API key */
export function redactHeader(
  name: string,
  value: string,
  keyHeaders: readonly KeyHeader[] = [BEARER],
  key: string = MASK,
): string {
  const lower = name.toLowerCase()
  for (const header of keyHeaders)
    if (header.name.toLowerCase() === lower) return value === MASK ? MASK : header.prefix + key
  return isSecretName(name) ? MASK : mayHoldAddress(value) ? redactAddress(value) : value
}

/** Shorter keys may be part of a word. */
const SHORTEST_SECRET = 8

/** Returns a function that masks secrets in a text; undefined without secrets. */
export function createHider(secrets: readonly string[]): ((text: string) => string) | undefined {
  const hidden = secrets.filter(({ length }) => length >= SHORTEST_SECRET)
  if (hidden.length === 0) return undefined
  return (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, MASK), text)
}

/** A value such as a Referer may be an address with a secret. */
export function mayHoldAddress(value: string): boolean {
  return value.includes('?') || value.includes('@')
}

/** Removes user, password and the values of secret parameters. */
export function redactAddress(address: string): string {
  const withoutUser = address.includes('@') ? address.replace(/\/\/[^/?#@\s]*@/g, `//${MASK}@`) : address
  return redactQuery(withoutUser)
}

/** A query or form: `api_key=***&limit=5`. Text before "?" is kept. */
export function redactQuery(query: string): string {
  if (!query.includes('=') || !(query.includes('%') || SECRET_NAME.test(query) || SHORT_NAME.test(query))) return query
  return query
    .split(/([?&;#])/)
    .map((part) => {
      const end = part.indexOf('=')
      return end > 0 && isSecretName(decodePercent(part.slice(0, end))) ? `${part.slice(0, end)}=${MASK}` : part
    })
    .join('')
}

/** Matched by SECRET_NAME only at the start and end of a text. */
const SHORT_NAME = /(?:key|auth|authorization|jwt|pass|pwd|sid|sig)\]?=/i
