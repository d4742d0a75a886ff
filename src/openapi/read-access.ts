import { BASE, readBasePath } from '../contract/base-path.js'
import {
  BEARER,
  type ContractData,
  type KeyHeader,
  type KeyPlace,
  type KeyPlaces,
  type OtherKey,
} from '../contract/contract-data.js'
import type { Place } from '../contract/document.js'
import type { OperationShape } from './operations.js'

type Keys = Pick<ContractData, 'keyHeaders' | 'otherKeys' | 'isStandIn' | 'hasJwt'>
type Access = Keys & Pick<ContractData, 'basePath' | 'notes'>

/** Whether an operation needs no key: nothing is required of it, or nothing is one of the alternatives. */
export function isPublic(root: Place, operation: Place): boolean {
  const place = [operation, root].find((item) => item.child('security') !== undefined)
  // Without any in the document, its author has left out what the 401 is for; else it is a wrong password.
  if (place === undefined)
    return securitySchemes(root).size === 0 || !operation.child('responses')?.child('401') || isRequiredSomewhere(root)
  const required = place.items('security')
  return required.length === 0 || required.some((item) => Object.keys(item.object()).length === 0)
}

const required = new WeakMap<Place, boolean>()

/** Whether an operation of the document requires a key itself. */
function isRequiredSomewhere(root: Place): boolean {
  const known = required.get(root)
  if (known !== undefined) return known
  const items = Object.values(Object(root.child('paths')?.value)).map(Object)
  const found = items.some((item) => Object.values(item).some((value) => Object(value).security?.length > 0))
  required.set(root, found)
  return found
}

/** How clients reach the service, and what of the document the sandbox replaces. @source docs/spec.md, "Address and keys" */
export function readAccess(root: Place, operations: readonly OperationShape[], servers: readonly string[]): Access {
  const url = servers.find((server) => !/^wss?:/i.test(server)) ?? servers[0] ?? '/'
  const path = pathOf(url)
  const { notes, ...keys } = readKeyPlaces(root, operations)
  if (path !== undefined) return { basePath: path, ...keys, notes: [...notes, ...otherServers(operations, path)] }
  const note = `The server ${JSON.stringify(url)} has no usable path. Without --base-path, the sandbox serves under /.`
  return { basePath: '', ...keys, notes: [note, ...notes] }
}

