import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { DeliveryMarks, ExchangeRef, PendingReply, Reply } from '../domain/messages.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import type { ReplyTimes } from './replies.js'

/** Longer than common clients keep idle connections (browsers: 5 min), so that they do not write to a closed one. */
export const KEEP_ALIVE_MS: DurationMs = 6 * MINUTE_MS

export interface Connection {
  readonly socket: Socket
  readonly id: number
  /** Monotonic. */
  readonly openedAt: number
  readonly order: ConnectionOrder
  /** Undefined if node:http reads the connection. */
  reader: FirstReader | undefined
  /** To the next request that node:http reads, which was already executed. */
  decided: DecidedReply | undefined
  response: ServerResponse | undefined
  receivingBody: ServerResponse | undefined
  /** Bytes passed to the kernel at the last check, and when that number changed. */
  flushedBytes: number | undefined
  flushedAt: number
  readonly unsent: Set<Outgoing>
  /** Requests whose replies are pending or delayed. */
  awaited: number
  /** Requests arrived before the previous response was sent, so the connection does not identify a sender. */
  isPipelined: boolean
  /** Refusals sent since the last request, which the client may not have read. */
  refusals: ExchangeRef[]
  isCutByServer: boolean
  isRefused: boolean
  /** Returns a signal that is aborted when the client has left. */
  readonly left: () => AbortSignal
}

/** Which responses the sender of the next request on a connection had received. */
export interface ConnectionOrder {
  readonly opened: DeliveryMarks
  isUsed: boolean
  /** Set while received bytes are not yet read as a request. */
  receivedAt: DeliveryMarks | undefined
}

/** Reads a connection before node:http does, until it passes it on. */
export interface FirstReader {
  /** No request is under way. */
  readonly isQuiet: boolean
  /** It has been quiet for too long. @param now monotonic */
  isIdle(now: number): boolean
}

export interface DecidedReply {
  readonly reply: PendingReply
  readonly arrivedAt: number
}

/** A reply on its way to the client. */
export interface Outgoing extends ReplyTimes {
  readonly connection: Connection
  readonly reply: Reply
  /** Passes it to the socket. */
  write(): void
  /** The kernel has all of it. */
  readonly isFlushed: boolean
  /** The kernel has all of it, but its stream does not know yet. */
  isTaken?: boolean
  /** Calls once it is flushed; never if the connection closes first. */
  whenFlushed(call: () => void): void
  /** Some of it was passed to the socket, if it has been written. */
  readonly hasBegun: boolean
  /** Its end was reported. */
  reported?(): void
}

export const STALL_TIMEOUT_MS: DurationMs = 30 * SECOND_MS

export function hasStalled(connection: Connection, now: number): boolean {
  const { socket } = connection
  const flushed = socket.writableLength === 0 ? undefined : socket.bytesWritten - socket.writableLength
  if (flushed === undefined || flushed !== connection.flushedBytes) {
    connection.flushedBytes = flushed
    connection.flushedAt = now
    return false
  }
  return now - connection.flushedAt >= STALL_TIMEOUT_MS
}
