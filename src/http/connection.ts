import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ExchangeRef, PendingReply, Reply } from '../domain/messages.js'
import type { AnswerTimes } from './ended-exchange.js'
import type { PlainHead } from './plain-request.js'

/** What is known of an open connection. */
export interface Connection {
  readonly socket: Socket
  /** Ordinal, from 1. */
  readonly id: number
  /** What whoever opened it had heard by then: a position. */
  readonly heardUpTo: number
  /** As long as its requests are plain; undefined once node:http reads it. */
  plain: PlainReading | undefined
  /** The reply that the first request has, which node:http reads, if it was decided before. */
  decided: DecidedReply | undefined
  /** The response to the latest request that node:http has read. */
  response: ServerResponse | undefined
  /** To a request whose body is still coming, so that nothing answers it yet. */
  unread: ServerResponse | undefined
  /** Bytes that its reader had taken when there was more to take, and since when it has taken no more. */
  taken: number | undefined
  takenAt: number
  /** Replies that are held back, or not handed over whole. */
  readonly underWay: Set<Outgoing>
  /** A request was read before the answer to the one before had left: of no answer it is known that it was read before the next request was sent. */
  isPipelined: boolean
  /** Refusals that were sent since its last request, of which it is not known that they were read. */
  told: ExchangeRef[]
  /** They were sent in this turn of the event loop or the last: it may be that their reader had gone before. */
  isJustTold: boolean
  /** When its client closed its half, monotonic; undefined until then. */
  closedAt: number | undefined
  /** The sandbox has cut it: it was not its client who left. */
  isCut: boolean
  /** It is to end: what still comes on it is not read as a request. */
  isRefused: boolean
  /** To requests whose replies are still awaited. */
  readonly awaited: Set<ServerResponse>
  /** Aborted when its client has left; undefined until somebody wants to know. */
  leaving: AbortController | undefined
  readonly left: () => AbortSignal
  /** When it closed, monotonic; undefined while it is open. */
  goneAt: number | undefined
}

/** A reply, or what has become of it, to a request that had come before node:http read it. */
interface DecidedReply {
  /** @throws what it could not be made for */
  reply(): PendingReply
  /** When the request had come, monotonic. */
  readonly arrivedAt: number
}

/** How a connection is read as long as its requests are plain. */
export interface PlainReading {
  /** Of the last request. */
  head: PlainHead | undefined
  /** An answer has not left whole. */
  isAnswering: boolean
  /** The bytes of a request whose reply is awaited. */
  awaiting: Buffer | undefined
  /** It ends with that. */
  isLast: boolean
  /** What has come in the meantime. */
  readonly waiting: Buffer[]
  /** When the last request had come, monotonic; the connection, before the first. */
  quietSince: number
  /** Stops listening to the socket. */
  stop(): void
}

/** A reply and its destination. */
export interface Outgoing extends AnswerTimes {
  readonly connection: Connection
  /** Undefined where it leaves without node:http; then it has a head. */
  readonly response: ServerResponse | undefined
  /** Status line and header lines. */
  readonly head: string | undefined
  readonly reply: Reply
}
