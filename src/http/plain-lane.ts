import type { PendingReply, Reply } from '../domain/messages.js'
import type { Bytes } from '../domain/numbers.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import type { Connection, Outgoing, PlainReading } from './connection.js'
import {
  MAX_PLAIN_HEAD_BYTES,
  type PlainRequest,
  type parserSettings,
  plainReplyHead,
  readPlainRequest,
} from './plain-messages.js'

const FIRST_REQUEST_TIMEOUT_MS: DurationMs = MINUTE_MS

interface PlainReply {
  readonly reply: Reply
  readonly head: string
  readonly arrivedAt: number
}

export interface LaneOwner {
  readonly parser: typeof parserSettings
  readonly keepAliveMs: DurationMs
  accepts(target: string): boolean
  received(connection: Connection): void
  serve(connection: Connection, request: PlainRequest): PendingReply
  post(connection: Connection, reply: PlainReply): void
  /** Passes a connection to node:http permanently, with the bytes received. */
  handOver(connection: Connection, bytes: Buffer): void
}

/**
 * Serves plain requests without node:http, which would cost more than the sandbox itself (with 32 connections 14 µs of
 * processor time a request; this takes 6).
 *
 * Any other request or reply passes the connection to node:http, which reads the same bytes. So the lane never refuses,
 * and sends each reply in one piece. While a reply is pending, further input also passes the connection on.
 */
export class PlainLane {
  readonly #owner: LaneOwner
  readonly #maxHead: Bytes
  readonly #keepAlive: string

  constructor(owner: LaneOwner) {
    this.#owner = owner
    const { maxHeaderSize, insecureHTTPParser } = owner.parser
    // Property tests compare the lane with the strict parser only.
    this.#maxHead = insecureHTTPParser ? 0 : Math.min(maxHeaderSize, MAX_PLAIN_HEAD_BYTES)
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(owner.keepAliveMs / SECOND_MS)}\r\n\r\n`
  }

  open(connection: Connection): void {
    const { socket } = connection
    const read = (bytes: Buffer) => this.#read(connection, reading, bytes)
    const end = () => {
      // node:http probes whether the client is still there.
      if (reading.awaiting !== undefined) this.#fallBackToNode(connection, reading, reading.awaiting)
      else if (reading.isResponding) reading.isLast = true
      else socket.end()
    }
    const reading: PlainReading = {
      head: undefined,
      isResponding: false,
      awaiting: undefined,
      isLast: false,
      waiting: [],
      quietSince: systemClock.monotonic(),
      stop: () => socket.off('data', read).off('end', end),
    }
    connection.plain = reading
    socket.on('data', read).on('end', end)
  }

  /** Checked periodically, because a timer for each socket would be reset by every read and write. @param now monotonic */
  isIdle({ plain }: Connection, now: number): boolean {
    if (plain === undefined || plain.isResponding) return false
    return now - plain.quietSince >= (plain.head === undefined ? FIRST_REQUEST_TIMEOUT_MS : this.#owner.keepAliveMs)
  }

  #read(connection: Connection, reading: PlainReading, bytes: Buffer): void {
    this.#owner.received(connection)
    if (reading.awaiting !== undefined) {
      this.#fallBackToNode(connection, reading, Buffer.concat([reading.awaiting, bytes]))
      return
    }
    if (reading.isResponding) {
      connection.isPipelined = true
      reading.waiting.push(bytes)
      connection.socket.pause()
      return
    }
    const request = readPlainRequest(bytes, reading.head, this.#maxHead)
    if (request === undefined || !this.#owner.accepts(request.head.target)) {
      this.#fallBackToNode(connection, reading, bytes)
      return
    }
    reading.head = request.head
    reading.quietSince = systemClock.monotonic()
    reading.isResponding = true
    this.#answer(connection, reading, request, bytes)
  }

  #answer(connection: Connection, reading: PlainReading, request: PlainRequest, bytes: Buffer): void {
    const arrivedAt = reading.quietSince
    let reply: PendingReply
    try {
      reply = this.#owner.serve(connection, request)
    } catch (error) {
      this.#fallBackWith(connection, reading, bytes, () => {
        throw error
      })
      return
    }
    if (!(reply instanceof Promise)) {
      this.#post(connection, reading, reply, bytes)
      return
    }
    const pending = reply
    reading.awaiting = bytes
    connection.decided = { reply: () => pending, arrivedAt }
    /** Ignores the outcome if node:http awaits it now. */
    const unlessHandedOver =
      <Outcome>(act: (outcome: Outcome) => void) =>
      (outcome: Outcome) => {
        if (connection.plain !== reading) return
        reading.awaiting = undefined
        connection.decided = undefined
        act(outcome)
      }
    pending.then(
      unlessHandedOver((sent: Reply) => this.#post(connection, reading, sent, bytes)),
      unlessHandedOver(() => this.#fallBackWith(connection, reading, bytes, () => pending)),
    )
  }

  #post(connection: Connection, reading: PlainReading, reply: Reply, bytes: Buffer): void {
    const head = plainReplyHead(reply)
    // A client that is gone gets no response on either path.
    if (head === undefined && !connection.socket.destroyed) {
      this.#fallBackWith(connection, reading, bytes, () => reply)
      return
    }
    this.#owner.post(connection, { reply, head: head ?? '', arrivedAt: reading.quietSince })
  }

  /** node:http reads the request again, but it is not executed again. */
  #fallBackWith(connection: Connection, reading: PlainReading, bytes: Buffer, reply: () => PendingReply): void {
    connection.decided = { reply, arrivedAt: reading.quietSince }
    this.#fallBackToNode(connection, reading, bytes)
  }

  /** @param isLast whether the connection ends with it */
  send({ connection, head, reply }: Outgoing, isLast: boolean): void {
    const { socket, plain } = connection
    if (plain === undefined || head === undefined || typeof reply.body !== 'string') {
      socket.destroy()
      return
    }
    if (isLast) plain.isLast = true
    // A single latin1 write avoids encoding the reply again.
    socket.write(head + (plain.isLast ? CLOSE : this.#keepAlive) + (reply.binary ?? binaryOf(reply.body)), 'latin1')
  }

  /** Calls once everything is sent; never if the connection closes first. */
  whenSent({ socket }: Connection, call: () => void): void {
    socket.write('', (error) => error ?? call())
  }

  resume(connection: Connection): void {
    const { plain, socket } = connection
    if (plain === undefined || socket.destroyed || socket.writableLength > 0) return
    plain.isResponding = false
    if (plain.isLast) socket.destroySoon()
    else if (plain.waiting.length > 0) this.#fallBackToNode(connection, plain, Buffer.concat(plain.waiting))
  }

  #fallBackToNode(connection: Connection, reading: PlainReading, bytes: Buffer): void {
    reading.stop()
    reading.awaiting = undefined
    connection.plain = undefined
    this.#owner.handOver(connection, bytes)
  }
}

const CLOSE = 'Connection: close\r\n\r\n'

function binaryOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
