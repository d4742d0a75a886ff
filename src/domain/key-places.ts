import { BEARER, type ContractData, type KeyPlace, type KeyPlaces, type OtherKey } from '../contract/contract-data.js'
import { decodePercent } from '../contract/query.js'
import type { ServiceRequest } from './messages.js'

type KeyData = Pick<ContractData, 'keyHeaders' | 'otherKeys'>

/** Alternatives for the key of an operation, or of any request. */
export function keyChoices({ keyHeaders, otherKeys = [] }: KeyData, own?: readonly KeyPlaces[]): readonly KeyPlaces[] {
  return own ?? [...keyHeaders, ...otherKeys].map((place) => [place])
}

/** For a service that is not the sandbox: without the bearer token that stands in for other places. */
export function documentedChoices(contract: KeyData & Pick<ContractData, 'isStandIn'>, own?: readonly KeyPlaces[]) {
  const choices = keyChoices(contract, own)
  const documented = choices.filter((places) => !contract.isStandIn || places.some((place) => 'in' in place))
  return documented.length === 0 ? choices : documented
}

/** Undefined if the request has no key there. */
export function readKeyAt({ target, headers }: ServiceRequest, place: KeyPlace): string | undefined {
  const { name } = place
  if (!('in' in place)) {
    const value = headers[name.toLowerCase()]
    const text = typeof value === 'string' ? value.trim() : ''
    const hasPrefix = text.toLowerCase().startsWith(place.prefix.toLowerCase())
    return hasPrefix ? text.slice(place.prefix.length).trim() || undefined : undefined
  }
  const authorization = typeof headers.authorization === 'string' ? headers.authorization.trim() : ''
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization) ?? []
  switch (place.in) {
    case 'basic': {
      const [, user, password] = /^([^:]*):(.*)$/s.exec(decodeBase64(encoded ?? '')) ?? []
      return password || user || undefined
    }
    case 'authorization':
      return encoded === undefined
        ? authorization.split(/\s+/).at(-1) || undefined
        : readKeyAt({ target, headers } as ServiceRequest, { ...place, in: 'basic' })
    case 'cookie': {
      const pairs = String(headers.cookie ?? '').split(/;\s*/)
      const found = pairs.find((pair) => pair.startsWith(`${name}=`))
      return found === undefined ? undefined : decodePercent(found.slice(name.length + 1))
    }
    case 'query': {
      let key: string | undefined
      replaceInQuery(target, name, (value) => {
        key = decodePercent(value)
        return value
      })
      return key
    }
  }
}

/** What a client sends to have a key in all places of the first alternative that consists of headers, or else of the first. */
export function keyParts(choices: readonly KeyPlaces[], key: string) {
  const places = choices.find((keyPlaces) => keyPlaces.every((place) => !('in' in place))) ?? choices[0] ?? [BEARER]
  const headers = places.flatMap((place): readonly (readonly [name: string, value: string])[] => {
    if (!('in' in place)) return [[place.name, place.prefix + key]]
    if (place.in === 'query') return []
    if (place.in === 'cookie') return [['Cookie', `${place.name}=${encodeURIComponent(key)}`]]
    return [[place.name, place.in === 'basic' ? basicCredentials(key) : `${place.scheme ?? 'Bearer'} ${key}`]]
  })
  const query = places.flatMap((place) =>
    'in' in place && place.in === 'query' ? [`${encodeURIComponent(place.name)}=${encodeURIComponent(key)}`] : [],
  )
  return { headers, query: query.join('&') }
}

/**
 * Puts a key where the client had its own.
 * @param target has a masked key if it was in the query @param credentials the client's Authorization header
 * @returns the target, with a header unless the key is in the query
 */
export function placeKey(
  key: string,
  { in: place, name }: OtherKey,
  target: string,
  credentials: string,
): readonly [target: string, ...header: string[]] {
  if (place === 'query') return [replaceInQuery(target, name, () => encodeURIComponent(key))]
  if (place === 'cookie') return [target, 'cookie', `${name}=${encodeURIComponent(key)}`]
  const [, encoded] = /^basic +(\S+)$/i.exec(credentials) ?? []
  if (encoded === undefined) return [target, 'authorization', [...credentials.split(/\s+/).slice(0, -1), key].join(' ')]
  const [user = '', password = ''] = decodeBase64(encoded).split(':')
  return [target, 'authorization', basicCredentials(password === '' || key.includes(':') ? key : `${user}:${key}`)]
}

/** @param key a user without a password, or both */
function basicCredentials(key: string): string {
  return `Basic ${btoa(key.includes(':') ? key : `${key}:`)}`
}

export function replaceInQuery(target: string, name: string, replace: (value: string) => string): string {
  const start = target.indexOf('?') + 1
  if (start === 0) return target
  const pairs = target.slice(start).split('&')
  const replaced = pairs.map((pair) => {
    const equals = pair.indexOf('=')
    const isIt = equals !== -1 && decodePercent(pair.slice(0, equals)) === name
    return isIt ? pair.slice(0, equals + 1) + replace(pair.slice(equals + 1)) : pair
  })
  return target.slice(0, start) + replaced.join('&')
}

function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
