import { BEARER, type ContractData, DEFAULT_BASE_PATH, type KeyHeader, type OtherKey } from './contract-data.js'
import type { Place } from './document.js'
import type { OperationShape } from './operations.js'

type Access = Pick<ContractData, 'basePath' | 'keyHeaders' | 'otherKeys' | 'notes'>

/** Whether an operation needs no key: nothing is required of it, or nothing is one of the alternatives. */
export function isPublic(root: Place, operation: Place): boolean {
  const place = [operation, root].find((one) => one.child('security') !== undefined)
  // Its author has left out what the 401 is for.
  if (place === undefined) return operation.child('responses')?.child('401') === undefined
  const required = place.items('security')
  return required.length === 0 || required.some((one) => Object.keys(one.object()).length === 0)
}

/** How clients reach the service, and what of the document the sandbox replaces. @source docs/spec.md, "Address and keys" */
export function readAccess(
  root: Place,
  operations: readonly OperationShape[],
  [server]: ContractData['servers'],
): Access {
  const path = server === undefined ? DEFAULT_BASE_PATH : pathOf(server.url)
  const { notes, ...keys } = readKeyHeaders(root, operations)
  if (path !== undefined) return { basePath: path, ...keys, notes }
  const note = `The server ${JSON.stringify(server?.url)} has no usable path. Without --base-path, the sandbox serves under ${DEFAULT_BASE_PATH}.`
  return { basePath: DEFAULT_BASE_PATH, ...keys, notes: [note, ...notes] }
}

/** The characters that --base-path accepts: the address appears in commands, and in what shells and scripts read. */
const PATH = /^(?:\/(?!__sandbox(?:\/|$))[A-Za-z0-9._~-]+)*$/

function pathOf(url: string): string | undefined {
  const base = 'http://sandbox'
  if (/[{}]/.test(url) || !URL.canParse(url, base)) return undefined
  const path = new URL(url, base).pathname.replace(/\/+$/, '')
  return PATH.test(path) ? path : undefined
}

/** @source RFC 9110, section 5.6.2: token */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

function readKeyHeaders(
  root: Place,
  operations: readonly OperationShape[],
): Pick<Access, 'keyHeaders' | 'otherKeys' | 'notes'> {
  const all = new Map(root.child('components')?.entries('securitySchemes'))
  const places = [root, ...operations.map(({ place }) => place)]
  const required = new Set(
    places.flatMap((place) => place.items('security')).flatMap((one) => Object.keys(one.object())),
  )
  const schemes = required.size === 0 ? [...all] : [...all].filter(([name]) => required.has(name))
  const found = new Map<string, KeyHeader>()
  const otherKeys: OtherKey[] = []
  const unknown: string[] = []
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
  return { keyHeaders, ...(otherKeys.length > 0 && { otherKeys }), notes }
}

function keyPlace(scheme: Place): KeyHeader | OtherKey | undefined {
  const [type, kind, place] = [scheme.string('type'), scheme.string('scheme')?.toLowerCase(), scheme.string('in')]
  if (type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && kind === 'bearer')) return BEARER
  if (type === 'http') return kind === 'basic' ? { in: 'basic', name: BEARER.name } : undefined
  const name = scheme.string('name') ?? ''
  if (type !== 'apiKey' || !HEADER_NAME.test(name)) return undefined
  if (place === 'query' || place === 'cookie') return { in: place, name }
  return /^authorization$/i.test(name) ? { in: 'authorization', name: BEARER.name } : { name, prefix: '' }
}

function kindOf(scheme: Place): string {
  const [type, ...words] = [scheme.string('type'), scheme.string('scheme'), scheme.string('in')].filter(
    (word) => word !== undefined,
  )
  return [type, ...words].join(' ')
}
