import type { Spaces } from '../core/spaces.js'
import { readAuthorization, sentTokens } from '../domain/keys.js'
import type { ServiceRequest } from '../domain/messages.js'
import { hider } from '../domain/redaction.js'
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
  const { authorization } = request.headers
  if (authorization === undefined) return request
  const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
  const { keys, shared } = spaces.default
  const names = new Set(['authorization', ...shared.contract.keyHeaders.map(({ name }) => name.toLowerCase())])
  if (sent === undefined) return withKey(withoutToken(request), names, 'Other ***')
  const { token, space } = sent
  if (keys.has(token)) return isRepeated(request, names) ? withKey(request, names, authorization) : request
  const isSpace = space !== '' && spaces.canOpen(space, token)
  const stranger = token === '' ? '' : isSpace ? token : String(authorization)
  const shown = shared.anyKey && stranger !== '' ? `stranger-${digestOf(stranger).replaceAll(/\W/g, '')}` : 'unknown'
  return withKey(withoutToken(request), names, `Bearer ${token === '' ? '~' : shown}${isSpace ? `~${space}` : ''}`)
}

/** The same request, whose target, headers and body do not repeat its token. */
function withoutToken(request: ServiceRequest): ServiceRequest {
  const hide = hider(sentTokens(request.headers.authorization))
  if (hide === undefined) return request
  const { target, headers, rawHeaders, body } = request
  const shown = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? hide(value) : value])
  return {
    ...request,
    target: hide(target),
    headers: Object.fromEntries(shown),
    rawHeaders: rawHeaders.map(hide),
    body: body instanceof Uint8Array ? Buffer.from(hide(Buffer.from(body).toString('latin1')), 'latin1') : body,
  }
}

function isRepeated({ rawHeaders }: ServiceRequest, names: ReadonlySet<string>): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && names.has(name.toLowerCase())).length > 1
}

/** @param names lower-case names of the headers that may hold the key */
function withKey(
  request: ServiceRequest,
  names: ReadonlySet<string>,
  value: string | readonly string[],
): ServiceRequest {
  const { headers, rawHeaders } = request
  let isFirst = true
  const written = rawHeaders.map((item, index) => {
    if (index % 2 === 0 || !names.has(rawHeaders[index - 1]?.toLowerCase() ?? '')) return item
    const shown = isFirst ? String(value) : 'Other ***'
    isFirst = false
    return shown
  })
  return { ...request, headers: { ...headers, authorization: value }, rawHeaders: written }
}
