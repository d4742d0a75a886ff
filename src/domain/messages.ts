import type { Reading, Route, Violation } from '../contract/contract.js'
import type { OtherKey } from '../contract/contract-data.js'
import type { FaultName, WireFault } from './faults.js'
import { OWN_CLIENT } from './keys.js'
import { type Bytes, MIB } from './numbers.js'
import type { ProblemCode, Reason } from './problems.js'
import type { EpochMs } from './time.js'

export interface ServiceRequest {
  readonly method: string
  /** Path and query, not decoded. */
  readonly target: string
  /** The space that its address names, which may be an invalid name; no longer in the target. */
  readonly space?: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Flat list: name, value, name, value … */
  readonly rawHeaders: readonly string[]
  readonly body: Uint8Array | UnreadBody | undefined
  readonly address: string
  /** Number of its connection, from 1; 0 in process, or if the sender may not have read earlier responses. */
  readonly connection: number
  /** The sender could read all responses that were reported as ended up to this position. */
  readonly deliveredUpTo: number
  /** Responses up to this position were sent, but may be unreadable yet. Default: deliveredUpTo. */
  readonly sentUpTo?: number
  /** Where its key was, if not in a header of the contract. */
  readonly keyPlace?: OtherKey
}

export type DeliveryMarks = Required<Pick<ServiceRequest, 'deliveredUpTo' | 'sentUpTo'>>

/** `no-room`: other bodies use up the memory. */
export type UnreadBody = 'too-large' | 'no-room'

/** Method and target of input that is not an HTTP request. */
export const UNREADABLE = '-'

/** `outside`: not under the base path. */
export type ServiceRoute = Route | { readonly kind: 'outside' }

/** Whether the contract requires no key: of the operation, of all on the path, or of all operations. */
export function isPublic(route: ServiceRoute): boolean {
  if (route.kind === 'outside') return false
  return route.kind === 'operation' ? route.operation.isPublic === true : route.isPublic
}

type Values = Readonly<Record<string, unknown>>

export interface DecodedRequest {
  readonly path: Reading<Values>
  readonly query: Reading<Values>
  readonly body: Reading<Values> | undefined
}

/** The response of a gate or an operation, without the common headers. */
export interface HandlerResult {
  readonly status: number
  readonly body: string | LongBody
  /** The UTF-8 bytes of the body, one per character, if it is already encoded. */
  readonly binary?: string
  /** Default: `application/json`. */
  readonly contentType?: string
  readonly headers?: readonly string[]
  /** Instant of Retry-After, before rounding. */
  readonly retryAt?: EpochMs
  readonly reason?: Reason
  readonly fault?: FaultName
  /** The fault rule that made it, as text. */
  readonly rule?: string
  readonly ruleId?: string
  /** Milliseconds before the response, by this rule. */
  readonly delayMs?: number
  /** The status of the operation's own response, if a fault loses it. */
  readonly lostStatus?: number
  /** Rate-limit headers of the real service, if this is its response. */
  readonly forwarded?: ForwardedLimits
  /** It is an error of the service. */
  readonly problem?: {
    readonly code: ProblemCode
    readonly message: string
    /** What the request breaks, one by one. */
    readonly violations?: readonly Violation[]
  }
  /** The request was outside the contract (405, 413, 415 …), so this response is not documented. */
  readonly outside?: true
}

export interface ForwardedLimits {
  readonly limit: string | undefined
  readonly remaining: string | undefined
  /** By the space's clock. */
  readonly reset: string | undefined
  /** As numbers, if all are numeric. */
  readonly shown?: { readonly limit: number; readonly remaining: number; readonly resetAt: EpochMs }
}

export interface Reply {
  readonly status: number
  readonly headers: string[]
  readonly body: string | LongBody
  /** See HandlerResult. */
  readonly binary: string | undefined
  /** Milliseconds. */
  readonly delayMs: number
  readonly fault: WireFault | undefined
  /** Its entry in the log; undefined outside all spaces. */
  readonly exchange: ExchangeRef | undefined
  /** The contract documents the response: it was not made up by the sandbox, and the request was not outside. */
  readonly isDocumented: boolean
  /** It replaces the response that the log has. */
  readonly isReplacement?: true
}

/** A promise if Prism or a real service has to respond first. Never rejects. */
export type PendingReply = Reply | Promise<Reply>

/** Identifies an exchange. Ids restart when a log is cleared; positions do not. */
export interface ExchangeRef {
  /** Empty for the default space. */
  readonly space: string
  readonly id: number
  /** Position of its request. */
  readonly position: number
}

