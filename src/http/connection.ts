import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { DeliveryMarks, ExchangeRef, PendingReply, Reply } from '../domain/messages.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import { setTimeout } from '../system/timers.js'
import type { ReplyTimes } from './ended-exchange.js'
import type { PlainHead } from './plain-messages.js'

export interface Connection {
  readonly socket: Socket
  readonly id: number
  /** The marks when it was opened. */
  readonly opened: DeliveryMarks
  isUsed: boolean
  /** The marks when bytes were received that are not read as a request yet. */
  receivedAt: DeliveryMarks | undefined
  /** While its requests are plain; undefined once node:http reads it. */
  plain: PlainReading | undefined
  /** The reply to the first request that node:http reads, if the lane has decided it already. */
  decided: DecidedReply | undefined
  /** To the latest request that node:http has read. */
  response: ServerResponse | undefined
  /** To a request whose body is still being received. */
  incomplete: ServerResponse | undefined
  /** Bytes that the client had received when it was last checked, and when that changed. */
  taken: number | undefined
  takenAt: number
  /** Replies that are held back, or not sent completely. */
  readonly unsent: Set<Outgoing>
  /** Requests were received before the previous response was sent, so senders cannot be distinguished by it. */
  isPipelined: boolean
  /** Refusals since the last request, which may be unread. */
  refusals: ExchangeRef[]
  /** When the client closed its half, monotonic. */
  halfClosedAt: number | undefined
  /** The sandbox has closed it, not the client. */
  isCut: boolean
  /** It is about to end: further bytes are ignored. */
  isRefused: boolean
  /** Responses whose replies are pending. */
  readonly pending: Set<ServerResponse>
  /** Aborted when the client has left; created on demand. */
  leaving: AbortController | undefined
  readonly left: () => AbortSignal
  /** When it closed, monotonic. */
  closedAt: number | undefined
}

/** The reply, or error, to a request that arrived before node:http read it. */
export interface DecidedReply {
  /** @throws the error of the request */
  reply(): PendingReply
  readonly arrivedAt: number
}

/** State of a connection that the plain lane reads. */
export interface PlainReading {
  head: PlainHead | undefined
  isAnswering: boolean
  /** The bytes of a request whose reply is pending. */
  awaiting: Buffer | undefined
  /** The connection ends with the response. */
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

/** When to check for a client: most responses are sent before the first; on slow networks the third one finds out. */
const PROBE_AFTER_MS: readonly DurationMs[] = [100, 150, SECOND_MS]

/**
 * Finds out whether a client that has closed its half still waits for a response, by interim responses: if it is gone,
 * the system learns it from the first and reports it on the second.
 *
 * @source RFC 9110, section 15.2: clients read any number of them
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
 * Finds out whether a client closed the connection before it could read a refusal: the system then got a reset, and an
 * empty write fails. It succeeds if the client closed only its half, or has read everything.
 */
export function probeRefusals({ socket, refusals }: Connection): void {
  if (refusals.length > 0 && socket.writable) socket.write('')
}

/** A client that receives nothing of what is sent to it for this long is cut. */
export const STALL_TIMEOUT_MS: DurationMs = 30 * SECOND_MS

/** Checks a connection periodically. @param now monotonic */
export function hasStalled(connection: Connection, now: number): boolean {
  const { socket } = connection
  const taken = socket.writableLength === 0 ? undefined : socket.bytesWritten - socket.writableLength
  if (taken === undefined || taken !== connection.taken) {
    connection.taken = taken
    connection.takenAt = now
    return false
  }
  return now - connection.takenAt >= STALL_TIMEOUT_MS
}

/** Detected this soon, the client left when it closed its half. The second piece of a slow body detects it. */
const DETECTED_WITHIN_MS: DurationMs = 1.5 * SECOND_MS

/** When the client of a reply left, monotonic. */
export function leftAt({ connection, arrivedAt }: Outgoing, now = systemClock.monotonic()): number {
  const { halfClosedAt, closedAt = now } = connection
  if (halfClosedAt === undefined || closedAt - halfClosedAt > DETECTED_WITHIN_MS) return closedAt
  return Math.max(arrivedAt, halfClosedAt)
}
