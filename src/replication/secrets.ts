import type { Spaces } from '../core/spaces.js'
import { readAuthorization, type SentKey, sentTokens } from '../domain/keys.js'
import type { ServiceRequest } from '../domain/messages.js'
import { createHider, MASK } from '../domain/redaction.js'
import { digestOf } from '../system/runtime.js'

/** Around a placeholder: never unescaped in JSON. @source RFC 8259, section 7 */
const [BEGIN, END] = ['\u0001', '\u0002']
const PLACEHOLDER = new RegExp(`${BEGIN}(\\d+)${END}`, 'g')

/** Shorter keys may be part of a word: they are hidden where they stand alone. */
const MIN_SECRET_LENGTH = 8

/**
 * Keeps keys given at the start (--api-key), which may be real ones, out of the log and of checkpoints. Replaces each
 * by its index: all replicas have the same keys in the same order.
 */
export class HiddenKeys {
  readonly #keys: readonly string[]
  readonly #pattern: RegExp

  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => JSON.stringify(key).slice(1, -1))
    const patterns = this.#keys
      // The longest first: a key may be a prefix of another.
      .toSorted((a, b) => b.length - a.length)
      .map((key) => {
        const text = key.replaceAll(/[^A-Za-z0-9]/g, '\\$&')
        return key.length < MIN_SECRET_LENGTH ? `(?<![A-Za-z0-9])${text}(?![A-Za-z0-9])` : text
      })
    this.#pattern = new RegExp(patterns.join('|'), 'g')
  }

  hide(json: string): string {
    if (this.#keys.length === 0) return json
    return json.replaceAll(this.#pattern, (key) => `${BEGIN}${this.#keys.indexOf(key)}${END}`)
  }

  show(text: string): string {
    return text.replaceAll(PLACEHOLDER, (_, index) => String(this.#keys[index]))
  }
}

/**
 * Replaces an unknown token, which may be a real key and must not be logged. The response stays the same.
 * @returns the same request if its token is known
 */
export function withoutUnknownToken(request: ServiceRequest, spaces: Spaces): ServiceRequest {
  const { target, headers, rawHeaders, body, keyPlace } = request
  const { authorization } = headers
  if (authorization === undefined) return request
  const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
  const { keys, shared } = spaces.default
  const cookie = keyPlace?.in === 'cookie' ? keyPlace.name : undefined
  const names = new Set(['authorization', ...shared.contract.keyHeaders.map(({ name }) => name.toLowerCase())])
  const isKey = (index: number) => index % 2 === 1 && names.has(String(rawHeaders[index - 1]).toLowerCase())
  const places = rawHeaders.flatMap((_, index) => (isKey(index) ? [index] : []))
  const known = sent && keys.get(sent.token)
  const isKnown = known !== undefined
  // Encoded, it would not be found as text.
  const isElsewhere = known?.label !== undefined && keyPlace !== undefined
  if (isKnown && places.length <= 1 && !isElsewhere) return request
  const value = isKnown ? authorization : shownAuthorization(String(authorization), sent, spaces)
  const hideToken = (isKnown ? undefined : createHider(sentTokens(authorization))) ?? ((text: string) => text)
  const hide = (text: string, name = '') =>
    hideToken(cookie !== undefined && name.toLowerCase() === 'cookie' ? withoutCookie(text, cookie) : text)
  const shown = Object.entries(headers).map(([name, one]) => [name, typeof one === 'string' ? hide(one, name) : one])
  return {
    ...request,
    target: hide(target),
    headers: { ...Object.fromEntries(shown), authorization: value },
    rawHeaders: rawHeaders.map((item, index) =>
      isKey(index) ? (index === places[0] ? String(value) : OTHER) : hide(item, rawHeaders[index - 1]),
    ),
    body: body instanceof Uint8Array ? Buffer.from(hide(Buffer.from(body).toString('latin1')), 'latin1') : body,
  }
}

function withoutCookie(header: string, name: string): string {
  const parts = header.split(/(;\s*)/)
  return parts.map((part) => (part.startsWith(`${name}=`) ? `${name}=${MASK}` : part)).join('')
}

const OTHER = 'Other ***'

/** Equal tokens stay equal if any key is accepted, and a space stays. */
function shownAuthorization(authorization: string, sent: SentKey | undefined, spaces: Spaces): string {
  if (sent === undefined) return OTHER
  const { token, space } = sent
  if (token === '') return 'Bearer ~'
  const isSpace = space !== '' && spaces.canOpen(space, token)
  const digest = digestOf(isSpace ? token : authorization).replaceAll(/\W/g, '')
  return `Bearer ${spaces.default.shared.anyKey ? `stranger-${digest}` : 'unknown'}${isSpace ? `~${space}` : ''}`
}
