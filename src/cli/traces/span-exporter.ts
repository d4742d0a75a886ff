import type { Contract } from '../../contract/contract.js'
import { UNREAD } from '../../domain/messages.js'
import { headerIn } from '../../domain/request-headers.js'
import type { DurationMs } from '../../domain/time.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import { messageOf } from '../../system/message-of.js'
import { packageVersion } from '../../system/package-files.js'
import type { Environment } from '../../system/this-process.js'

export interface Traces {
  add(record: ExchangeRecord): void
  close(): Promise<void>
}

export interface TracedService {
  readonly basePath: string
  contract(): Contract | undefined
  warn(message: string): void
}

const SEND_AFTER_MS: DurationMs = 1000
const BATCH_SPANS = 256
const MAX_WAITING_SPANS = 2048
const SEND_TIMEOUT_MS: DurationMs = 10_000
const CLOSE_TIMEOUT_MS: DurationMs = 2000
const ID_BYTES = 24

interface Target {
  readonly url: URL
  readonly headers: Headers
}

/** @returns undefined after a warning if the environment is invalid, because tracing must not stop a start */
export function openSpanExporter(env: Environment, service: TracedService): Traces | undefined {
  try {
    return new SpanExporter(readTarget(env), env.OTEL_SERVICE_NAME || 'petstore-sandbox', service)
  } catch (error) {
    service.warn(`${messageOf(error)} No spans are sent.`)
    return undefined
  }
}

class SpanExporter implements Traces {
  readonly #target: Target
  readonly #service: TracedService
  readonly #resource: object
  readonly #closing = new AbortController()
  readonly #waiting: TracedExchange[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #hasWarned = false

  constructor(target: Target, serviceName: string, service: TracedService) {
    this.#target = target
    this.#service = service
    const attributes = { 'service.name': serviceName, 'service.version': packageVersion }
    this.#resource = {
      attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    }
  }

  add(record: ExchangeRecord): void {
    if (this.#waiting.length >= MAX_WAITING_SPANS) {
      this.#warnOnce(`more than ${MAX_WAITING_SPANS} are waiting, so some are dropped`)
      return
    }
    const exchange = tracedExchange(record)
    if (exchange === undefined) return
    this.#waiting.push(exchange)
    if (this.#waiting.length >= BATCH_SPANS) void this.#send()
    else this.#timer ??= setTimeout(() => void this.#send(), SEND_AFTER_MS).unref()
  }

  async close(): Promise<void> {
    const timeout = setTimeout(() => this.#closing.abort(), CLOSE_TIMEOUT_MS)
    await this.#send()
    clearTimeout(timeout)
  }

  #send(): Promise<void> {
    clearTimeout(this.#timer)
    this.#sending ??= this.#sendBatches().finally(() => {
      this.#timer = undefined
      this.#sending = undefined
    })
    return this.#sending
  }

  async #sendBatches(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      const batch = this.#waiting.splice(0, BATCH_SPANS)
      await this.#post(batch).catch((error: unknown) => this.#warnOnce(messageOf(Object(error).cause ?? error)))
    }
  }

  async #post(batch: readonly TracedExchange[]): Promise<void> {
    const scope = { name: 'petstore-sandbox', version: packageVersion }
    const spans = batch.map((exchange) => this.#span(exchange))
    const response = await fetch(this.#target.url, {
      method: 'POST',
      headers: this.#target.headers,
      body: JSON.stringify({ resourceSpans: [{ resource: this.#resource, scopeSpans: [{ scope, spans }] }] }),
      // Another address must not get the headers.
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(SEND_TIMEOUT_MS), this.#closing.signal]),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`the collector returned ${response.status}`)
  }

  #span(exchange: TracedExchange) {
    const { basePath, contract } = this.#service
    const operation = contract()?.operations.find(({ id }) => id === exchange.operation)
    const ids = Buffer.from(crypto.getRandomValues(new Uint8Array(ID_BYTES))).toString('hex')
    return otlpSpan(exchange, ids, operation && basePath + operation.path)
  }

  #warnOnce(problem: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { origin, pathname } = this.#target.url
    this.#service.warn(`Spans for ${origin}${pathname} were lost: ${problem}. Later losses are not reported.`)
  }
}

function readTarget(env: Environment): Target {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact, OTEL_EXPORTER_OTLP_ENDPOINT: base = '' } = env
  const url = exact
    ? readUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', exact)
    : readUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base)
  if (!exact) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  const headers = readHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? '')
  headers.set('Content-Type', 'application/json')
  return { url, headers }
}

/** The value is not repeated, because it may contain a password. */
function readUrl(variable: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  throw new Error(`${variable} must be an http or https address without a password, such as http://127.0.0.1:4318.`)
}

/** `name=value,name=value`, with values percent-encoded. */
function readHeaders(text: string): Headers {
  const headers = new Headers()
  try {
    for (const pair of text.split(',')) {
      const [name = '', ...value] = pair.split('=')
      if (pair.trim() !== '') headers.set(name.trim(), decodeURIComponent(value.join('=').trim()))
    }
  } catch {
    throw new Error('OTEL_EXPORTER_OTLP_HEADERS must be headers such as api-key=secret,tenant=checkout.')
  }
  return headers
}

/** What a span needs of an exchange; bodies would take memory until the batch is sent. */
type TracedExchange = Omit<ExchangeRecord, 'requestBody' | 'responseBody' | 'responseHeaders'>

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
function tracedExchange(record: ExchangeRecord): TracedExchange | undefined {
  if (parentSpan(record.requestHeaders)?.isSampled === false) return undefined
  const { requestBody: _, responseBody: __, responseHeaders: ___, ...exchange } = record
  return exchange
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** @source docs/deploy.md, "OpenTelemetry" */
function parentSpan(headers: readonly string[]): ParentSpan | undefined {
  const [, traceId, spanId, flags = ''] = TRACE_PARENT.exec(headerIn(headers, 'traceparent') ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

const KIND_SERVER = 2
const STATUS_ERROR = 2
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

/**
 * A span of OTLP/JSON, named and described by the semantic conventions of HTTP servers.
 * @param ids random bytes in hex: 32 digits for a new trace, and 16 for the span
 * @param route the path template with the base path; undefined outside the contract
 */
function otlpSpan(exchange: TracedExchange, ids: string, route: string | undefined) {
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
