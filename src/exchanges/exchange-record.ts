import type { FaultName } from '../domain/faults.js'
import type { ResponseOutcome, ServiceRequest } from '../domain/messages.js'
import type { Reason } from '../domain/problems.js'
import { isSecretName, mayHoldAddress, redactHeader } from '../domain/redaction.js'
import type { KeyHeader } from '../domain/request-headers.js'
import type { EpochMs } from '../domain/time.js'

/** One logged request. It never contains a real secret: an unknown token is only `unknown`. */
export interface ExchangeRecord {
  readonly id: number
  /** Of the command of its request. */
  readonly position: number
  readonly at: EpochMs
  readonly arrivedAt: EpochMs
  /** Empty for the default space. */
  readonly space: string
  /** Label of a known key, `unknown`, or `none` without a key. */
  readonly key: string
  readonly sender?: string | undefined
  readonly method: string
  readonly path: string
  readonly query: string
  readonly operation: string | undefined
  /** Undefined if the client got no status: by a fault, or because it left. */
  readonly status: number | undefined
  readonly reason: Reason | undefined
  readonly fault?: FaultName | undefined
  readonly rule?: string | undefined
  readonly ruleId?: string | undefined
  /** Id of the record that it created. */
  readonly created?: string | undefined
  readonly disobeyed?: IgnoredResponse | undefined
  /** Undefined while it is under way. */
  readonly how: ResponseOutcome | undefined
  /** From its arrival to its end, real time; 0 while it is under way. */
  readonly durationMs: number
  readonly waitingMs: number
  readonly bodyMs: number
  readonly remaining: number
  /** Flat lists. */
  readonly requestHeaders: readonly string[]
  readonly requestBody: string
  readonly responseHeaders: readonly string[]
  readonly responseBody: string
}

/** Fields that JSON may leave out. They come first in every record, so that equal logs have equal texts. */
export const WITHOUT_VALUES = {
  sender: undefined,
  operation: undefined,
  status: undefined,
  reason: undefined,
  fault: undefined,
  rule: undefined,
  ruleId: undefined,
  created: undefined,
  disobeyed: undefined,
  how: undefined,
}

/** Characters of a body that the log keeps. @source docs/control-api.md, "The log" */
export const LOG_BODY_CHARACTERS = 64 * 1024

/** A token is replaced by its label. @param isPublic the caller's key is not a secret */
export function loggedHeaders(
  request: ServiceRequest,
  isPublic: boolean,
  label: string,
  keyHeaders: readonly KeyHeader[],
): readonly string[] {
  const { rawHeaders } = request
  if (!mayHoldSecrets(request, isPublic)) return rawHeaders
  return rawHeaders.map((item, index) =>
    index % 2 === 0 ? item : redactHeader(rawHeaders[index - 1] ?? '', item, keyHeaders, label),
  )
}

/** Also if Authorization is repeated, or its key is secret. */
function mayHoldSecrets({ headers, rawHeaders }: ServiceRequest, isPublic: boolean): boolean {
  let names = 0
  for (const name in headers) {
    names++
    const value = headers[name]
    if (name === 'authorization' ? !isPublic : isSecretName(name) || typeof value !== 'string' || mayHoldAddress(value))
      return true
  }
  return names * 2 !== rawHeaders.length
}

/** An earlier response that a request ignored: it came before a wait was over, or repeats a write that was stored. */
export interface IgnoredResponse {
  /** The rule of conduct, as judged when the request arrived: `early-retry`. */
  readonly rule: string
  readonly exchange: number
}

