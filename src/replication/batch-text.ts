import { isUtf8 } from 'node:buffer'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { EndedCommand, RequestCommand } from '../core/command.js'
import type { VerbCommand } from '../core/machine.js'
import type { ServiceRequest } from '../domain/messages.js'
import type { Heartbeat, JoinRequest } from './group.js'

export type Item =
  | RequestCommand
  | EndedCommand
  | VerbCommand
  | { readonly kind: 'join'; readonly join: JoinRequest }
  | { readonly kind: 'heartbeat'; readonly heartbeat: Heartbeat }
  | { readonly kind: 'leave' }

/**
 * @param items each as written by `itemText`
 * @returns the text of an entry. Its format belongs to the version of checkpoints, which a replica reads first
 */
export function batchText(items: readonly string[]): string {
  return `[${items.join()}]`
}

/** @param text empty for the entry in whose place the log continues from a checkpoint @throws Error for a damaged text */
export function readBatch(text: string): readonly Item[] {
  return text === '' ? [] : (JSON.parse(text) as unknown[]).map(readItem)
}

type WrittenRequest = readonly [
  'r',
  method: string,
  target: string,
  rawHeaders: readonly string[],
  body: WrittenBody,
  address: string,
  connection: number,
  deliveredUpTo: number,
  sentUpTo: number,
  refused: RequestCommand['refused'] | null,
  mock: RequestCommand['mock'] | null,
]

/** Text; else bytes as Latin-1, so that secret keys are still found in them; or why the body was not read. */
type WrittenBody = string | null | { readonly bytes: string } | { readonly unread: 'too-large' | 'no-room' }

/** Short arrays, because nearly all items of a log are requests and their ends. */
export function itemText(item: Item): string {
  switch (item.kind) {
    case 'request':
      return JSON.stringify(['r', ...writtenRequest(item.request), item.refused ?? null, item.mock ?? null])
    case 'ended':
      return JSON.stringify(item.unread === undefined ? ['e', item.exchanges] : ['e', item.exchanges, item.unread])
    case 'verb': {
      const { space, verb, input, fetched } = item
      // JSON within JSON: values that may contain bigints are parsed separately.
      return JSON.stringify(['v', stringifyJson({ space, verb, input, fetched })])
    }
    case 'join':
      return JSON.stringify(['h', stringifyJson(item.join)])
    case 'heartbeat':
      return JSON.stringify(['b', item.heartbeat])
    case 'leave':
      return '["l"]'
  }
}

function writtenRequest(request: ServiceRequest) {
  const { method, target, rawHeaders, body, address, connection, deliveredUpTo, sentUpTo = deliveredUpTo } = request
  return [method, target, rawHeaders, writtenBody(body), address, connection, deliveredUpTo, sentUpTo]
}

function writtenBody(body: ServiceRequest['body']): WrittenBody {
  if (body === undefined) return null
  if (typeof body === 'string') return { unread: body }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return isUtf8(bytes) ? bytes.toString() : { bytes: bytes.toString('latin1') }
}

/** @throws Error for a damaged item */
function readItem(item: unknown): Item {
  const [kind, value, more] = Array.isArray(item) ? (item as readonly unknown[]) : []
  switch (kind) {
    case 'r':
      return readRequest(item as WrittenRequest)
    case 'e': {
      const ended = { exchanges: value as EndedCommand['exchanges'], unread: more as EndedCommand['unread'] }
      return { kind: 'ended', ...ended }
    }
    case 'v':
      return { kind: 'verb', ...(parseJson(String(value)) as Omit<VerbCommand, 'kind'>) }
    case 'h':
      return { kind: 'join', join: parseJson(String(value)) as JoinRequest }
    case 'b':
      return { kind: 'heartbeat', heartbeat: value as Heartbeat }
    case 'l':
      return { kind: 'leave' }
    default:
      throw damaged()
  }
}

function readRequest(item: WrittenRequest): RequestCommand {
  const [, method, target, rawHeaders, body, address, connection, deliveredUpTo, sentUpTo, refused, mock] = item
  const head = { method, target, headers: parseHeaders(rawHeaders), rawHeaders }
  const request = { ...head, body: readBody(body), address, connection, deliveredUpTo, sentUpTo }
  return { kind: 'request', request, ...(refused ? { refused } : {}), ...(mock ? { mock } : {}) }
}

function readBody(body: WrittenBody): ServiceRequest['body'] {
  if (body === null) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  return 'unread' in body ? body.unread : Buffer.from(body.bytes, 'latin1')
}

function damaged(): Error {
  return new Error('the entry was not written by a replica')
}

/** Repeated fields of these names: Node keeps only the first value. */
const FIRST_ONLY: ReadonlySet<string> = new Set(
  (
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent'
  ).split(' '),
)

export function parseHeaders(rawHeaders: readonly string[]): ServiceRequest['headers'] {
  const headers: Record<string, string | string[]> = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    const value = rawHeaders[i + 1] ?? ''
    if (name === '__proto__') continue
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined
    if (name === 'set-cookie') headers[name] = [...(Array.isArray(before) ? before : []), value]
    else if (before === undefined) headers[name] = value
    else if (!FIRST_ONLY.has(name)) headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  return headers
}
