import { isUtf8 } from 'node:buffer'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { EndedCommand, RequestCommand } from '../core/command.js'
import type { VerbCommand } from '../core/machine.js'
import type { ServiceRequest } from '../domain/messages.js'
import type { Beat, Hello } from './group.js'
import { headersOf } from './headers-of.js'

/** One thing that a replica says: a command, or something of itself. */
export type Item =
  | RequestCommand
  | EndedCommand
  | VerbCommand
  | { readonly kind: 'hello'; readonly hello: Hello }
  | { readonly kind: 'beat'; readonly beat: Beat }
  | Bye

interface Bye {
  readonly kind: 'bye'
}

/** Raised whenever the text changes its shape, or what it says changes its meaning. */
const VERSION = 1

/** Writes what a replica did in one turn: an array of the version and the items. @param items each as `itemText` wrote it */
export function batchText(items: readonly string[]): string {
  return `[${VERSION},${items.join()}]`
}

/** @throws RangeError for a text of another version */
export function readBatch(text: string): readonly Item[] {
  const [version, ...items] = JSON.parse(text) as [number, ...WrittenItem[]]
  if (version !== VERSION)
    throw new RangeError(`the log holds entries of version ${version}, this release reads ${VERSION}`)
  return items.map(readItem)
}

/** An item as it is written: short, since nearly everything in a log is requests and what became of them. */
type WrittenItem =
  | readonly ['r', ...WrittenRequest, refused: RequestCommand['refused'] | null, mock: RequestCommand['mock'] | null]
  | readonly ['e', EndedCommand['exchanges'], EndedCommand['unread']?]
  | readonly ['v', string]
  | readonly ['h', string]
  | readonly ['b', Beat]
  | readonly ['l']

type WrittenRequest = readonly [
  method: string,
  target: string,
  rawHeaders: readonly string[],
  body: WrittenBody,
  address: string,
  connection: number,
  heardUpTo: number,
]

/** Text where it is some; else in base64, or why it was not read. */
type WrittenBody = string | null | { readonly base64: string } | { readonly unread: 'too-large' | 'no-room' }

export function itemText(item: Item): string {
  switch (item.kind) {
    case 'request':
      return JSON.stringify(['r', ...writtenRequest(item.request), item.refused ?? null, item.mock ?? null])
    case 'ended':
      return JSON.stringify(item.unread === undefined ? ['e', item.exchanges] : ['e', item.exchanges, item.unread])
    case 'verb': {
      const { space, verb, input, fetched } = item
      // A text within the text: what may hold long integers is read on its own.
      return JSON.stringify(['v', stringifyJson({ space, verb, input, fetched })])
    }
    case 'hello':
      return JSON.stringify(['h', stringifyJson(item.hello)])
    case 'beat':
      return JSON.stringify(['b', item.beat])
    case 'bye':
      return '["l"]'
  }
}

function writtenRequest({
  method,
  target,
  rawHeaders,
  body,
  address,
  connection,
  heardUpTo,
}: ServiceRequest): WrittenRequest {
  return [method, target, rawHeaders, writtenBody(body), address, connection, heardUpTo]
}

function writtenBody(body: ServiceRequest['body']): WrittenBody {
  if (body === undefined) return null
  if (typeof body === 'string') return { unread: body }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') }
}

function readItem(item: WrittenItem): Item {
  switch (item[0]) {
    case 'r': {
      const [, method, target, rawHeaders, body, address, connection, heardUpTo, refused, mock] = item
      const headers = headersOf(rawHeaders)
      const request: ServiceRequest = {
        method,
        target,
        headers,
        rawHeaders,
        body: readBody(body),
        address,
        connection,
        heardUpTo,
      }
      return { kind: 'request', request, ...(refused ? { refused } : {}), ...(mock ? { mock } : {}) }
    }
    case 'e':
      return { kind: 'ended', exchanges: item[1], unread: item[2] }
    case 'v':
      return { kind: 'verb', ...(parseJson(item[1]) as Omit<VerbCommand, 'kind'>) }
    case 'h':
      return { kind: 'hello', hello: parseJson(item[1]) as Hello }
    case 'b':
      return { kind: 'beat', beat: item[1] }
    case 'l':
      return { kind: 'bye' }
  }
}

function readBody(body: WrittenBody): ServiceRequest['body'] {
  if (body === null) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  return 'unread' in body ? body.unread : Buffer.from(body.base64, 'base64')
}
