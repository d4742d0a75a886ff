import { MASK } from '../domain/redaction.js'
import type { Exchange, ExchangeMessage } from './exchange-view.js'

/** A name and its value, as a HAR has headers and parameters. */
interface HarPair {
  readonly name: string
  readonly value: string
}

/** One request with its response. What begins with an underscore is ours. @source HAR 1.2 */
export interface HarEntry {
  readonly startedDateTime: string
  /** Milliseconds. */
  readonly time: number
  readonly request: {
    readonly method: string
    readonly url: string
    readonly httpVersion: string
    readonly cookies: readonly []
    readonly headers: readonly HarPair[]
    readonly queryString: readonly HarPair[]
    readonly postData?: { readonly mimeType: string; readonly text: string }
    readonly headersSize: number
    readonly bodySize: number
  }
  readonly response: {
    /** 0 where the client was left without one. */
    readonly status: number
    readonly statusText: string
    readonly httpVersion: string
    readonly cookies: readonly []
    readonly headers: readonly HarPair[]
    readonly content: { readonly size: number; readonly mimeType: string; readonly text: string }
    readonly redirectURL: string
    readonly headersSize: number
    readonly bodySize: number
  }
  readonly cache: Readonly<Record<never, never>>
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number }
  readonly _id: number
  readonly _key: string
  /** Empty for the default space. */
  readonly _space: string
  readonly _operation: string | null
  readonly _reason: string | null
  readonly _fault: string | null
  readonly _ended: string
}

/** Exchanges as other tools read them. */
export interface Har {
  readonly log: {
    readonly version: '1.2'
    readonly creator: { readonly name: string; readonly version: string }
    readonly entries: readonly HarEntry[]
  }
}

/**
 * Writes exchanges as an HTTP archive, without keys. What is under way is left out: an entry has an end.
 *
 * @param version of this package
 * @source HAR 1.2
 */
export function toHar(exchanges: readonly Exchange[], version: string): Har {
  return { log: { ...harHead(version), entries: exchanges.flatMap((exchange) => harEntry(exchange) ?? []) } }
}

/** What an archive says of itself before its entries. @param version of this package */
export function harHead(version: string): Omit<Har['log'], 'entries'> {
  return { version: '1.2', creator: { name: 'petstore-sandbox', version } }
}

/** One exchange as an archive has it; undefined while it is under way. */
export function harEntry(exchange: Exchange): HarEntry | undefined {
  return exchange.ended === null ? undefined : entryOf(exchange, exchange.ended)
}

function entryOf(exchange: Exchange, ended: string): HarEntry {
  const { id, at, key, space, operation, reason, fault, durationMs, timing, method, path, query, request, response } =
    exchange
  // In process no host is asked.
  const origin = `http://${request.headers.host ?? 'localhost'}`
  const mimeType = request.headers['content-type'] ?? ''
  const status = exchange.status ?? 0
  return {
    startedDateTime: at,
    time: durationMs,
    request: {
      method,
      url: `${origin}${path}${query === '' ? '' : `?${query}`}`,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairsOf(request),
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      ...(request.body === '' ? {} : { postData: { mimeType, text: request.body } }),
      headersSize: -1,
      bodySize: sizeOf(request),
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairsOf(response),
      content: {
        size: sizeOf(response),
        mimeType: response.headers['content-type'] ?? 'x-unknown',
        text: response.body,
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: status === 0 ? -1 : sizeOf(response),
    },
    cache: {},
    timings: { send: 0, wait: timing.handlingMs + timing.waitingMs, receive: timing.bodyMs },
    _id: id,
    _key: key,
    _space: space,
    _operation: operation,
    _reason: reason,
    _fault: fault,
    _ended: ended,
  }
}

/** An archive is passed on: what authorizes is not in it, not even a key that is no secret. */
function pairsOf({ headers }: ExchangeMessage): readonly HarPair[] {
  return Object.entries(headers).map(([name, value]) => ({
    name,
    value: name === 'authorization' ? `Bearer ${MASK}` : value,
  }))
}

const encoder = new TextEncoder()

/** As it was sent; of a long body the log keeps a part. */
function sizeOf({ headers, body }: ExchangeMessage): number {
  const said = headers['content-length']
  return said === undefined ? encoder.encode(body).length : Number(said)
}
