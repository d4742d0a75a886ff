import { readIsoInstant } from './instant.js'
import { LineSplitter } from './line-splitter.js'
import type { OwnFacts, TrafficHeaders, TrafficReader, TrafficRecord, TrafficSink } from './traffic-record.js'

/** What is asked of an exchange; nothing of it is certain. */
interface ExchangeLike {
  readonly event?: unknown
  readonly at?: unknown
  readonly space?: unknown
  readonly key?: unknown
  readonly method?: unknown
  readonly path?: unknown
  readonly query?: unknown
  readonly status?: unknown
  readonly reason?: unknown
  readonly fault?: unknown
  readonly ended?: unknown
  readonly durationMs?: unknown
  readonly request?: MessageLike
  readonly response?: MessageLike
}

interface MessageLike {
  readonly headers?: TrafficHeaders
  readonly body?: unknown
}

/**
 * Reads the sandbox's own log, an exchange on each line: what `serve --log json` prints, and `control requests -o json`,
 * which is one JSON list.
 *
 * @source docs/control-api.md, "Exchanges"
 */
export class LogReader implements TrafficReader {
  readonly unit = 'line'
  readonly #lines: LineSplitter
  #lastIsBad = false

  constructor(sink: TrafficSink) {
    this.#lines = new LineSplitter(
      (line, number) => {
        this.#lastIsBad = !readLine(line, number, sink)
      },
      (number) => sink.bad(number, 'is too long'),
    )
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk)
  }

  end(): string | undefined {
    return this.#lines.end() && this.#lastIsBad ? 'ends in the middle of a line' : undefined
  }
}

/** @returns whether it was JSON, or nothing */
function readLine(line: string, place: number, sink: TrafficSink): boolean {
  const text = line.trim().replace(/,$/, '')
  if (text === '' || text === '[' || text === ']') return true
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    sink.bad(place, 'is no JSON')
    return false
  }
  for (const exchange of Array.isArray(value) ? value : [value]) readExchange(exchange, place, sink)
  return true
}

function readExchange(value: unknown, place: number, sink: TrafficSink): void {
  if (typeof value !== 'object' || value === null) {
    sink.bad(place, 'is no exchange')
    return
  }
  const exchange: ExchangeLike = value
  // The log has other events, too: ready, warning.
  if (typeof exchange.event === 'string' && exchange.event !== 'exchange') return
  const at = readIsoInstant(exchange.at)
  const { method, path, query, key, request, response, durationMs } = exchange
  if (at === undefined || typeof method !== 'string' || typeof path !== 'string' || typeof key !== 'string') {
    sink.bad(place, 'is no exchange')
    return
  }
  const headers = request?.headers
  sink.record({
    place,
    at,
    durationMs: typeof durationMs === 'number' ? durationMs : 0,
    method,
    host: headers?.host?.toLowerCase(),
    path,
    query: textIn(query),
    headers,
    body: request === undefined ? undefined : textIn(request.body),
    status: typeof exchange.status === 'number' ? exchange.status : 0,
    answer: response === undefined ? undefined : { headers: response.headers ?? {}, body: textIn(response.body) },
    own: ownFactsOf(exchange, key),
  } satisfies TrafficRecord)
}

function ownFactsOf({ space, reason, fault, ended }: ExchangeLike, key: string): OwnFacts {
  return {
    key,
    space: textIn(space),
    reason: typeof reason === 'string' ? reason : null,
    fault: typeof fault === 'string' ? fault : null,
    ended: ended === 'sent' || ended === 'left' || ended === 'cut' || ended === 'unknown' ? ended : null,
  }
}

function textIn(text: unknown): string {
  return typeof text === 'string' ? text : ''
}
