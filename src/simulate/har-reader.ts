import { MIB } from '../domain/numbers.js'
import {
  addressParts,
  asText,
  type ReadResult,
  readIsoInstant,
  readSandboxFacts,
  type TrafficHeaders,
  type TrafficRecord,
  type TrafficSink,
} from './traffic-record.js'

// A streaming JSON parser makes a value of every token: @streamparser/json reads 24 MB/s. This one only looks for the
// bounds of an entry, which the native JSON.parse reads.

const MAX_ENTRY_BYTES = 32 * MIB
const MAX_NAME_LENGTH = 16
/** Where the entries are: `{"log": {…, "entries": [{…}, {…}]}}`. */
const ENTRIES_DEPTH = 3

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d

/** Keeps one entry at a time in memory. @source HAR 1.2, "entries" */
export async function readHar(chunks: AsyncIterable<Buffer>, sink: TrafficSink): Promise<ReadResult> {
  /** An archive on one line has entries to count, else lines say more. */
  let unit: 'line' | 'entry' | undefined
  let count = 0
  const missing = await scanEntries(chunks, (bytes, line) => {
    unit ??= line > 1 ? 'line' : 'entry'
    count++
    const place = unit === 'line' ? line : count
    const record = bytes === undefined ? 'is larger than 32 MiB' : readEntry(bytes.toString(), place)
    if (typeof record === 'string') sink.bad(place, record)
    else sink.record(record)
  })
  return { unit: unit ?? 'entry', missing }
}

async function scanEntries(
  chunks: AsyncIterable<Buffer>,
  found: (entry: Buffer | undefined, line: number) => void,
): Promise<string | undefined> {
  let depth = 0
  let line = 1
  let isInString = false
  let isEscaped = false
  let name = ''
  let isInLog = false
  let isInEntries = false
  let hasEntries = false
  let entries = 0
  let entryLine = 0
  let pieces: Buffer[] | undefined
  let size = 0

  for await (const chunk of chunks) {
    let start = 0
    const keep = (end: number) => {
      size += end - start
      if (size > MAX_ENTRY_BYTES) pieces = []
      else pieces?.push(chunk.subarray(start, end))
    }
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInString = false
        else if (pieces === undefined && name.length < MAX_NAME_LENGTH) name += String.fromCharCode(byte ?? 0)
      } else if (byte === QUOTE) {
        isInString = true
        if (pieces === undefined) name = ''
      } else if (byte === NEWLINE) line++
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        depth++
        if (isInEntries && depth === ENTRIES_DEPTH + 1 && byte === OPEN_OBJECT) {
          pieces = []
          size = 0
          start = i
          entries++
          entryLine = line
        } else if (depth === 2) isInLog = name === 'log'
        else if (depth === ENTRIES_DEPTH && isInLog && name === 'entries' && byte === OPEN_LIST) {
          isInEntries = true
          hasEntries = true
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        depth = Math.max(0, depth - 1)
        if (depth < ENTRIES_DEPTH) isInEntries = false
        if (depth !== ENTRIES_DEPTH || pieces === undefined) continue
        keep(i + 1)
        found(size > MAX_ENTRY_BYTES ? undefined : Buffer.concat(pieces), entryLine)
        pieces = undefined
        name = ''
      }
    }
    if (pieces !== undefined) keep(chunk.length)
  }
  if (pieces !== undefined) return `ends in the middle of entry ${entries}`
  if (depth > 0) return `ends after entry ${entries}, before the archive does`
  return hasEntries ? undefined : 'has no entries where an archive has them'
}

/** The fields of an entry that are read. Archives are edited by hand: any of them may be missing or wrong. */
interface EntryLike {
  readonly startedDateTime?: unknown
  readonly time?: unknown
  readonly request?: MessageLike & { readonly method?: unknown; readonly url?: unknown }
  readonly response?: MessageLike & { readonly status?: unknown; readonly _error?: unknown }
  readonly _fromCache?: unknown
  readonly [own: `_${string}`]: unknown
}

interface MessageLike {
  readonly headers?: unknown
  readonly postData?: { readonly text?: unknown }
  readonly content?: { readonly text?: unknown }
}

const NEVER_SENT = /BLOCKED|NAME_NOT_RESOLVED|CONNECTION_REFUSED|INTERNET_DISCONNECTED/i

/** @returns the record, or why there is none */
function readEntry(text: string, place: number): TrafficRecord | string {
  let entry: EntryLike
  try {
    entry = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  const { startedDateTime, time, request, response, _fromCache, _error = response?._error } = entry
  const at = readIsoInstant(startedDateTime)
  if (at === undefined) return 'has no startedDateTime that can be read'
  if (typeof request?.url !== 'string' || typeof request.method !== 'string') return 'has no request that can be read'
  const status = typeof response?.status === 'number' ? response.status : 0
  const isUnsent = typeof _fromCache === 'string' || (status === 0 && NEVER_SENT.test(asText(_error)))
  const { _key: key, _space: space, _sender: sender, _reason: reason, _fault: fault, _ended: ended } = entry
  return {
    place,
    at,
    durationMs: typeof time === 'number' && time > 0 ? time : 0,
    method: request.method.toUpperCase(),
    // `data:` and `blob:` go to no host.
    ...(addressParts(request.url) ?? { host: '', path: '', query: '' }),
    headers: readHeaders(request.headers),
    body: asText(request.postData?.text),
    status,
    response: { headers: readHeaders(response?.headers), body: asText(response?.content?.text) },
    ...(isUnsent && { isUnsent }),
    ...(typeof key === 'string' && { own: readSandboxFacts({ key, space, sender, reason, fault, ended }, 'sent') }),
  }
}

function readHeaders(list: unknown): TrafficHeaders {
  const headers: Record<string, string | undefined> = {}
  for (const pair of Array.isArray(list) ? list : [])
    if (typeof pair?.name === 'string' && typeof pair.value === 'string')
      headers[pair.name.toLowerCase()] ??= pair.value
  return headers
}
