import type { Operation, Reading } from '../contract/contract.js'
import type { WireFault } from './faults.js'
import type { Reason } from './problems.js'
import type { EpochMs } from './time.js'

export interface ServiceRequest {
  readonly method: string
  /** Path and query, not decoded. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Flat list: name, value, name, value … */
  readonly rawHeaders: readonly string[]
  readonly body: Uint8Array | UnreadBody | undefined
  readonly address: string
  /** Ordinal of its connection, from 1; 0 in process, or where its sender may not have read the responses. */
  readonly connection: number
  /** A position: its sender could read all responses whose end was reported by this command or an earlier one. */
  readonly deliveredUpTo: number
  /** The same for responses that had been sent but may not have been readable. Default: deliveredUpTo. */
  readonly sentUpTo?: number
}

export type DeliveryMarks = Required<Pick<ServiceRequest, 'deliveredUpTo' | 'sentUpTo'>>

/** Why a body was not read: it is too large, or the bodies of others take up the memory. */
export type UnreadBody = 'too-large' | 'no-room'

/** Method and target of input that is not a request. */
export const UNREAD = '-'

export type ServiceRoute =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly captured: readonly string[] }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' }
  /** Not under the base path. */
  | { readonly kind: 'outside' }

type Values = Readonly<Record<string, unknown>>

export interface Readings {
  readonly path: Reading<Values>
  readonly query: Reading<Values>
  readonly body: Reading<Values> | undefined
}

/** The response of a gate or an operation, without the common headers. */
export interface HandlerResult {
  readonly status: number
  readonly body: string | LongBody
  /** The UTF-8 bytes of the body, one character each, if it is already encoded. */
  readonly binary?: string
  /** Default: `application/json`. */
  readonly contentType?: string
  /** Flat list. */
  readonly headers?: readonly string[]
  /** The instant of its Retry-After, before rounding. */
  readonly retryAt?: EpochMs
  readonly reason?: Reason
  readonly fault?: WireFault
  /** Rate-limit headers of the real service, if this is its response. */
  readonly forwarded?: ForwardedLimits
  /** The request was outside the contract (405, 413, 415 …), so the contract does not describe this response. */
  readonly outside?: true
}

/** The rate limits of a real service, as header values. */
export interface ForwardedLimits {
  readonly limit: string | undefined
  readonly remaining: string | undefined
  /** By the space's clock. */
  readonly reset: string | undefined
  /** As numbers, if all are. */
  readonly shown?: { readonly limit: number; readonly remaining: number; readonly resetAt: EpochMs }
}

export interface Reply {
  readonly status: number
  /** Flat list. */
  readonly headers: string[]
  readonly body: string | LongBody
  /** See HandlerResult. */
  readonly binary: string | undefined
  /** Milliseconds. */
  readonly delayMs: number
  readonly fault: WireFault | undefined
  /** Its entry in the log; undefined if no space answered. */
  readonly exchange: ExchangeRef | undefined
  /** An operation was carried out, so it may show changes that are not stored yet. */
  readonly isOperated: boolean
  /** The contract describes it: the sandbox did not make it up, and the request was not outside. */
  readonly isDocumented: boolean
  /** Why it must not be sent: a change that it may show was not stored, or it breaks the contract. */
  withheld?: unknown
}

/** A promise if something must be awaited first (Prism, a real service). Never rejects. */
export type PendingReply = Reply | Promise<Reply>

/** Names an exchange. Ids begin again when a log is cleared; positions do not. */
export interface ExchangeRef {
  /** Empty for the default space. */
  readonly space: string
  readonly id: number
  /** Of the command of its request. */
  readonly position: number
}

/** How an exchange ended. */
export interface EndedExchange extends ExchangeRef {
  readonly how: ResponseEnd
  /** Real time, in milliseconds. */
  readonly durationMs: number
  /** Delay before the response, by latency or because it hangs. */
  readonly waitingMs: number
  /** Time from the first to the last byte of the response. */
  readonly bodyMs: number
  /** Its client left, or was cut off, before a status was sent. */
  readonly isUnanswered?: true
  readonly connection: number
  /** Sent instead of the reply. */
  readonly instead?: { readonly status: number; readonly body: string }
}

/** Largest request body that is accepted. @source docs/behaviour.md, "Request bodies" */
export const BODY_LIMIT_BYTES = 1024 * 1024

/** Whether a fault leaves the client without a status. */
export function leavesNoStatus({ fault }: HandlerResult): boolean {
  return fault === 'connection-reset' || fault === 'empty-response' || fault === 'hang'
}

/**
 * How a response ended: sent whole, cut by a fault or the sandbox, or the client left first. Unknown if its replica is
 * gone.
 */
export type ResponseEnd = 'sent' | 'cut' | 'left' | 'unknown'

/** The end of a response. Waits that it named begin here. */
export interface Ending {
  readonly position: number
  readonly how: ResponseEnd
  /** By the space's clock. */
  readonly at: EpochMs
  readonly wall: EpochMs
  /** Position of this end. Positions grow strictly, across the whole sandbox. */
  readonly endedAt: number
  readonly connection: number
  /** Uncertainty of the times, in milliseconds. Default: 0. */
  readonly slackMs?: number
}

/** What browsers request from every website. */
const UNASKED =
  /^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png|\.well-known\/(?:appspecific\/com\.chrome\.devtools\.json|change-password|traffic-advice))(?:\?|$)/

/**
 * Whether a browser sent this of its own accord: for an icon, its devtools, or the address bar. It costs no quota and
 * is not judged. A request with an API key was sent by a client.
 */
export function isBrowsersOwn({ method, target, headers }: ServiceRequest): boolean {
  if (headers.authorization !== undefined || method !== 'GET') return false
  return UNASKED.test(target) || isNavigation(headers)
}

/** Old browsers, and all of them without TLS beyond loopback, do not send sec-fetch-mode. */
function isNavigation(headers: ServiceRequest['headers']): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return String(headers.accept ?? '').startsWith('text/html')
}

export interface LongBody {
  /** From the beginning, each time. */
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

export function textOf(body: string | LongBody): string {
  return typeof body === 'string' ? body : [...body.pieces()].join('')
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The beginning of a body, without keeping the rest in memory. */
export function bodyStart(body: string | LongBody, characters: number): string {
  if (typeof body === 'string' && body.length <= characters) return body
  let start = ''
  for (const slice of sliceBody(body)) {
    start += slice
    if (start.length >= characters) break
  }
  // A slice of a string would keep the whole string; the detour makes a new one.
  return decoder.decode(encoder.encode(start.slice(0, characters)))
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
