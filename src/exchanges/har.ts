import { formatSize } from '../domain/numbers.js'
import { redactHeader } from '../domain/redaction.js'
import type { KeyHeader } from '../domain/request-headers.js'
import { addressOf, spacePath } from '../domain/space-address.js'
import { type Exchange, type ExchangeMessage, LOG_BODY_CHARACTERS } from './exchange-record.js'
import { byteLength, isCut } from './kept-body.js'

/** One request with its response. Names with an underscore are ours. @source HAR 1.2 */
export type HarEntry = ReturnType<typeof entryFor>

/** An HTTP archive. */
export interface Har {
  readonly log: {
    readonly version: '1.2'
    readonly creator: { readonly name: string; readonly version: string }
    readonly entries: readonly HarEntry[]
  }
}

export function toHar(exchanges: readonly Exchange[], version: string, keyHeaders: readonly KeyHeader[]): Har {
  return {
    log: { ...harHead(version), entries: exchanges.flatMap((exchange) => harEntry(exchange, keyHeaders) ?? []) },
  }
}

export function harHead(version: string): Omit<Har['log'], 'entries'> {
  return { version: '1.2', creator: { name: 'petstore-sandbox', version } }
}

export function harEntry(exchange: Exchange, keyHeaders: readonly KeyHeader[]): HarEntry | undefined {
  return exchange.ended === null ? undefined : entryFor(exchange, exchange.ended, keyHeaders)
}

function entryFor(exchange: Exchange, ended: string, keyHeaders: readonly KeyHeader[]) {
  const { id, at, key, space, sender, operation, reason, fault } = exchange
  const { durationMs, timing, method, query, request, response } = exchange
  // In process, requests have no host.
  const origin = `http://${request.headers.host ?? 'localhost'}`
  const mimeType = request.headers['content-type'] ?? ''
  const status = exchange.status ?? 0
  return {
    startedDateTime: at,
    time: durationMs,
    request: {
      method,
      url: `${origin}${spacePath(space)}${addressOf(exchange)}`,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(request, keyHeaders),
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      ...(request.body === '' ? {} : { postData: { mimeType, text: request.body, ...comment(request) } }),
      headersSize: -1,
      bodySize: bodySize(request),
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(response, keyHeaders),
      content: {
        size: bodySize(response),
        mimeType: response.headers['content-type'] ?? 'x-unknown',
        text: response.body,
        ...comment(response),
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: status === 0 ? -1 : bodySize(response),
    },
    cache: {},
    timings: { send: 0, wait: timing.handlingMs + timing.waitingMs, receive: timing.bodyMs },
    _id: id,
    _key: key,
    _space: space,
    ...(sender === undefined ? {} : { _sender: sender }),
    _operation: operation,
    _reason: reason,
    _fault: fault,
    _ended: ended,
  }
}

/** Archives are shared, so they contain no key, secret or not. */
function pairs({ headers }: ExchangeMessage, keyHeaders: readonly KeyHeader[]) {
  return Object.entries(headers).map(([name, value]) => ({ name, value: redactHeader(name, value, keyHeaders) }))
}

function comment(message: ExchangeMessage) {
  if (!isCut(message)) return {}
  return { comment: `Only the beginning: the log keeps ${formatSize(LOG_BODY_CHARACTERS)} of a body.` }
}

/** The size as sent; the log may have only a part of the body. */
function bodySize({ headers, body }: ExchangeMessage): number {
  const sent = headers['content-length']
  return sent === undefined ? byteLength(body) : Number(sent)
}
