import { BEARER, type ContractData, DEFAULT_BASE_PATH, type KeyHeader } from './contract-data.js'
import type { Place } from './document.js'
import type { OperationShape } from './operations.js'

type Access = Pick<ContractData, 'basePath' | 'keyHeaders' | 'notes'>

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
  const { keyHeaders, notes } = readKeyHeaders(root, operations)
  if (path !== undefined) return { basePath: path, keyHeaders, notes }
  const note = `The server ${JSON.stringify(server?.url)} has no usable path. Without --base-path, the sandbox serves under ${DEFAULT_BASE_PATH}.`
  return { basePath: DEFAULT_BASE_PATH, keyHeaders, notes: [note, ...notes] }
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

function readKeyHeaders(root: Place, operations: readonly OperationShape[]): Pick<Access, 'keyHeaders' | 'notes'> {
  const all = new Map(root.child('components')?.entries('securitySchemes'))
  const places = [root, ...operations.map(({ place }) => place)]
  const required = new Set(
    places.flatMap((place) => place.items('security')).flatMap((one) => Object.keys(one.object())),
  )
  const names = required.size === 0 ? [...all.keys()] : [...required]
  const found = new Map<string, KeyHeader>()
  const others: string[] = []
  for (const name of names) {
    const scheme = all.get(name)
    if (scheme === undefined) continue
    const header = keyHeaderIn(scheme)
    if (header === undefined) others.push(`${JSON.stringify(name)} (${kindOf(scheme)})`)
    else found.set(header.name.toLowerCase(), header)
    if (/^(?:oauth2|openIdConnect)$/.test(scheme.string('type') ?? '')) found.set(BEARER.name.toLowerCase(), BEARER)
  }
  const [first = BEARER, ...more] = found.values()
  const keyHeaders = [first, ...more] as const
  const accepted = keyHeaders.map(({ name, prefix }) => `${name}: ${prefix}<key>`).join(' or ')
  const notes =
    others.length === 0 ? [] : [`Instead of ${others.join(', ')}, the sandbox accepts API keys as ${accepted}.`]
  return { keyHeaders, notes }
}

function keyHeaderIn(scheme: Place): KeyHeader | undefined {
  const type = scheme.string('type')
  if (type === 'http') return scheme.string('scheme')?.toLowerCase() === 'bearer' ? BEARER : undefined
  if (type !== 'apiKey' || scheme.string('in') !== 'header') return undefined
  const name = scheme.string('name') ?? ''
  return HEADER_NAME.test(name) && !/^authorization$/i.test(name) ? { name, prefix: '' } : undefined
}

function kindOf(scheme: Place): string {
  const [type, ...words] = [scheme.string('type'), scheme.string('scheme'), scheme.string('in')].filter(
    (word) => word !== undefined,
  )
  return [type, ...words].join(' ')
}
