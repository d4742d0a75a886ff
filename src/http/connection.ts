import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { DeliveryMarks, ExchangeRef, PendingReply, Reply } from '../domain/messages.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { setTimeout, systemClock } from '../system/system-clock.js'
import type { PlainHead } from './plain-messages.js'
import type { ReplyTimes } from './replies.js'

export interface Connection {
  readonly socket: Socket
  readonly id: number
  readonly opened: DeliveryMarks
  isUsed: boolean
  /** Set while received bytes are not yet read as a request. */
  receivedAt: DeliveryMarks | undefined
  /** Undefined once node:http reads the connection. */
  plain: PlainReading | undefined
  decided: DecidedReply | undefined
  response: ServerResponse | undefined
  receivingBody: ServerResponse | undefined
  /** Bytes passed to the kernel at the last check, and when that number changed. */
  flushedBytes: number | undefined
  flushedAt: number
  readonly unsent: Set<Outgoing>
  /** Requests arrived before the previous response was sent, so the connection does not identify a sender. */
  isPipelined: boolean
  /** Refusals sent since the last request, which the client may not have read. */
  refusals: ExchangeRef[]
  /** When the client closed its sending half; monotonic. */
  halfClosedAt: number | undefined
  isCutByServer: boolean
  isRefused: boolean
  readonly pending: Set<ServerResponse>
  /** Created on demand. */
  leaving: AbortController | undefined
  readonly left: () => AbortSignal
  closedAt: number | undefined
}

export interface DecidedReply {
  reply(): PendingReply
  readonly arrivedAt: number
}

export interface PlainReading {
  head: PlainHead | undefined
  isResponding: boolean
  awaiting: Buffer | undefined
  isLast: boolean
  readonly waiting: Buffer[]
  /** When the last request arrived, or the connection was opened; monotonic. */
  quietSince: number
  stop(): void
}

export interface Outgoing extends ReplyTimes {
  readonly connection: Connection
  /** Undefined on the plain lane. */
  readonly response: ServerResponse | undefined
  readonly head: string | undefined
  readonly reply: Reply
}

/** Most responses are sent before the first probe; on slow networks the third detects a closed connection. */
const PROBE_AFTER_MS: readonly DurationMs[] = [100, 150, SECOND_MS]

/**
 * Detects whether a client that has half-closed its connection still waits, by sending interim responses: the kernel
 * receives a reset for the first, and reports it on the second.
 * @source RFC 9110, section 15.2: clients accept any number of them
 */
export function probeHalfClosed({ unsent, pending }: Connection): void {
  const probe = () => {
    const heldBack = [...unsent].flatMap(({ waitsSince, response }) =>
      waitsSince === undefined || response === undefined ? [] : [response],
    )
    const response = [...pending, ...heldBack].find(
      ({ socket, headersSent, req }) => socket !== null && !headersSent && req.httpVersion === '1.1',
    )
    response?.writeProcessing()
  }
  for (const after of PROBE_AFTER_MS) setTimeout(probe, after).unref()
}

/**
 * Detects a client that closed its connection without reading a refusal: the kernel received a reset, so an empty write
 * fails. The write succeeds if the client has only half-closed it, or has read everything.
 */
export function probeRefusals({ socket, refusals }: Connection): void {
  if (refusals.length > 0 && socket.writable) socket.write('')
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

/**
 * If a half-closed client is detected as gone within this time, it counts as gone since it half-closed. The second piece
 * of a slow body detects it.
 */
const DETECTED_WITHIN_MS: DurationMs = 1.5 * SECOND_MS

/** When the client of a reply left, monotonic. */
export function leftAt({ connection, arrivedAt }: Outgoing, now = systemClock.monotonic()): number {
  const { halfClosedAt, closedAt = now } = connection
  if (halfClosedAt === undefined || closedAt - halfClosedAt > DETECTED_WITHIN_MS) return closedAt
  return Math.max(arrivedAt, halfClosedAt)
}
