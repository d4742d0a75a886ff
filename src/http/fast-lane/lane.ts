import { maxHeaderSize } from 'node:http'
import type { PendingReply, Reply } from '../../domain/messages.js'
import type { Bytes } from '../../domain/numbers.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../../domain/time.js'
import { systemClock } from '../../system/system-clock.js'
import { type Connection, type FirstReader, KEEP_ALIVE_MS, type Outgoing } from '../connection.js'
import { type ListenerContext, plugIns } from '../listener-context.js'
import { callService, marksFor } from '../request.js'
import { reportClosed } from '../response.js'
import { MAX_PLAIN_HEAD_BYTES, type PlainHead, plainReplyHead, readPlainRequest } from './messages.js'

const FIRST_REQUEST_TIMEOUT_MS: DurationMs = MINUTE_MS

/** Matches both spellings, of the command line and NODE_OPTIONS; Node has no API for it. */
const INSECURE_PARSER = /(?<!no[-_])insecure[-_]http[-_]parser/

/** Bytes of a head that node:http accepts in any case. Property tests compare the lane with the strict parser only. */
export function maxPlainHead(args: readonly string[], max: Bytes): Bytes {
  return args.some((text) => INSECURE_PARSER.test(text)) ? 0 : Math.min(max, MAX_PLAIN_HEAD_BYTES)
}

const MAX_HEAD = maxPlainHead([...process.execArgv, process.env.NODE_OPTIONS ?? ''], maxHeaderSize)

const KEEP_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / SECOND_MS}\r\n\r\n`
const CLOSE = 'Connection: close\r\n\r\n'

/**
 * Serves plain requests without node:http, which would cost more than the sandbox itself (with 32 connections 14 µs of
 * processor time a request; this takes 6).
 *
 * Any other request or reply passes the connection to node:http, which reads the same bytes. So the lane never refuses,
 * and sends each reply in one piece.
 */
export function openLane(context: ListenerContext, connection: Connection, maxHead = MAX_HEAD): void {
  connection.reader = new PlainReader(context, connection, maxHead)
}

plugIns.fastLane = openLane

class PlainReader implements FirstReader {
  readonly #context: ListenerContext
  readonly #connection: Connection
  readonly #maxHead: Bytes
  #head: PlainHead | undefined
  isQuiet = true
  /** When the last request arrived, or the connection was opened; monotonic. */
  #quietSince = systemClock.monotonic()
  /** The client has sent everything. */
  #hasEnded = false
  /** Received while a response is pending. */
  #waiting: Buffer[] = []

  constructor(context: ListenerContext, connection: Connection, maxHead: Bytes) {
    this.#context = context
    this.#connection = connection
    this.#maxHead = maxHead
    connection.socket.on('data', this.#read).on('end', this.#end)
  }

  isIdle(now: number): boolean {
    if (!this.isQuiet) return false
    return now - this.#quietSince >= (this.#head === undefined ? FIRST_REQUEST_TIMEOUT_MS : KEEP_ALIVE_MS)
  }

  readonly #end = () => {
    this.#hasEnded = true
    if (this.isQuiet) this.#connection.socket.end()
  }

  readonly #read = (bytes: Buffer) => {
    const context = this.#context
    const connection = this.#connection
    context.order.received(connection.order)
    if (!this.isQuiet) {
      connection.isPipelined = true
      this.#waiting.push(bytes)
      connection.socket.pause()
      return
    }
    const request = context.isStopping ? undefined : readPlainRequest(bytes, this.#head, this.#maxHead)
    if (request === undefined || context.handlers.isControl(request.head.target)) {
      this.#passOn(bytes)
      return
    }
    this.#head = request.head
    this.#quietSince = systemClock.monotonic()
    this.isQuiet = false
    connection.awaited++
    let reply: PendingReply
    try {
      const { head, body } = request
      reply = callService(context, connection, head, body, marksFor(context, connection, head.headers))
    } catch (error) {
      reply = Promise.reject(error)
    }
    if (!(reply instanceof Promise)) this.#post(reply, bytes)
    else {
      const pending = reply
      pending.then(
        (settled) => this.#post(settled, bytes),
        () => {
          connection.awaited--
          this.#passOn(bytes, pending)
        },
      )
    }
  }

  #post(reply: Reply, bytes: Buffer): void {
    const head = plainReplyHead(reply)
    this.#connection.awaited--
    // A client that is gone gets no response on either path.
    if (head === undefined && !this.#connection.socket.destroyed) this.#passOn(bytes, reply)
    else this.#context.order.put(new PlainOutgoing(this.#connection, reply, this.#quietSince, this, head ?? ''))
  }

  write(head: string, { body, binary }: Reply): void {
    const isLast = this.#hasEnded || this.#context.isStopping
    // A single latin1 write avoids encoding the reply again.
    const text = binary ?? binaryOf(String(body))
    this.#connection.socket.write(head + (isLast ? CLOSE : KEEP_ALIVE) + text, 'latin1')
  }

  /** The response is sent. */
  continue(): void {
    const { socket } = this.#connection
    if (socket.destroyed) return
    this.isQuiet = true
    if (this.#waiting.length > 0) this.#passOn(Buffer.concat(this.#waiting.splice(0)))
    else if (this.#hasEnded || this.#context.isStopping) socket.destroySoon()
  }

  /** node:http reads the bytes from now on. @param reply to the request, if it has been executed */
  #passOn(bytes: Buffer, reply?: PendingReply): void {
    const context = this.#context
    const connection = this.#connection
    const { socket } = connection
    socket.off('data', this.#read).off('end', this.#end)
    connection.reader = undefined
    connection.decided = reply === undefined ? undefined : { reply, arrivedAt: this.#quietSince }
    context.readByNode(socket)
    socket.emit('data', this.#waiting.length === 0 ? bytes : Buffer.concat([bytes, ...this.#waiting]))
    connection.order.receivedAt = undefined
    if (this.#hasEnded) socket.emit('end')
    if (socket.isPaused()) socket.resume()
    if (connection.decided === undefined || reply === undefined || reply instanceof Promise) return
    context.handlers.warn(
      "Node's HTTP parser refused a request after the sandbox had executed it. No response was sent.",
    )
    connection.isCutByServer = true
    connection.unsent.add(new PlainOutgoing(connection, reply, this.#quietSince, this, ''))
    reportClosed(context, connection)
  }
}

class PlainOutgoing implements Outgoing {
  readonly connection: Connection
  readonly reply: Reply
  readonly arrivedAt: number
  readonly waitedMs = 0
  waitsSince: number | undefined
  beganAt: number | undefined
  readonly hasBegun = true
  readonly #reader: PlainReader
  readonly #head: string

  constructor(connection: Connection, reply: Reply, arrivedAt: number, reader: PlainReader, head: string) {
    this.connection = connection
    this.reply = reply
    this.arrivedAt = arrivedAt
    this.#reader = reader
    this.#head = head
  }

  get isFlushed(): boolean {
    return this.connection.socket.writableLength === 0
  }

  write(): void {
    this.#reader.write(this.#head, this.reply)
  }

  whenFlushed(call: () => void): void {
    this.connection.socket.write('', (error) => error ?? call())
  }

  reported(): void {
    this.#reader.continue()
  }
}

function binaryOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
