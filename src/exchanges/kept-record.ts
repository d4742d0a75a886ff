import { passingText } from '../domain/passing-text.js'
import type { ExchangeRecord } from './exchange-record.js'

const REMAINING = 'X-RateLimit-Remaining'
/** In place of the text of `remaining`, which would be kept for each request. No header has a line feed in it. */
const AS_REMAINING = '\n'

/** A record in the log, which is written to: what became of its exchange, and in time the next exchange. */
export type KeptRecord = {
  -readonly [Field in keyof Omit<ExchangeRecord, 'responseHeaders'>]: ExchangeRecord[Field]
} & {
  /** Nobody else has this list. */
  readonly responseHeaders: string[]
}

/**
 * A record of its own, with the same content.
 *
 * Every field has its place, so that two logs with the same content have the same text: JSON leaves out what is undefined.
 */
export function copyOf(record: ExchangeRecord): KeptRecord {
  return {
    id: record.id,
    position: record.position,
    at: record.at,
    arrivedAt: record.arrivedAt,
    space: record.space,
    key: record.key,
    method: record.method,
    path: record.path,
    query: record.query,
    operation: record.operation,
    status: record.status,
    reason: record.reason,
    fault: record.fault,
    how: record.how,
    durationMs: record.durationMs,
    waitingMs: record.waitingMs,
    bodyMs: record.bodyMs,
    remaining: record.remaining,
    drift: record.drift,
    requestHeaders: record.requestHeaders,
    requestBody: record.requestBody,
    responseHeaders: withRemaining([...record.responseHeaders], record.remaining),
    responseBody: record.responseBody,
  }
}

/** Writes another exchange into a record, every field of it; one by one, as every request does it. */
export function rewrite(kept: KeptRecord, record: ExchangeRecord): void {
  kept.id = record.id
  kept.position = record.position
  kept.at = record.at
  kept.arrivedAt = record.arrivedAt
  kept.space = record.space
  kept.key = record.key
  kept.method = record.method
  kept.path = record.path
  kept.query = record.query
  kept.operation = record.operation
  kept.status = record.status
  kept.reason = record.reason
  kept.fault = record.fault
  kept.how = record.how
  kept.durationMs = record.durationMs
  kept.waitingMs = record.waitingMs
  kept.bodyMs = record.bodyMs
  kept.remaining = record.remaining
  kept.drift = record.drift
  kept.requestHeaders = record.requestHeaders
  kept.requestBody = record.requestBody
  const { responseHeaders } = kept
  const { length } = record.responseHeaders
  for (let i = 0; i < length; i++) responseHeaders[i] = record.responseHeaders[i] ?? ''
  const value = responseHeaders.indexOf(REMAINING) + 1
  if (value > 0 && responseHeaders[value] === passingText(record.remaining)) responseHeaders[value] = AS_REMAINING
  if (responseHeaders.length > length) responseHeaders.length = length
  kept.responseBody = record.responseBody
}

function withRemaining(headers: string[], remaining: number): string[] {
  const value = headers.indexOf(AS_REMAINING)
  if (value > 0) headers[value] = passingText(remaining)
  return headers
}
