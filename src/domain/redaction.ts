/** What stands for a secret wherever something is shown; nothing of the secret's own length or letters. */
export const MASK = '***'

/** What headers and parameters are called that carry a secret, under whatever prefix; tokens that only turn a page are none. */
const SECRET_NAME =
  /cookie|secret|passw|passphrase|credential|signature|session|sessid|(?<!(?:page|next|continuation|max)[-_.]?)token|(?:api|access|account|client|function|functions|license|master|private|secret|shared|subscription)[-_.]?key|(?:^|[-_.[])(?:auth|authorization|jwt|pass|pwd|sid|sig)(?:[-_.\]]|$)|^(?:x-)?key$/i

/** Whether what goes by a name (of a header, a parameter, a field of a form) may be a secret of somebody's. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/**
 * A header's value, fit to be shown or kept.
 *
 * @param bearer what stands for the token of an Authorization
 */
export function redactHeader(name: string, value: string, bearer: string = MASK): string {
  if (name.toLowerCase() === 'authorization') return `Bearer ${bearer}`
  return isSecretName(name) ? MASK : mayHoldAddress(value) ? redactAddress(value) : value
}

/** A shorter key could be part of any word, and is hardly a real one. */
const SHORTEST_SECRET = 8

/**
 * Makes the function that hides some secrets wherever they stand in a text: in a
 * path, a body, a header of any name.
 *
 * @returns undefined where there is nothing to hide
 */
export function hider(secrets: readonly string[]): ((text: string) => string) | undefined {
  const hidden = secrets.filter(({ length }) => length >= SHORTEST_SECRET)
  if (hidden.length === 0) return undefined
  return (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, MASK), text)
}

/** Whether a value may be an address with something in it to hide, as a Referer is. */
export function mayHoldAddress(value: string): boolean {
  return value.includes('?') || value.includes('@')
}

/** An address or a target, fit to be shown or kept: without user, password and the values of secret parameters. */
export function redactAddress(address: string): string {
  const withoutUser = address.includes('@') ? address.replace(/\/\/[^/?#@\s]*@/g, `//${MASK}@`) : address
  return redactQuery(withoutUser)
}

/** The same for a query or a form: `api_key=***&limit=5`. What is before a "?" is no parameter. */
export function redactQuery(query: string): string {
  // A name may be written in percent.
  if (!query.includes('=') || !(query.includes('%') || SECRET_NAME.test(query) || SHORT_NAME.test(query))) return query
  return query
    .split(/([?&;#])/)
    .map((part) => {
      const end = part.indexOf('=')
      return end > 0 && isSecretName(decoded(part.slice(0, end))) ? `${part.slice(0, end)}=${MASK}` : part
    })
    .join('')
}

/** A name that only tells at its start and end, which in a query are not those of the text. */
const SHORT_NAME = /(?:key|auth|authorization|jwt|pass|pwd|sid|sig)\]?=/i

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
