import { BEARER, type ContractData, type KeyHeader, type KeyPlaces } from '../contract/contract-data.js'
import { decodePercent } from '../contract/query.js'
import { readKeyAt } from './key-places.js'
import type { ServiceRequest } from './messages.js'
import { replaceInQuery } from './other-key-places.js'
import { MASK } from './redaction.js'

export type { KeyHeader } from '../contract/contract-data.js'

/** @param list name, value, name, value … @param name in lower case */
export function headerInList(list: readonly string[], name: string): string | undefined {
  const place = list.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === name)
  return place === -1 ? undefined : list[place + 1]
}

export function isBearer({ name }: KeyHeader): boolean {
  return name === BEARER.name
}

/**
 * The same request with its key as a bearer token, which is all that the core reads. The raw headers keep the header
 * with the key; other places that may hold one are masked.
 *
 * @param isKnown of several keys, a known one counts
 */
export function withBearer(
  request: ServiceRequest,
  contract: Pick<ContractData, 'keyHeaders' | 'otherKeys'>,
  choices: readonly KeyPlaces[],
  isKnown: (token: string) => boolean,
): ServiceRequest {
  const { keyHeaders, otherKeys = [] } = contract
  const complete = choices.flatMap((places) => {
    const keys = places.flatMap((place) => {
      const token = readKeyAt(request, place)
      return token === undefined ? [] : [{ place, token }]
    })
    return keys.length < places.length ? [] : keys
  })
  const { token, place } = complete.find((value) => isKnown(value.token)) ?? complete[0] ?? {}
  const { authorization: _, ...others } = request.headers
  const headers: Record<string, string | readonly string[] | undefined> = others
  const secret = new Set(['authorization', ...keyHeaders.map(({ name }) => name.toLowerCase())])
  for (const name of secret) if (headers[name] !== undefined) headers[name] = MASK
  const queries = otherKeys.filter((key) => key.in === 'query')
  return {
    ...request,
    target: queries.reduce((target, { name }) => replaceInQuery(target, name, () => MASK), request.target),
    ...(place !== undefined && 'in' in place && { keyPlace: place }),
    headers: token === undefined ? headers : { ...headers, authorization: BEARER.prefix + token },
    rawHeaders: request.rawHeaders.map((item, index, all) => {
      const name = index % 2 === 0 ? '' : (all[index - 1]?.toLowerCase() ?? '')
      return secret.has(name) && name !== place?.name.toLowerCase() ? MASK : item
    }),
  }
}

/**
 * Whether a request came through a proxy. A proxy must name itself.
 * @source RFC 9110, section 7.6.3: Via; RFC 7239: Forwarded
 */
export function isProxied(headers: ServiceRequest['headers']): boolean {
  for (const name in headers) if (name === 'via' || name === 'forwarded' || name.startsWith('x-forwarded-')) return true
  return false
}

export const SPACE_BAGGAGE_KEY = 'sandbox-space'

/**
 * The value of `sandbox-space` in a `baggage` header, percent-decoded and without properties. Different values are joined
 * by a comma, which no name contains. Other members may be malformed. Undefined without the member.
 *
 * @source W3C Baggage, section 3.3: baggage-string
 */
export function readSpace(header: unknown): string | undefined {
  if (typeof header !== 'string' || !header.includes(SPACE_BAGGAGE_KEY)) return undefined
  const values = header.split(',').flatMap((member) => {
    const [, value] = /^[ \t]*sandbox-space[ \t]*=([^;]*)/.exec(member) ?? []
    return value === undefined ? [] : [decodePercent(value.trim())]
  })
  return values.length === 0 ? undefined : [...new Set(values)].join()
}

/** @source RFC 9110, section 5.6.2: token */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Longer lists are ignored. */
const LONGEST_LIST = 4096

/**
 * Allows our headers and all requested ones, since unknown headers have no effect. Listed by name, because `*` does not
 * cover Authorization. @source Fetch standard, CORS-preflight fetch
 */
export function allowedHeaders(own: readonly string[], asked: string | undefined): string {
  if (asked === undefined || asked.length > LONGEST_LIST) return own.join(', ')
  const known = new Set(own.map((name) => name.toLowerCase()))
  const others = asked.split(',').map((name) => name.trim())
  return [...own, ...others.filter((name) => NAME.test(name) && !known.has(name.toLowerCase()))].join(', ')
}
