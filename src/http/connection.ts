import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ExchangeRef, Reply } from '../domain/messages.js'
import type { AnswerTimes } from './ended-exchange.js'

/** What is known of an open connection. */
export interface Connection {
  readonly socket: Socket
  /** Ordinal, from 1. */
  readonly id: number
  /** What whoever opened it had heard by then: a position. */
  readonly heardUpTo: number
  /** The response to the latest request. */
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

/** A reply and its destination. */
export interface Outgoing extends AnswerTimes {
  readonly connection: Connection
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly reply: Reply
}
