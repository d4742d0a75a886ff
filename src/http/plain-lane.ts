import type { PendingReply, Reply } from '../domain/messages.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import type { Connection, Outgoing, PlainReading } from './connection.js'
import { plainAnswerHead } from './plain-answer.js'
import { type PlainRequest, readPlainRequest } from './plain-request.js'

/** Who says nothing for so long after connecting is cut, as node:http does. */
const FIRST_REQUEST_MS: DurationMs = MINUTE_MS

/** What the lane needs of the listener. */
export interface LaneOwner {
  readonly keepAliveMs: DurationMs
  /** Whether requests with this target are read here at present. */
  takes(target: string): boolean
  /** When what is read now had come, monotonic. */
  arrival(): number
  serve(connection: Connection, request: PlainRequest): PendingReply
  /**
   * @param head      its status line and header lines
   * @param arrivedAt monotonic
   */
  post(connection: Connection, reply: Reply, head: string, arrivedAt: number): void
  /** Gives a connection to node:http for good, and to that what has come on it. */
  handOver(connection: Connection, bytes: Buffer): void
}

/**
 * Where plain requests are read, and answered, past node:http: what that does for a
 * request and its answer, streams and all, costs more than the sandbox itself
 * (with 32 connections 14 µs of processor time, what is done here 6 µs).
 *
 * Whatever is not plain, bytes or answer, turns the connection over to node:http,
 * which reads the same bytes and has the last word. So there is nothing here that would
 * have to be refused, waited for or sent in pieces.
 */
export class PlainLane {
  readonly #owner: LaneOwner
  /** The last header lines of an answer after which the connection stays open, as node:http writes them. */
  readonly #stay: string

  constructor(owner: LaneOwner) {
    this.#owner = owner
    this.#stay = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(owner.keepAliveMs / SECOND_MS)}\r\n\r\n`
  }

  /** Reads a new connection. */
  open(connection: Connection): void {
    const { socket } = connection
    const read = (bytes: Buffer) => this.#read(connection, reading, bytes)
    const end = () => {
      if (reading.isAnswering) reading.isLast = true
      else socket.end()
    }
    const reading: PlainReading = {
      head: undefined,
      isAnswering: false,
      isLast: false,
      waiting: [],
      quietSince: systemClock.monotonic(),
      stop: () => socket.off('data', read).off('end', end),
    }
    connection.plain = reading
    socket.on('data', read).on('end', end)
  }

  /**
   * Whether nothing has come on a connection for so long that it is to be cut. Asked now and then: a timer of each
   * socket is wound again for all that it reads and writes (0.5 µs a request).
   *
   * @param now monotonic
   */
  isForgotten({ plain }: Connection, now: number): boolean {
    if (plain === undefined || plain.isAnswering) return false
    return now - plain.quietSince >= (plain.head === undefined ? FIRST_REQUEST_MS : this.#owner.keepAliveMs)
  }

  #read(connection: Connection, reading: PlainReading, bytes: Buffer): void {
    if (reading.isAnswering) {
      // It is read when its turn has come.
      connection.isPipelined = true
      reading.waiting.push(bytes)
      connection.socket.pause()
      return
    }
    const request = readPlainRequest(bytes, reading.head)
    if (request === undefined || !this.#owner.takes(request.head.target)) {
      this.#turnOver(connection, reading, bytes)
      return
    }
    reading.head = request.head
    reading.quietSince = this.#owner.arrival()
    // It may have left by the time that this is known.
    reading.isAnswering = true
    if (!this.#answers(connection, request, reading.quietSince)) this.#turnOver(connection, reading, bytes)
  }

  /** @returns whether the answer leaves here; if not, it is decided, and node:http is to carry it out */
  #answers(connection: Connection, request: PlainRequest, arrivedAt: number): boolean {
    try {
      const reply = this.#owner.serve(connection, request)
      const head = reply instanceof Promise ? undefined : plainAnswerHead(reply)
      if (!(reply instanceof Promise) && head !== undefined) {
        this.#owner.post(connection, reply, head, arrivedAt)
        return true
      }
      connection.decided = () => reply
    } catch (error) {
      connection.decided = () => {
        throw error
      }
    }
    return false
  }

  /**
   * Sends an answer.
   *
   * @param reply  what is sent, which may be another one than was decided
   * @param isLast whether the connection ends with it, whatever else has come on it
   */
  send({ connection, head, reply: decided }: Outgoing, reply: Reply, isLast: boolean): void {
    const { socket, plain } = connection
    const sent = reply === decided ? head : plainAnswerHead(reply)
    if (plain === undefined || sent === undefined || typeof reply.body !== 'string') {
      socket.destroy()
      return
    }
    if (isLast) plain.isLast = true
    // One string of which each character is a byte, in one write: nothing of it has to be encoded again.
    socket.write(sent + (plain.isLast ? CLOSE : this.#stay) + (reply.binary ?? binaryOf(reply.body)), 'latin1')
  }

  /** Calls when all that was sent on a connection has left; never, if that is gone before. */
  whenSent({ socket }: Connection, call: () => void): void {
    socket.write('', (error) => error ?? call())
  }

  /** It was told what became of an answer: reads on if it has left, and the connection does not end. */
  goOn(connection: Connection): void {
    const { plain, socket } = connection
    if (plain === undefined || socket.destroyed || socket.writableLength > 0) return
    plain.isAnswering = false
    if (plain.isLast) socket.destroySoon()
    else if (plain.waiting.length > 0) this.#turnOver(connection, plain, Buffer.concat(plain.waiting))
  }

  #turnOver(connection: Connection, reading: PlainReading, bytes: Buffer): void {
    reading.stop()
    connection.plain = undefined
    this.#owner.handOver(connection, bytes)
  }
}

const CLOSE = 'Connection: close\r\n\r\n'

/** The UTF-8 bytes of a text as a string of one character each. */
function binaryOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
