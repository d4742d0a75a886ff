import type { Spaces } from '../core/spaces.js'
import { readAuthorization, type SentKey, sentTokens } from '../domain/keys.js'
import type { ServiceRequest } from '../domain/messages.js'
import { createHider } from '../domain/redaction.js'
import { digestOf } from '../system/runtime.js'

/** Never unescaped in JSON. @source RFC 8259, section 7 */
const MARK = '\u0001'

/** Shorter keys may be part of a word, and are unlikely to be real. */
const MIN_SECRET_LENGTH = 8

/**
 * Keeps keys given at the start (--api-key), which may be real ones, out of the log and of checkpoints. Replaces each
 * by its index: all replicas have the same keys in the same order.
 */
export class HiddenKeys {
  readonly #keys: readonly (readonly [key: string, placeholder: string])[]

  constructor(keys: readonly string[]) {
    this.#keys = keys
      // The longest first: a key may be a prefix of another.
      .map((key, index) => [JSON.stringify(key).slice(1, -1), `${MARK}${index}${MARK}`] as const)
      .filter(([key]) => key.length >= MIN_SECRET_LENGTH)
      .sort(([a], [b]) => b.length - a.length)
  }

  hide(json: string): string {
    return this.#keys.reduce((text, [key, placeholder]) => text.replaceAll(key, placeholder), json)
  }

  show(text: string): string {
    if (!text.includes(MARK)) return text
    return this.#keys.reduce((shown, [key, placeholder]) => shown.replaceAll(placeholder, () => key), text)
  }
}

/**
 * Replaces an unknown token, which may be a real key and must not be logged. The response stays the same.
 * @returns the same request if its token is known
 */
export function withoutUnknownToken(request: ServiceRequest, spaces: Spaces): ServiceRequest {
  const { target, headers, rawHeaders, body } = request
  const { authorization } = headers
  if (authorization === undefined) return request
  const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
  const { keys, shared } = spaces.default
  const names = new Set(['authorization', ...shared.contract.keyHeaders.map(({ name }) => name.toLowerCase())])
  const isKey = (index: number) => index % 2 === 1 && names.has(String(rawHeaders[index - 1]).toLowerCase())
  const places = rawHeaders.flatMap((_, index) => (isKey(index) ? [index] : []))
  const isKnown = sent !== undefined && keys.has(sent.token)
  if (isKnown && places.length <= 1) return request
  const value = isKnown ? authorization : shownAuthorization(String(authorization), sent, spaces)
  const hide = (isKnown ? undefined : createHider(sentTokens(authorization))) ?? ((text: string) => text)
  const shown = Object.entries(headers).map(([name, one]) => [name, typeof one === 'string' ? hide(one) : one])
  return {
    ...request,
    target: hide(target),
    headers: { ...Object.fromEntries(shown), authorization: value },
    rawHeaders: rawHeaders.map((item, index) =>
      isKey(index) ? (index === places[0] ? String(value) : OTHER) : hide(item),
    ),
    body: body instanceof Uint8Array ? Buffer.from(hide(Buffer.from(body).toString('latin1')), 'latin1') : body,
  }
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
