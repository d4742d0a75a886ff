import type { PendingReply, Reply } from '../domain/messages.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import type { Connection, Outgoing, PlainReading } from './connection.js'
import { plainAnswerHead } from './plain-answer.js'
import { type PlainRequest, readPlainRequest } from './plain-request.js'

/** Who says nothing for so long after connecting is cut, as node:http does. */
const FIRST_REQUEST_MS: DurationMs = MINUTE_MS

/** A reply that leaves here. */
interface PlainAnswer {
  readonly reply: Reply
  /** Its status line and header lines. */
  readonly head: string
  /** When its request had come, monotonic. */
  readonly arrivedAt: number
}

/** What the lane needs of the listener. */
export interface LaneOwner {
  readonly keepAliveMs: DurationMs
  /** Whether requests with this target are read here at present. */
  takes(target: string): boolean
  /** When what is read now had come, monotonic. */
  arrival(): number
  serve(connection: Connection, request: PlainRequest): PendingReply
  /** @param isLate it was waited for: its request did not come in this turn of the event loop */
  post(connection: Connection, answer: PlainAnswer, isLate: boolean): void
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
 * have to be refused or sent in pieces. An answer is waited for, as that of a real service is, as long as nothing
 * else happens on its connection.
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
      // Whether its client is still there is for node:http to find out.
      if (reading.awaiting !== undefined) this.#turnOver(connection, reading, reading.awaiting)
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
    if (reading.awaiting !== undefined) {
      this.#turnOver(connection, reading, Buffer.concat([reading.awaiting, bytes]))
      return
    }
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
    this.#answer(connection, reading, request, bytes)
  }

  #answer(connection: Connection, reading: PlainReading, request: PlainRequest, bytes: Buffer): void {
    const arrivedAt = reading.quietSince
    const decide = (reply: () => PendingReply) => {
      connection.decided = { reply, arrivedAt }
    }
    const post = (reply: Reply, isLate: boolean) => {
      const head = plainAnswerHead(reply)
      // Of one whose client has gone nothing is written, whoever carries it out.
      if (head !== undefined || connection.socket.destroyed) {
        this.#owner.post(connection, { reply, head: head ?? '', arrivedAt }, isLate)
        return
      }
      decide(() => reply)
      this.#turnOver(connection, reading, bytes)
    }
    const fail = (error: unknown) => {
      decide(() => {
        throw error
      })
      this.#turnOver(connection, reading, bytes)
    }
    let reply: PendingReply
    try {
      reply = this.#owner.serve(connection, request)
    } catch (error) {
      fail(error)
      return
    }
    if (!(reply instanceof Promise)) {
      post(reply, false)
      return
    }
    const pending = reply
    reading.awaiting = bytes
    decide(() => pending)
    /** Does something with what has come of it, unless node:http waits for it by now. */
    const ifHere =
      <Came>(act: (came: Came) => void) =>
      (came: Came) => {
        if (connection.plain !== reading) return
        reading.awaiting = undefined
        connection.decided = undefined
        act(came)
      }
    pending.then(
      ifHere((late) => post(late, true)),
      ifHere(fail),
    )
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
    reading.awaiting = undefined
    connection.plain = undefined
    this.#owner.handOver(connection, bytes)
  }
}

const CLOSE = 'Connection: close\r\n\r\n'

/** The UTF-8 bytes of a text as a string of one character each. */
function binaryOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