/** Variables without a value may be in the host. */
function pathOf(url: string): string | undefined {
  const path = url.replace(/^(?:[a-z][a-z\d+.-]*:)?\/\/[^/?#]*/i, '')
  const isUsable = URL.canParse(url.replaceAll(/\{[^{}]*\}/g, 'x'), BASE) && !/[{}]|%7[bd]/i.test(path)
  return isUsable ? readBasePath(new URL(path, BASE).pathname) : undefined
}

/** Operations that the contract has elsewhere. @source OpenAPI specification: Path Item Object */
function otherServers(operations: readonly OperationShape[], path: string): readonly string[] {
  const elsewhere = operations.filter(({ item, place }) => {
    const [own] = [place, item].map((entry) => entry.items('servers')).find((all) => all.length > 0) ?? []
    const other = own && pathOf(own.string('url') ?? '/')
    return other !== undefined && other !== path
  })
  if (elsewhere.length === 0) return []
  const ids = elsewhere.map(({ id }) => id).join(', ')
  return [
    `The sandbox serves ${ids} under ${path || '/'}, although the contract has servers with another path for them.`,
  ]
}

/** @source RFC 9110, section 5.6.2: token */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

function readKeyPlaces(root: Place, operations: readonly OperationShape[]): Keys & Pick<Access, 'notes'> {
  const places = [root, ...operations.map(({ place }) => place)]
  const required = new Map(
    places
      .flatMap((place) => place.items('security'))
      .flatMap((place) => Object.keys(place.object()).map((name) => [name, place.name] as const))
      .reverse(),
  )
  const all = securitySchemes(root)
  const schemes = required.size === 0 ? [...all] : [...all].filter(([name]) => required.has(name))
  const found = new Map<string, KeyHeader>()
  const otherKeys: OtherKey[] = []
  const unknown = [...required]
    .filter(([name]) => !all.has(name))
    .map(([name, place]) => `${JSON.stringify(name)} (not declared, although ${place} names it)`)
  for (const [title, scheme] of schemes) {
    const place = keyPlace(scheme)
    if (place === undefined) unknown.push(`${JSON.stringify(title)} (${kindOf(scheme)})`)
    else if ('in' in place) otherKeys.push(place)
    else found.set(place.name.toLowerCase(), place)
  }
  const [first = BEARER, ...more] = found.values()
  const keyHeaders = [first, ...more] as const
  const accepted = keyHeaders.map(({ name, prefix }) => `${name}: ${prefix}<key>`).join(' or ')
  const notes =
    unknown.length === 0 ? [] : [`Instead of ${unknown.join(', ')}, the sandbox accepts API keys as ${accepted}.`]
  const hasJwt = schemes.some(([, scheme]) => /\bjwt\b/i.test(scheme.string('bearerFormat') ?? ''))
  return {
    keyHeaders,
    ...(otherKeys.length > 0 && { otherKeys, isStandIn: found.size === 0 }),
    ...(hasJwt && { hasJwt }),
    notes,
  }
}

function securitySchemes(root: Place): ReadonlyMap<string, Place> {
  return new Map(root.child('components')?.entries('securitySchemes'))
}

/**
 * The alternatives for the key of an operation. Schemes that have no place for a key need none beside others, and the
 * contract's headers stand in for them alone. Without any header in the contract, a bearer token does for each scheme.
 *
 * @returns undefined if each place of the contract does
 */
export function readKeys(
  root: Place,
  operation: Place,
  { keyHeaders, otherKeys = [], isStandIn }: Keys,
): readonly KeyPlaces[] | undefined {
  const schemes = securitySchemes(root)
  const place = [operation, root].find((item) => item.child('security') !== undefined)
  const alternatives = (place?.items('security') ?? []).flatMap((item): readonly KeyPlaces[] => {
    const names = Object.keys(item.object())
    const [first, ...more] = names.flatMap((name) => {
      const scheme = schemes.get(name)
      return (scheme && keyPlace(scheme)) ?? []
    })
    if (first !== undefined) return [[first, ...more]]
    return names.length === 0 ? [] : keyHeaders.map((header) => [header] as const)
  })
  if (isStandIn && alternatives.some((alternative) => alternative.length === 1)) alternatives.push([BEARER])
  const distinct = new Map(alternatives.map((alternative) => [JSON.stringify(alternative), alternative]))
  const isDefault = [...keyHeaders, ...otherKeys].every((value) => distinct.has(JSON.stringify([value])))
  return distinct.size === 0 || isDefault ? undefined : [...distinct.values()]
}

/** Their credentials are computed, and hold no key. */
const COMPUTED = /^(?:digest|hoba|mutual|negotiate|ntlm|scram-.*|gnap|vapid|concealed|dpop)$/

function keyPlace(scheme: Place): KeyPlace | undefined {
  const [type, kind, place] = [scheme.string('type'), scheme.string('scheme'), scheme.string('in')]
  if (type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && /^bearer$/i.test(kind ?? ''))) return BEARER
  const authorization = { in: 'authorization', name: BEARER.name } as const
  if (type === 'http') {
    if (/^basic$/i.test(kind ?? '')) return { in: 'basic', name: BEARER.name }
    const isUsable = kind !== undefined && HEADER_NAME.test(kind) && !COMPUTED.test(kind.toLowerCase())
    return isUsable ? { ...authorization, scheme: kind } : undefined
  }
  const name = scheme.string('name') ?? ''
  if (type !== 'apiKey' || !HEADER_NAME.test(name)) return undefined
  if (place === 'query' || place === 'cookie') return { in: place, name }
  return /^authorization$/i.test(name) ? authorization : { name, prefix: '' }
}

function kindOf(scheme: Place): string {
  const [type, ...words] = [scheme.string('type'), scheme.string('scheme'), scheme.string('in')].filter(
    (word) => word !== undefined,
  )
  return [type, ...words].join(' ')
}
