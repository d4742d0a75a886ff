import type { Operation, Reading } from '../contract/contract.js'
import type { WireFault } from './faults.js'
import type { LongBody } from './long-body.js'
import type { Reason } from './reasons.js'
import type { EpochMs } from './time.js'

/** A request to the service, as it came from a socket or from `fetch`. */
export interface ServiceRequest {
  /** Upper case. */
  readonly method: string
  /** Path and query as received; nothing decoded. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Flat list as received: name, value, name, value … */
  readonly rawHeaders: readonly string[]
  /** Undefined if none was sent. */
  readonly body: Uint8Array | UnreadBody | undefined
  /** Address of the caller's end. */
  readonly address: string
  /** `dueAt` of the latest reply that the sender had got when it sent this; 0 if none is known of. */
  readonly heardUntil: number
}

/** Why a body was not read: it is larger than the service takes, or there was no room for it beside those of others. */
export type UnreadBody = 'too-large' | 'no-room'

/** Stands for method and target of what could not be read as a request. */
export const UNREAD = '-'

/** Where a request leads. */
export type ServiceRoute =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly captured: readonly string[] }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' }
  /** Not under the base path. */
  | { readonly kind: 'outside' }

type Values = Readonly<Record<string, unknown>>

/** What the request says, read by its operation's contract; body only where one is taken. */
export interface Readings {
  readonly path: Reading<Values>
  readonly query: Reading<Values>
  readonly body: Reading<Values> | undefined
}

/** What a gate or an operation answers; the headers that every answer has are put on afterwards. */
export interface Answer {
  readonly status: number
  readonly body: string | LongBody
  /** The body as in EncodedText, where it has been encoded before. */
  readonly binary?: string
  /** `application/json` if not given; undefined with an empty body sends none. */
  readonly contentType?: string
  /** Flat list of further headers. */
  readonly headers?: readonly string[]
  /** The instant that its Retry-After stands for, before it is rounded up. */
  readonly retryAt?: EpochMs
  readonly reason?: Reason
  readonly fault?: WireFault
  /** The request was outside the contract (405, 413, 415 …), so the contract says nothing of this answer. */
  readonly outside?: true
}

/** A complete answer. The edge sends it and decides nothing. */
export interface Reply {
  readonly status: number
  /** Flat list: name, value, name, value … */
  readonly headers: string[]
  readonly body: string | LongBody
  /** The body as in EncodedText, if it has been encoded before. */
  readonly binary: string | undefined
  /** To be sent so many milliseconds late. */
  readonly delayMs: number
  /** When it is sent, its delay included: monotonic milliseconds; 0 for what no space has answered. */
  readonly dueAt: number
  readonly fault: WireFault | undefined
}

/** Sent at once, unless something must be waited for (a write, Prism). Never rejects. */
export type PendingReply = Reply | Promise<Reply>

/** Largest request body that is read. @source docs/behaviour.md, "Request bodies" */
export const BODY_LIMIT_BYTES = 1024 * 1024

/** Faults after which the client has seen no status at all. */
export function leavesNoStatus({ fault }: Answer): boolean {
  return fault === 'connection-reset' || fault === 'empty-response' || fault === 'hang'
}
