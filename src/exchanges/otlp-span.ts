import { UNREAD } from '../domain/messages.js'
import type { ExchangeRecord } from './exchange-record.js'

/** What a span needs of an exchange; bodies would take memory until the batch is sent. */
export type TracedExchange = Pick<
  ExchangeRecord,
  | 'arrivedAt'
  | 'durationMs'
  | 'method'
  | 'path'
  | 'query'
  | 'operation'
  | 'status'
  | 'reason'
  | 'fault'
  | 'how'
  | 'key'
  | 'sender'
  | 'space'
  | 'requestHeaders'
>

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string }
}

interface ParentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

/** @returns undefined if the client's own span is not sampled */
export function tracedExchange(record: ExchangeRecord): TracedExchange | undefined {
  if (parentSpan(record.requestHeaders)?.isSampled === false) return undefined
  const { arrivedAt, durationMs, method, path, query, operation, status, reason, fault, how, key, sender } = record
  const { space, requestHeaders } = record
  return {
    arrivedAt,
    durationMs,
    method,
    path,
    query,
    operation,
    status,
    reason,
    fault,
    how,
    key,
    sender,
    space,
    requestHeaders,
  }
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** @source docs/deploy.md, "OpenTelemetry" */
function parentSpan(headers: readonly string[]): ParentSpan | undefined {
  const [, traceId, spanId, flags = ''] = TRACE_PARENT.exec(headerIn(headers, 'traceparent') ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

function headerIn(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    const given = headers[i] ?? ''
    if (given.length === name.length && given.toLowerCase() === name) return headers[i + 1]
  }
  return undefined
}

const KIND_SERVER = 2
const STATUS_ERROR = 2
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

/**
 * A span of OTLP/JSON, named and described by the semantic conventions of HTTP servers.
 * @param ids random bytes in hex: 32 digits for a new trace, and 16 for the span
 * @param route the path template with the base path; undefined outside the contract
 */
export function otlpSpan(exchange: TracedExchange, ids: string, route: string | undefined) {
  const { arrivedAt, durationMs, method, path, query, operation, status, reason, fault, how, key, sender } = exchange
  const { space, requestHeaders } = exchange
  const parent = parentSpan(requestHeaders)
  const traceState = parent && headerIn(requestHeaders, 'tracestate')
  const known = METHODS.has(method) ? method : '_OTHER'
  const error = status === undefined ? (fault ?? how) : status >= 500 ? String(status) : undefined
  const [, host, port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(headerIn(requestHeaders, 'host') ?? '') ?? []
  return {
    traceId: parent?.traceId ?? ids.slice(0, 32),
    spanId: ids.slice(32),
    ...(parent && { parentSpanId: parent.spanId }),
    ...(traceState !== undefined && { traceState }),
    name: `${known === '_OTHER' ? 'HTTP' : known}${route === undefined ? '' : ` ${route}`}`,
    kind: KIND_SERVER,
    startTimeUnixNano: nanoseconds(arrivedAt),
    endTimeUnixNano: nanoseconds(arrivedAt + durationMs),
    attributes: [
      text('http.request.method', known),
      text('http.request.method_original', known === method || method === UNREAD ? undefined : method),
      text('http.route', route),
      number('http.response.status_code', status),
      text('url.scheme', 'http'),
      text('url.path', path),
      text('url.query', query),
      text('server.address', host),
      number('server.port', port),
      text('user_agent.original', headerIn(requestHeaders, 'user-agent')),
      text('error.type', error),
      text('petstore_sandbox.operation', operation),
      text('petstore_sandbox.reason', reason),
      text('petstore_sandbox.fault', fault),
      text('petstore_sandbox.key', key),
      text('petstore_sandbox.sender', sender),
      text('petstore_sandbox.space', space),
    ].flat(),
    status: error === undefined ? {} : { code: STATUS_ERROR },
  }
}

function text(key: string, value: string | undefined): Attribute | [] {
  return value === undefined || value === '' ? [] : { key, value: { stringValue: value } }
}

function number(key: string, value: string | number | undefined): Attribute | [] {
  return value === undefined ? [] : { key, value: { intValue: String(value) } }
}

function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds)
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1_000_000)))
}
