import type { Operation, Reading } from '../contract/contract.js'
import type { AnswerEnd } from './ending.js'
import type { WireFault } from './faults.js'
import type { LongBody } from './long-body.js'
import type { Reason } from './reasons.js'
import type { EpochMs } from './time.js'

/** A request to the service, as it came from a socket or from `fetch`. */
export interface ServiceRequest {
  /** Upper case. */
  readonly method: string
  /** Path and query as received, not decoded. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Flat list as received: name, value, name, value … */
  readonly rawHeaders: readonly string[]
  /** Undefined if none was sent. */
  readonly body: Uint8Array | UnreadBody | undefined
  /** Address of the caller's end. */
  readonly address: string
  /** Ordinal of its connection, from 1, whose answers its sender has read; 0 where there is none, as in process, or where that is not certain. */
  readonly connection: number
  /** All answers of which this command, or an earlier one, said what became of them had reached its sender for certain: a position. */
  readonly heardUpTo: number
}

/** Why a body was not read: it is larger than the service takes, or there was no room for it beside those of others. */
export type UnreadBody = 'too-large' | 'no-room'

/** Stands for the method and target of something that could not be read as a request. */
export const UNREAD = '-'

/** Where a request leads. */
export type ServiceRoute =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly captured: readonly string[] }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' }
  /** Not under the base path. */
  | { readonly kind: 'outside' }

type Values = Readonly<Record<string, unknown>>

/** The parts of a request, read by its operation's contract; the body only if the operation takes one. */
export interface Readings {
  readonly path: Reading<Values>
  readonly query: Reading<Values>
  readonly body: Reading<Values> | undefined
}

/** The answer of a gate or an operation; the headers that every response has are added later. */
export interface HandlerResult {
  readonly status: number
  readonly body: string | LongBody
  /** The body as in EncodedText, if it is already encoded. */
  readonly binary?: string
  /** `application/json` if omitted; none is sent with an empty body. */
  readonly contentType?: string
  /** Flat list of further headers. */
  readonly headers?: readonly string[]
  /** The instant that its Retry-After stands for, before it is rounded up. */
  readonly retryAt?: EpochMs
  readonly reason?: Reason
  readonly fault?: WireFault
  /** It is the real service's own, but for what lists show besides; its rate-limit headers. */
  readonly forwarded?: ForwardedLimits
  /** The request was outside the contract (405, 413, 415 …), so the contract does not describe this response. */
  readonly outside?: true
}

/** What a real service says of its own limits, each header as it is to be passed on. */
export interface ForwardedLimits {
  readonly limit: string | undefined
  readonly remaining: string | undefined
  /** By the space's clock. */
  readonly reset: string | undefined
  /** The same as numbers, if all are. */
  readonly shown?: { readonly limit: number; readonly remaining: number; readonly resetAt: EpochMs }
}

/** A complete response. The edge sends it and decides nothing. */
export interface Reply {
  readonly status: number
  /** Flat list: name, value, name, value … */
  readonly headers: string[]
  readonly body: string | LongBody
  /** The body as in EncodedText, if it is already encoded. */
  readonly binary: string | undefined
  /** Delay before it is sent, in milliseconds. */
  readonly delayMs: number
  readonly fault: WireFault | undefined
  /** Its entry in the log; undefined if no space answered it. */
  readonly exchange: ExchangeRef | undefined
  /** An operation was carried out, so that it may tell of what is not kept yet. */
  readonly isOperated: boolean
  /** The contract describes it: the sandbox did not make it up, and the request was not outside. */
  readonly isDocumented: boolean
  /** Why it must not leave, if it must not: what it may tell of could not be kept, or it breaks the contract. */
  withheld?: unknown
}

/** A reply, or a promise of one if something must be awaited first (Prism). Never rejects. */
export type PendingReply = Reply | Promise<Reply>

/** Names an exchange. Ids begin again when a log is cleared, so the position tells whether it is still the same. */
export interface ExchangeRef {
  /** Empty for the default space. */
  readonly space: string
  /** Its id within the space. */
  readonly id: number
  /** Of the command that brought it. */
  readonly position: number
}

/** What became of an exchange, which only the edge knows. */
export interface EndedExchange extends ExchangeRef {
  readonly how: AnswerEnd
  /** From its arrival to its end, real time, in milliseconds. */
  readonly durationMs: number
  /** How much of that its answer was held back before it began to leave: by latency, or because it hangs. */
  readonly waitingMs: number
  /** How much of that its answer took to leave, once it had begun to. */
  readonly bodyMs: number
  /** Its client got no status: it had gone, or was cut off, before anything left. */
  readonly isUnanswered?: true
  /** Ordinal of the connection that carried it. */
  readonly connection: number
  /** What was sent in place of the reply, where that could not be. */
  readonly instead?: { readonly status: number; readonly body: string }
}

/** Largest request body that is accepted. @source docs/behaviour.md, "Request bodies" */
export const BODY_LIMIT_BYTES = 1024 * 1024

/** Whether a fault leaves the client without a status. */
export function leavesNoStatus({ fault }: HandlerResult): boolean {
  return fault === 'connection-reset' || fault === 'empty-response' || fault === 'hang'
}
