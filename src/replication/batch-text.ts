import { isUtf8 } from 'node:buffer'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { EndedCommand, RequestCommand, VerbCommand } from '../core/command.js'
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

/** @param text empty for the entry in whose place the log continues from a checkpoint */
export function readBatch(text: string): readonly Item[] {
  return text === '' ? [] : (JSON.parse(text) as unknown[]).map(readItem)
}

/** Text; else bytes as Latin-1, so that secret keys are still found in them; or why the body was not read. */
type WrittenBody = string | null | { readonly bytes: string } | { readonly unread: 'too-large' | 'no-room' }

/** A short array, because nearly all items of a log are requests and their ends. */
type WrittenRequest = readonly [
  method: string,
  target: string,
  rawHeaders: readonly string[],
  /** Null if they follow from the raw ones. */
  headers: ServiceRequest['headers'] | null,
  body: WrittenBody,
  address: string,
  connection: number,
  deliveredUpTo: number,
  sentUpTo: number | undefined,
  others: Omit<RequestCommand, 'kind' | 'request'>,
  space: string | undefined,
]

export function itemText(item: Item): string {
  switch (item.kind) {
    case 'request':
      return JSON.stringify(writtenRequest(item))
    case 'verb':
    case 'join':
      // JSON within JSON: values that may contain bigints are parsed separately.
      return JSON.stringify(stringifyJson(item))
    default:
      return JSON.stringify(item)
  }
}

function readItem(item: unknown): Item {
  if (Array.isArray(item)) return readRequest(item as object as WrittenRequest)
  return (typeof item === 'string' ? parseJson(item) : item) as Item
}

function writtenRequest({ kind: _, request, ...others }: RequestCommand): WrittenRequest {
  const { method, target, rawHeaders, headers, body, address, connection, deliveredUpTo, sentUpTo, space } = request
  const plain = Object.entries(plainHeaders(rawHeaders))
  const isPlain =
    plain.length === Object.keys(headers).length && plain.every(([name, value]) => headers[name] === value)
  const written = [method, target, rawHeaders, isPlain ? null : headers, writtenBody(body)] as const
  return [...written, address, connection, deliveredUpTo, sentUpTo, others, space]
}

function writtenBody(body: ServiceRequest['body']): WrittenBody {
  if (body === undefined) return null
  if (typeof body === 'string') return { unread: body }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return isUtf8(bytes) ? bytes.toString() : { bytes: bytes.toString('latin1') }
}

function readRequest(item: WrittenRequest): RequestCommand {
  const [method, target, rawHeaders, headers, body, address, connection, deliveredUpTo, sentUpTo, others, space] = item
  const named = typeof space === 'string' ? { space } : {}
  const head = { method, target, headers: headers ?? plainHeaders(rawHeaders), rawHeaders, ...named }
  const marks = sentUpTo === undefined || sentUpTo === null ? { deliveredUpTo } : { deliveredUpTo, sentUpTo }
  return { kind: 'request', request: { ...head, body: readBody(body), address, connection, ...marks }, ...others }
}

function readBody(body: WrittenBody): ServiceRequest['body'] {
  if (body === null) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  return 'unread' in body ? body.unread : Buffer.from(body.bytes, 'latin1')
}

function plainHeaders(rawHeaders: readonly string[]): ServiceRequest['headers'] {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1]]] : [],
  )
  return Object.fromEntries(pairs)
}