/** One request and its response, as the log shows it. @source docs/control-api.md, "Exchanges" */
export interface Exchange {
  readonly id: number
  /** ISO 8601, UTC, by the space's clock. */
  readonly at: string
  /** ISO 8601, UTC, real time. */
  readonly receivedAt: string
  /** Empty for the default space. */
  readonly space: string
  /** Label of the key; `unknown` for an unknown token, `none` without one. */
  readonly key: string
  /** Name of the sender among those that share the key; absent if it has none. */
  readonly sender?: string
  readonly method: string
  readonly path: string
  /** What followed the "?". */
  readonly query: string
  readonly operation: string | null
  /** Null while it is under way, and if the client got none: by a fault, or because it left. */
  readonly status: number | null
  readonly reason: Reason | null
  readonly fault: FaultName | null
  /** The fault rule that was applied, such as `getPet:503@25%`; absent without one. */
  readonly rule?: string
  /** Tells it apart from rules with the same text. */
  readonly ruleId?: string
  /** Id of the record that it created, whether or not the response arrived; absent without one. */
  readonly created?: string
  /** Absent unless conduct found one. */
  readonly disobeyed?: IgnoredResponse
  /**
   * Null while it is under way. `sent`: whole; `left`: the client left first; `cut`: by a fault or a stop of the
   * sandbox; `unknown`: its replica is gone.
   */
  readonly ended: ResponseOutcome | null
  /** From its arrival to its end, in real milliseconds; while it is under way, to now. */
  readonly durationMs: number
  readonly timing: ExchangeTiming
  readonly request: ExchangeMessage
  /** Empty while it is under way, and if nothing was sent. */
  readonly response: ExchangeMessage
}

/** The parts of the duration, in real milliseconds; 0 while it is under way. */
export interface ExchangeTiming {
  /** Until the response was decided, and its changes were stored. */
  readonly handlingMs: number
  /** Delay after that: by latency, or because it hangs. */
  readonly waitingMs: number
  /** From the first to the last byte. */
  readonly bodyMs: number
}

export interface ExchangeMessage {
  /** Lower-case names; values of a repeated name are joined. */
  readonly headers: Readonly<Record<string, string>>
  /** At most 64 KiB of it. */
  readonly body: string
}

type ExchangeFacts = Omit<Exchange, 'request' | 'response'>

export function exchangeFacts(record: ExchangeRecord, wall: EpochMs = record.arrivedAt): ExchangeFacts {
  const { id, at, space, key, sender, method, path, query, operation, status, reason, fault, how } = record
  const durationMs = how === undefined ? Math.max(0, wall - record.arrivedAt) : record.durationMs
  const { waitingMs, bodyMs, rule, ruleId, created, disobeyed } = record
  return {
    id,
    at: new Date(at).toISOString(),
    receivedAt: new Date(record.arrivedAt).toISOString(),
    space,
    key,
    ...(sender === undefined ? {} : { sender }),
    method,
    path,
    query,
    operation: operation ?? null,
    // A response that was not sent may yet be rolled back.
    status: how === undefined ? null : (status ?? null),
    reason: reason ?? null,
    fault: fault ?? null,
    ...(rule === undefined ? {} : { rule }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(created === undefined ? {} : { created }),
    ...(disobeyed === undefined ? {} : { disobeyed }),
    ended: how ?? null,
    durationMs: rounded(durationMs),
    timing: {
      handlingMs: how === undefined ? 0 : rounded(Math.max(0, durationMs - waitingMs - bodyMs)),
      waitingMs: rounded(waitingMs),
      bodyMs: rounded(bodyMs),
    },
  }
}

export function exchangeView(record: ExchangeRecord, wall?: EpochMs): Exchange {
  const facts = exchangeFacts(record, wall)
  const [headers, body] = facts.status === null ? [[], ''] : [record.responseHeaders, record.responseBody]
  // A copy of the facts would cost more than all the rest.
  return Object.assign(facts, {
    request: { headers: headersView(record.requestHeaders), body: record.requestBody },
    response: { headers: headersView(headers), body },
  })
}

export function begunView(record: ExchangeRecord): Exchange {
  return exchangeView({ ...record, how: undefined, durationMs: 0, waitingMs: 0, bodyMs: 0 })
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

/** A header may be named `__proto__`. An object of this prototype is faster than one without. */
const NO_NAMES: object = Object.create(null)

/** Called for each exchange that an open page shows. */
function headersView(list: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(NO_NAMES)
  for (let i = 0; i < list.length; i += 2) {
    const name = String(list[i]).toLowerCase()
    headers[name] = name in headers ? `${headers[name]}, ${list[i + 1]}` : String(list[i + 1])
  }
  return { ...headers }
}
