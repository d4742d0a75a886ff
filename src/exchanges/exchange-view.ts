import type { Reason } from '../domain/reasons.js'
import type { ExchangeRecord } from './exchange-record.js'

/** One request and its response, as the log shows it. @source docs/behaviour.md, "Exchanges" */
export interface Exchange {
  readonly id: number
  /** ISO 8601, UTC, by the space's clock. */
  readonly at: string
  /** Empty for the default space. */
  readonly space: string
  /** Label of the key; `unknown` for a token that the sandbox does not know, `none` where none was sent. */
  readonly key: string
  readonly method: string
  readonly path: string
  /** What followed the "?". */
  readonly query: string
  readonly operation: string | null
  /** Null if a fault left the client without one. */
  readonly status: number | null
  readonly reason: Reason | null
  readonly durationMs: number
  readonly request: ExchangeMessage
  readonly response: ExchangeMessage
}

export interface ExchangeMessage {
  /** Lower-case names; the values of a repeated name are joined. */
  readonly headers: Readonly<Record<string, string>>
  /** At most 64 KiB of it. */
  readonly body: string
}

/** An exchange without its messages. */
type ExchangeFacts = Omit<Exchange, 'request' | 'response'>

export function exchangeFacts(record: ExchangeRecord): ExchangeFacts {
  const { id, at, space, key, method, path, query, operation, status, reason, durationMs } = record
  return {
    id,
    at: new Date(at).toISOString(),
    space,
    key,
    method,
    path,
    query,
    operation: operation ?? null,
    status: status ?? null,
    reason: reason ?? null,
    durationMs: Math.round(durationMs * 1000) / 1000,
  }
}

export function exchangeView(record: ExchangeRecord): Exchange {
  return {
    ...exchangeFacts(record),
    request: { headers: headersView(record.requestHeaders), body: record.requestBody },
    response: { headers: headersView(record.responseHeaders), body: record.responseBody },
  }
}

function headersView(list: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>()
  for (let i = 0; i < list.length; i += 2) {
    const name = String(list[i]).toLowerCase()
    const before = headers.get(name)
    headers.set(name, before === undefined ? String(list[i + 1]) : `${before}, ${list[i + 1]}`)
  }
  return Object.fromEntries(headers)
}