export interface EndedExchange extends ExchangeRef {
  readonly how: ResponseOutcome
  /** Real time, in milliseconds. */
  readonly durationMs: number
  /** Delay by latency or a hang. */
  readonly waitingMs: number
  /** Time from the first to the last byte of the response. */
  readonly bodyMs: number
  /** No status was sent, because the client left or was cut off. */
  readonly isUnanswered?: true
  readonly connection: number
  /** Sent instead of the reply. */
  readonly instead?: { readonly status: number; readonly body: string }
}

const UPLOAD = /^\s*(?:multipart\/|image\/|audio\/|video\/|application\/(?:octet-stream|pdf|zip)\b)/i

/** The limit of a request body by its media type. @source docs/behaviour.md, "Request bodies" */
export function bodyLimit({ 'content-type': type }: ServiceRequest['headers']): Bytes {
  return UPLOAD.test(String(type)) ? 10 * MIB : MIB
}

/** The client gets no status. */
export function hasNoStatus({ fault }: HandlerResult): boolean {
  return fault === 'connection-reset' || fault === 'empty-response' || fault === 'hang'
}

/** Sent completely, cut by a fault or the sandbox, or left by the client. Unknown if its replica is gone. */
export type ResponseOutcome = 'sent' | 'cut' | 'left' | 'unknown'

/** The end of a response: its waits begin here. */
export interface Ending {
  readonly position: number
  readonly how: ResponseOutcome
  /** By the space's clock. */
  readonly at: EpochMs
  readonly wall: EpochMs
  /** Position of this end. Positions increase strictly across the sandbox. */
  readonly endedAt: number
  readonly connection: number
  /** Uncertainty of the times, in milliseconds. Default: 0. */
  readonly slackMs?: number
  /** Another response was sent, because a change could not be stored. */
  readonly isWithheld?: boolean
}

/** Requested by browsers from every website. */
const BROWSER_PROBES =
  /^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png|\.well-known\/(?:appspecific\/com\.chrome\.devtools\.json|change-password|traffic-advice))(?:\?|$)/

/**
 * Whether a browser sent this without code: for an icon, its devtools, or the address bar. It costs no quota and is not
 * judged. A request with an API key always comes from a client.
 */
export function isBrowserProbe({ method, target, headers }: ServiceRequest): boolean {
  if (headers.authorization !== undefined || method !== 'GET') return false
  return BROWSER_PROBES.test(target) || isNavigation(headers)
}

/** Sent by the dashboard, the docs page, and replays. */
export const OWN_CLIENT_HEADER = 'x-sandbox-client'

/** Marks a request as sent by a person. Browsers set `Sec-Fetch-Site` on loopback and over TLS, and no script can. */
export const OWN_MARK = { [OWN_CLIENT_HEADER]: OWN_CLIENT, 'sec-fetch-site': 'same-origin' }

/** Whether a person sent this from a page of the sandbox, or again: charged and logged as usual, but not judged. */
export function isOwnRequest({ headers }: Pick<ServiceRequest, 'headers'>): boolean {
  return headers[OWN_CLIENT_HEADER] === OWN_CLIENT && headers['sec-fetch-site'] === OWN_MARK['sec-fetch-site']
}

/** Old browsers do not send sec-fetch-mode, nor do others without TLS beyond loopback. */
function isNavigation(headers: ServiceRequest['headers']): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return String(headers.accept ?? '').startsWith('text/html')
}

/** A reply that no space has logged. */
export function bareReply(status: number, headers: string[], body: Reply['body'] = ''): Reply {
  return {
    status,
    headers,
    body,
    binary: undefined,
    delayMs: 0,
    fault: undefined,
    exchange: undefined,
    isDocumented: false,
  }
}

export interface LongBody {
  /** Starts from the beginning each time. */
  pieces(): Iterable<string>
}

export const SLICE_CHARACTERS = 64 * 1024

/** Slices of at most SLICE_CHARACTERS; surrogate pairs stay together. */
export function* sliceBody(body: string | LongBody): Generator<string, undefined> {
  let rest = ''
  for (const piece of typeof body === 'string' ? [body] : body.pieces()) {
    rest += piece
    while (rest.length > SLICE_CHARACTERS) {
      const end = isHighSurrogate(rest.charCodeAt(SLICE_CHARACTERS - 1)) ? SLICE_CHARACTERS - 1 : SLICE_CHARACTERS
      yield rest.slice(0, end)
      rest = rest.slice(end)
    }
  }
  if (rest !== '') yield rest
}

export function bodyText(body: string | LongBody): string {
  return typeof body === 'string' ? body : [...body.pieces()].join('')
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Does not keep the rest of the body in memory. */
export function bodyStart(body: string | LongBody, characters: number): string {
  if (typeof body === 'string' && body.length <= characters) return body
  let start = ''
  for (const slice of sliceBody(body)) {
    start += slice
    if (start.length >= characters) break
  }
  // A slice keeps the whole string alive; encoding makes a copy.
  return decoder.decode(encoder.encode(start.slice(0, characters)))
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
