import type { AnswerEnd } from '../domain/ending.js'
import type { WireFault } from '../domain/faults.js'
import type { Reason } from '../domain/reasons.js'
import type { EpochMs } from '../domain/time.js'
import type { ExchangeRecord } from './exchange-record.js'

/** One request and its response, as the log shows it. @source docs/control-api.md, "Exchanges" */
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
  /** Null while it is under way, and if the client was left without one: by a fault, or because it had gone. */
  readonly status: number | null
  readonly reason: Reason | null
  /** What is done to the answer on the wire, by a fault that is no status. */
  readonly fault: WireFault | null
  /** Null while it is under way. `sent`: whole; `left`: its client went first; `cut`: by a fault, or because the sandbox stopped; `unknown`: its replica is gone, or gave up. */
  readonly ended: AnswerEnd | null
  /** From its arrival to its end, in real milliseconds; while it is under way, to now. */
  readonly durationMs: number
  readonly timing: ExchangeTiming
  /** How an answer of the real service drifts from the contract; missing where it does not. */
  readonly drift?: readonly string[]
  readonly request: ExchangeMessage
  /** What was sent; empty while it is under way, and where nothing was. */
  readonly response: ExchangeMessage
}

/** Of what the duration of an exchange is made, in real milliseconds. While it is under way, all of them are 0. */
export interface ExchangeTiming {
  /** Until the answer was decided, and what it tells of was kept. */
  readonly handlingMs: number
  /** How long it was held back then: by latency, or because it hangs. */
  readonly waitingMs: number
  /** From when it began to leave until its end: a slow body, or a slow reader. */
  readonly bodyMs: number
}

export interface ExchangeMessage {
  /** Lower-case names; the values of a repeated name are joined. */
  readonly headers: Readonly<Record<string, string>>
  /** At most 64 KiB of it. */
  readonly body: string
}

/** An exchange without its messages. */
type ExchangeFacts = Omit<Exchange, 'request' | 'response'>

/** @param wall what the wall clock says */
export function exchangeFacts(record: ExchangeRecord, wall: EpochMs = record.arrivedAt): ExchangeFacts {
  const { id, at, space, key, method, path, query, operation, status, reason, fault, how } = record
  const durationMs = how === undefined ? Math.max(0, wall - record.arrivedAt) : record.durationMs
  const { waitingMs, bodyMs, drift } = record
  return {
    id,
    at: new Date(at).toISOString(),
    space,
    key,
    method,
    path,
    query,
    operation: operation ?? null,
    // What has not been sent is not told: it may yet be taken back.
    status: how === undefined ? null : (status ?? null),
    reason: reason ?? null,
    fault: fault ?? null,
    ended: how ?? null,
    durationMs: rounded(durationMs),
    timing: {
      handlingMs: how === undefined ? 0 : rounded(Math.max(0, durationMs - waitingMs - bodyMs)),
      waitingMs: rounded(waitingMs),
      bodyMs: rounded(bodyMs),
    },
    ...(drift === undefined ? {} : { drift }),
  }
}

/** An exchange as it is now. @param wall what the wall clock says */
export function exchangeView(record: ExchangeRecord, wall?: EpochMs): Exchange {
  const facts = exchangeFacts(record, wall)
  return {
    ...facts,
    request: { headers: headersView(record.requestHeaders), body: record.requestBody },
    response:
      facts.status === null
        ? { headers: {}, body: '' }
        : { headers: headersView(record.responseHeaders), body: record.responseBody },
  }
}

/** An exchange as it was when it had just come. */
export function begunView(record: ExchangeRecord): Exchange {
  return exchangeView({ ...record, how: undefined, durationMs: 0, waitingMs: 0, bodyMs: 0 })
}

/** To the microsecond. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
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
