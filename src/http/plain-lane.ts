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

/** A connection without a request is cut after this long, as by node:http. */
const FIRST_REQUEST_TIMEOUT_MS: DurationMs = MINUTE_MS

interface PlainReply {
  readonly reply: Reply
  readonly head: string
  /** When its request arrived, monotonic. */
  readonly arrivedAt: number
}

/** What the lane needs from the listener. */
export interface LaneOwner {
  readonly parser: typeof parserSettings
  readonly keepAliveMs: DurationMs
  /** Whether the lane may serve requests with this target at present. */
  accepts(target: string): boolean
  received(connection: Connection): void
  serve(connection: Connection, request: PlainRequest): PendingReply
  post(connection: Connection, reply: PlainReply): void
  /** Gives a connection to node:http for good, with the bytes received. */
  handOver(connection: Connection, bytes: Buffer): void
}

/**
 * Reads plain requests and answers them without node:http, which would cost more than the sandbox itself (with 32
 * connections 14 µs of processor time a request; this takes 6).
 *
 * Anything else, request or reply, hands the connection over to node:http, which reads the same bytes and decides. So
 * there is nothing here to refuse or to send in pieces. A pending reply is awaited as long as nothing else happens on
 * its connection.
 */
export class PlainLane {
  readonly #owner: LaneOwner
  readonly #maxHead: Bytes
  /** The last header lines if the connection stays open, as node:http writes them. */
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
      // node:http finds out whether the client is still there.
      if (reading.awaiting !== undefined) this.#fallBackToNode(connection, reading, reading.awaiting)
      else if (reading.isAnswering) reading.isLast = true
      else socket.end()
    }
    const reading: PlainReading = {
      head: undefined,
      isAnswering: false,
      awaiting: undefined,
      isLast: false,
      waiting: [],
      quietSince: systemClock.monotonic(),
      stop: () => socket.off('data', read).off('end', end),
    }
    connection.plain = reading
    socket.on('data', read).on('end', end)
  }

  /**
   * Whether a connection has been idle for so long that it is cut. Checked periodically: a timer for each socket
   * would be reset by every read and write.
   *
   * @param now monotonic
   */
  isIdle({ plain }: Connection, now: number): boolean {
    if (plain === undefined || plain.isAnswering) return false
    return now - plain.quietSince >= (plain.head === undefined ? FIRST_REQUEST_TIMEOUT_MS : this.#owner.keepAliveMs)
  }

  #read(connection: Connection, reading: PlainReading, bytes: Buffer): void {
    this.#owner.received(connection)
    if (reading.awaiting !== undefined) {
      this.#fallBackToNode(connection, reading, Buffer.concat([reading.awaiting, bytes]))
      return
    }
    if (reading.isAnswering) {
      // Read in its turn.
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
    reading.isAnswering = true
    this.#answer(connection, reading, request, bytes)
  }

  #answer(connection: Connection, reading: PlainReading, request: PlainRequest, bytes: Buffer): void {
    const arrivedAt = reading.quietSince
    const decide = (reply: () => PendingReply) => {
      connection.decided = { reply, arrivedAt }
    }
    const post = (reply: Reply) => {
      const head = plainReplyHead(reply)
      // To a client that is gone nothing is written, on either way.
      if (head !== undefined || connection.socket.destroyed) {
        this.#owner.post(connection, { reply, head: head ?? '', arrivedAt })
        return
      }
      decide(() => reply)
      this.#fallBackToNode(connection, reading, bytes)
    }
    const fail = (error: unknown) => {
      decide(() => {
        throw error
      })
      this.#fallBackToNode(connection, reading, bytes)
    }
    let reply: PendingReply
    try {
      reply = this.#owner.serve(connection, request)
    } catch (error) {
      fail(error)
      return
    }
    if (!(reply instanceof Promise)) {
      post(reply)
      return
    }
    const pending = reply
    reading.awaiting = bytes
    decide(() => pending)
    /** Ignores the outcome if node:http awaits it now. */
    const unlessHandedOver =
      <Outcome>(act: (outcome: Outcome) => void) =>
      (outcome: Outcome) => {
        if (connection.plain !== reading) return
        reading.awaiting = undefined
        connection.decided = undefined
        act(outcome)
      }
    pending.then(unlessHandedOver(post), unlessHandedOver(fail))
  }

  /**
   * @param reply  what is sent, which may differ from the decided reply
   * @param isLast whether the connection ends with it
   */
  send({ connection, head, reply: decided }: Outgoing, reply: Reply, isLast: boolean): void {
    const { socket, plain } = connection
    const sent = reply === decided ? head : plainReplyHead(reply)
    if (plain === undefined || sent === undefined || typeof reply.body !== 'string') {
      socket.destroy()
      return
    }
    if (isLast) plain.isLast = true
    // One string with a character for each byte, in one write, is not encoded again.
    socket.write(sent + (plain.isLast ? CLOSE : this.#keepAlive) + (reply.binary ?? binaryOf(reply.body)), 'latin1')
  }

  /** Calls when everything was sent; never if the connection is closed before. */
  whenSent({ socket }: Connection, call: () => void): void {
    socket.write('', (error) => error ?? call())
  }

  /** Reads on, if the response is sent and the connection stays open. */
  resume(connection: Connection): void {
    const { plain, socket } = connection
    if (plain === undefined || socket.destroyed || socket.writableLength > 0) return
    plain.isAnswering = false
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

/** The UTF-8 bytes of a text as a string with a character for each. */
function binaryOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
