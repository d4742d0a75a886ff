import { addressParts } from './address-parts.js'
import { HarEntries } from './har-entries.js'
import { readIsoInstant } from './instant.js'
import type { OwnFacts, TrafficHeaders, TrafficReader, TrafficRecord, TrafficSink } from './traffic-record.js'

/** What is asked of an entry. Nothing of it is certain: archives are edited by hand, too. */
interface EntryLike {
  readonly startedDateTime?: unknown
  readonly time?: unknown
  readonly request?: MessageLike & { readonly method?: unknown; readonly url?: unknown }
  readonly response?: MessageLike & { readonly status?: unknown; readonly _error?: unknown }
  readonly _fromCache?: unknown
  readonly _key?: unknown
  readonly _space?: unknown
  readonly _reason?: unknown
  readonly _fault?: unknown
  readonly _ended?: unknown
}

interface MessageLike {
  readonly headers?: unknown
  readonly postData?: { readonly text?: unknown }
  readonly content?: { readonly text?: unknown }
}

/** What browsers call a request that never left the machine. */
const NEVER_SENT = /BLOCKED|NAME_NOT_RESOLVED|CONNECTION_REFUSED|INTERNET_DISCONNECTED/i

/**
 * Reads an HTTP archive: a browser's, or the sandbox's own.
 *
 * @source HAR 1.2, "entries"
 */
export class HarReader implements TrafficReader {
  readonly #entries: HarEntries
  /** An archive on one line has entries to count, else lines tell more. */
  #unit: 'line' | 'entry' | undefined

  constructor(sink: TrafficSink) {
    this.#entries = new HarEntries({
      entry: (text, entry, line) => this.#read(text, this.#placeOf(entry, line), sink),
      tooLarge: (entry, line) => sink.bad(this.#placeOf(entry, line), 'is larger than 32 MiB'),
    })
  }

  get unit(): 'line' | 'entry' {
    return this.#unit ?? 'entry'
  }

  push(chunk: Buffer): void {
    this.#entries.push(chunk)
  }

  end(): string | undefined {
    return this.#entries.missing ?? (this.#entries.hasEntries ? undefined : 'has no entries where an archive has them')
  }

  #placeOf(entry: number, line: number): number {
    this.#unit ??= line > 1 ? 'line' : 'entry'
    return this.#unit === 'line' ? line : entry
  }

  #read(text: string, place: number, sink: TrafficSink): void {
    let entry: EntryLike
    try {
      entry = JSON.parse(text)
    } catch {
      sink.bad(place, 'is no JSON')
      return
    }
    const record = recordOf(entry, place)
    if (typeof record === 'string') sink.bad(place, record)
    else sink.record(record)
  }
}

/** @returns a sentence part that says why not */
function recordOf(entry: EntryLike, place: number): TrafficRecord | string {
  const { startedDateTime, time, request, response } = entry
  const at = readIsoInstant(startedDateTime)
  if (at === undefined) return 'has no startedDateTime that can be read'
  if (typeof request?.url !== 'string' || typeof request.method !== 'string') return 'has no request that can be read'
  const address = addressParts(request.url)
  // `data:` and `blob:` ask nobody.
  const { host, path, query } = address ?? { host: '', path: '', query: '' }
  const headers = headersOf(request.headers)
  const status = typeof response?.status === 'number' ? response.status : 0
  const own = ownFactsOf(entry)
  return {
    place,
    at,
    durationMs: typeof time === 'number' && time > 0 ? time : 0,
    method: request.method.toUpperCase(),
    host,
    path,
    query,
    headers,
    body: textIn(request.postData?.text),
    status,
    answer: { headers: headersOf(response?.headers), body: textIn(response?.content?.text) },
    ...(isUnsent(entry, status) && { isUnsent: true }),
    ...(own && { own }),
  }
}

function headersOf(list: unknown): TrafficHeaders {
  const headers: Record<string, string | undefined> = {}
  if (!Array.isArray(list)) return headers
  for (const pair of list) {
    if (typeof pair?.name !== 'string' || typeof pair.value !== 'string') continue
    // HTTP/2 has `:authority` and others.
    headers[pair.name.toLowerCase()] ??= pair.value
  }
  return headers
}

function textIn(text: unknown): string {
  return typeof text === 'string' ? text : ''
}

function isUnsent({ _fromCache, response }: EntryLike, status: number): boolean {
  return typeof _fromCache === 'string' || (status === 0 && NEVER_SENT.test(textIn(response?._error)))
}

function ownFactsOf({ _key, _space, _reason, _fault, _ended }: EntryLike): OwnFacts | undefined {
  if (typeof _key !== 'string') return undefined
  return {
    key: _key,
    space: textIn(_space),
    reason: typeof _reason === 'string' ? _reason : null,
    fault: typeof _fault === 'string' ? _fault : null,
    ended: _ended === 'left' || _ended === 'cut' || _ended === 'unknown' ? _ended : 'sent',
  }
}
