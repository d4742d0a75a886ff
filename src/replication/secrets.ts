import type { OtherKey } from '../contract/contract-data.js'
import type { Spaces } from '../core/spaces.js'
import { readAuthorization, type SentKey, sentTokens } from '../domain/keys.js'
import type { ServiceRequest } from '../domain/messages.js'
import { createHider, MASK } from '../domain/redaction.js'
import { digestOf } from '../system/runtime.js'

/** Around a placeholder: never unescaped in JSON. @source RFC 8259, section 7 */
const [BEGIN, END] = ['\u0001', '\u0002']
const PLACEHOLDER = new RegExp(`${BEGIN}([A-Za-z0-9]+)${END}`, 'g')

/** A text in JSON; with a colon, the name of a property. */
const TEXT = /"(?:[^"\\]|\\.)*":?/g

/** Shorter keys protect nothing, and may be words of a text, or of the log itself. */
const MIN_SECRET_LENGTH = 8

/**
 * Keeps keys given at the start (--api-key), which may be real ones, out of the log and of checkpoints. Replaces each
 * by a digest: a group may go on with other keys. Where its key is gone, the text is masked.
 */
export class HiddenKeys {
  readonly #texts: ReadonlyMap<string, string>
  readonly #digests: ReadonlyMap<string, string>
  readonly #pattern: RegExp

  constructor(keys: readonly string[]) {
    const secrets = keys.filter(({ length }) => length >= MIN_SECRET_LENGTH)
    const texts = [...new Set(secrets.flatMap((key) => [key, encodeURIComponent(key)]))]
    const entries = texts.map((text) => [digestName(text), JSON.stringify(text).slice(1, -1)] as const)
    this.#texts = new Map(entries)
    this.#digests = new Map(entries.map(([digest, text]) => [text, digest]))
    const patterns = [...this.#digests.keys()]
      // The longest first: a key may be a prefix of another.
      .toSorted((a, b) => b.length - a.length)
      .map((key) => key.replaceAll(/[^A-Za-z0-9]/g, '\\$&'))
    this.#pattern = new RegExp(patterns.join('|'), 'g')
  }

  hide(json: string): string {
    if (this.#digests.size === 0) return json
    const hidden = (key: string) => BEGIN + this.#digests.get(key) + END
    return json.replaceAll(TEXT, (text) => (text.endsWith(':') ? text : text.replaceAll(this.#pattern, hidden)))
  }

  show(text: string): string {
    return text.replaceAll(PLACEHOLDER, (_, digest: string) => this.#texts.get(digest) ?? MASK)
  }
}

function digestName(key: string): string {
  return digestOf(key)
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 16)
}

/**
 * Replaces an unknown token, which may be a real key and must not be logged. The response stays the same.
 * @returns the same request if its token is known
 */
export function withoutUnknownToken(given: ServiceRequest, spaces: Spaces): ServiceRequest {
  const { keys, shared } = spaces.default
  const { authorization } = given.headers
  const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
  const known = sent && keys.get(sent.token)
  const isPublic = known !== undefined && known.label === undefined
  const request = withoutCookies(given, shared.contract.otherKeys ?? [], isPublic)
  const { target, headers, rawHeaders, body, keyPlace } = request
  if (authorization === undefined) return request
  const names = new Set(['authorization', ...shared.contract.keyHeaders.map(({ name }) => name.toLowerCase())])
  const isKey = (index: number) => index % 2 === 1 && names.has(String(rawHeaders[index - 1]).toLowerCase())
  const places = rawHeaders.flatMap((_, index) => (isKey(index) ? [index] : []))
  const isKnown = known !== undefined
  // Encoded, it would not be found as text.
  const isElsewhere = keyPlace !== undefined && !isPublic
  if (isKnown && places.length <= 1 && !isElsewhere) return request
  const value = isKnown ? authorization : shownAuthorization(String(authorization), sent, spaces)
  const hide = (isKnown ? undefined : createHider(sentTokens(authorization))) ?? ((text: string) => text)
  return {
    ...request,
    target: hide(target),
    headers: { ...mapTexts(headers, hide), authorization: value },
    rawHeaders: rawHeaders.map((item, index) =>
      isKey(index) ? (index === places[0] ? String(value) : OTHER) : hide(item),
    ),
    body: body instanceof Uint8Array ? Buffer.from(hide(Buffer.from(body).toString('latin1')), 'latin1') : body,
  }
}

/** Masks keys in cookies, also beside the key that counts. @param isPublic that key need not be masked */
function withoutCookies(request: ServiceRequest, places: readonly OtherKey[], isPublic: boolean): ServiceRequest {
  const { keyPlace, headers, rawHeaders } = request
  const names = places.flatMap(({ in: where, name }) =>
    where === 'cookie' && !(isPublic && keyPlace?.in === where && keyPlace.name === name) ? [`${name}=`] : [],
  )
  if (names.length === 0) return request
  const masked = (part: string) => {
    const name = names.find((name) => part.startsWith(name))
    return name === undefined ? part : name + MASK
  }
  const hide = (text: string, name = '') =>
    name.toLowerCase() === 'cookie'
      ? text
          .split(/(;\s*)/)
          .map(masked)
          .join('')
      : text
  return {
    ...request,
    headers: mapTexts(headers, hide),
    rawHeaders: rawHeaders.map((item, index) => (index % 2 === 0 ? item : hide(item, rawHeaders[index - 1]))),
  }
}

function mapTexts(headers: ServiceRequest['headers'], map: (text: string, name: string) => string) {
  const entries = Object.entries(headers).map(([name, one]) => [name, typeof one === 'string' ? map(one, name) : one])
  return Object.fromEntries(entries) as ServiceRequest['headers']
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
