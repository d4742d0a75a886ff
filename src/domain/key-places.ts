import { BEARER, type ContractData, type KeyHeader, type KeyPlace, type KeyPlaces } from '../contract/contract-data.js'
import type { ServiceRequest } from './messages.js'
import { basicCredentials, readOtherKey } from './other-key-places.js'

type KeyData = Pick<ContractData, 'keyHeaders' | 'otherKeys'>
type StandIn = Pick<ContractData, 'isStandIn'>

/** Alternatives for the key of an operation, or of any request. */
export function keyChoices({ keyHeaders, otherKeys = [] }: KeyData, own?: readonly KeyPlaces[]): readonly KeyPlaces[] {
  return own ?? [...keyHeaders, ...otherKeys].map((place) => [place])
}

/** For a service that is not the sandbox: without the bearer token that stands in for other places. */
export function documentedChoices(contract: KeyData & StandIn, own?: readonly KeyPlaces[]) {
  const choices = keyChoices(contract, own)
  const documented = choices.filter((places) => !contract.isStandIn || places.some((place) => 'in' in place))
  return documented.length === 0 ? choices : documented
}

/** Undefined if the request has no key there. */
export function readKeyAt(request: ServiceRequest, place: KeyPlace): string | undefined {
  if ('in' in place) return readOtherKey(request, place)
  const value = request.headers[place.name.toLowerCase()]
  const text = typeof value === 'string' ? value.trim() : ''
  const hasPrefix = text.toLowerCase().startsWith(place.prefix.toLowerCase())
  return hasPrefix ? text.slice(place.prefix.length).trim() || undefined : undefined
}

/** A header for samples of requests. */
export function sampleHeader({ keyHeaders, otherKeys = [], isStandIn }: KeyData & StandIn): KeyHeader {
  const named = isStandIn ? otherKeys.find(({ scheme }) => scheme !== undefined) : undefined
  return named === undefined ? keyHeaders[0] : { name: named.name, prefix: `${named.scheme} ` }
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
