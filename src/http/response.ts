import type { ServerResponse } from 'node:http'
import { isTruncating } from '../domain/faults.js'
import { bodyText, type EndedExchange, type Reply, type ResponseOutcome, sliceBody } from '../domain/messages.js'
import { messageOf } from '../system/message-of.js'
import { clearTimeout, setTimeout, systemClock } from '../system/system-clock.js'
import type { Connection, Outgoing } from './connection.js'
import { isRefusal } from './delivery-order.js'
import { cut, type ListenerContext } from './listener-context.js'
import { endedExchange, failedReply, isLong } from './replies.js'
import { applyFault, whenFirstInPipeline } from './wire-faults.js'

/** A reply that node:http sends. */
export class NodeOutgoing implements Outgoing {
  readonly connection: Connection
  readonly reply: Reply
  readonly arrivedAt: number
  waitedMs = 0
  waitsSince: number | undefined
  beganAt: number | undefined
  readonly #context: ListenerContext
  readonly #response: ServerResponse

  constructor(
    context: ListenerContext,
    connection: Connection,
    response: ServerResponse,
    reply: Reply,
    arrivedAt: number,
  ) {
    this.#context = context
    this.connection = connection
    this.#response = response
    this.reply = reply
    this.arrivedAt = arrivedAt
  }

  get isFlushed(): boolean {
    return this.#response.writableFinished
  }

  get hasBegun(): boolean {
    // node:http does not write faults that break off within the body.
    return this.#response.headersSent || isTruncating(this.reply.fault)
  }

  whenFlushed(call: () => void): void {
    this.#response.prependOnceListener('finish', call)
  }

  /** Writes it after its delay. */
  post(): void {
    const { reply, connection } = this
    if (reply.delayMs === 0) {
      this.#put()
      return
    }
    // If the client leaves first, its end is reported when the connection closes.
    connection.unsent.add(this)
    const waitsSince = systemClock.monotonic()
    this.waitsSince = waitsSince
    const timer = setTimeout(() => {
      if (!connection.unsent.delete(this)) return
      this.waitedMs = systemClock.monotonic() - waitsSince
      this.waitsSince = undefined
      this.#put()
    }, reply.delayMs)
    this.#response.once('close', () => clearTimeout(timer))
  }

  /** Earlier responses of the connection are sent first: a refusal is written in a quiet turn of its own. */
  #put(): void {
    const { connection, reply } = this
    const { order } = this.#context
    connection.awaited--
    const isNext = this.#response.socket !== null || connection.socket.destroyed
    if (isNext || !isRefusal(reply)) {
      order.put(this)
      return
    }
    connection.unsent.add(this)
    whenFirstInPipeline(this.#response, () => {
      if (connection.unsent.delete(this)) order.put(this)
    })
  }

  write(): void {
    const { fault, status, headers, body, binary } = this.reply
    const response = this.#response
    try {
      if (fault !== undefined) {
        applyFault(fault, response, this.reply, this.#context.hanging)
        return
      }
      if (this.#context.isStopping) response.shouldKeepAlive = false
      response.writeHead(status, headers)
      if (response.req.method === 'HEAD') response.end()
      else if (isLong(this.reply)) this.#writeLong()
      else if (binary === undefined) response.end(body)
      else response.end(binary, 'latin1')
    } catch (error) {
      this.#writeFailure(error)
    }
  }

  /** Waits for each slice to be received: a slow client holds one slice in memory, not the whole body. */
  #writeLong(): void {
    const { body, binary } = this.reply
    const slices = sliceBody(binary ?? body)
    const encoding = binary === undefined ? 'utf8' : 'latin1'
    const next = () => {
      try {
        const { done, value } = slices.next()
        if (done) this.#response.end()
        else this.#response.write(value, encoding, (error) => error ?? next())
      } catch (error) {
        this.#writeFailure(error)
      }
    }
    next()
  }

  #writeFailure(error: unknown): void {
    const response = this.#response
    const { method, url } = response.req
    this.#context.handlers.warn(
      `The response ${this.reply.status} to ${method} ${url} could not be sent: ${messageOf(error)}`,
    )
    if (response.headersSent) {
      cut(this.#context, this.connection.socket)
      return
    }
    // May be set by a header before the invalid one.
    response.chunkedEncoding = false
    const { status, headers, body } = failedReply(this.reply)
    response.writeHead(status, headers)
    response.end(bodyText(body))
  }
}

/** Reports written replies as sent: now, or once they are flushed. */
export function reportWritten(context: ListenerContext, batch: readonly Outgoing[], isProven: boolean): void {
  const now = systemClock.monotonic()
  const ended: [Outgoing, ResponseOutcome][] = []
  for (const outgoing of batch) {
    const { connection, reply } = outgoing
    if (connection.socket.destroyed) ended.push([outgoing, lossOf(outgoing)])
    else if (outgoing.isFlushed || outgoing.isTaken) ended.push([outgoing, 'sent'])
    else {
      if (reply.fault === 'hang') outgoing.waitsSince = now
      else outgoing.beganAt = now
      connection.unsent.add(outgoing)
      outgoing.whenFlushed(() => reportUnsent(context, outgoing, 'sent', false))
    }
  }
  reportEnds(context, ended, isProven)
}

/** The connection is closed. */
export function reportClosed(context: ListenerContext, connection: Connection): void {
  for (const outgoing of connection.unsent) reportUnsent(context, outgoing, lossOf(outgoing), true)
}

function reportUnsent(context: ListenerContext, outgoing: Outgoing, how: ResponseOutcome, isProven: boolean): void {
  if (outgoing.connection.unsent.delete(outgoing)) reportEnds(context, [[outgoing, how]], isProven)
}

/** @param isProven requests received from now on were sent after the replies were readable */
function reportEnds(
  { handlers, order }: ListenerContext,
  ended: readonly (readonly [Outgoing, ResponseOutcome])[],
  isProven: boolean,
): void {
  const now = systemClock.monotonic()
  const ends: EndedExchange[] = []
  const refusals: Outgoing[] = []
  let separates = false
  for (const [outgoing, how] of ended) {
    const { connection, reply } = outgoing
    const isAnswered = how === 'sent' || (outgoing.beganAt !== undefined && outgoing.hasBegun)
    const end = endedExchange(reply, { how, times: outgoing, now, isAnswered, connection: connection.id })
    if (end !== undefined) ends.push(end)
    if (how === 'sent' && isRefusal(reply)) refusals.push(outgoing)
    if (how === 'cut') separates = true
  }
  const position = ends.length === 0 ? 0 : handlers.ended(ends)
  if (ends.length > 0) order.ended(position, now)
  if (separates || refusals.length > 0) order.sent(position, isProven)
  for (const { connection, reply } of refusals) {
    if (reply.exchange !== undefined) connection.refusals.push(reply.exchange)
    probeRefusals(connection)
  }
  for (const [outgoing] of ended) outgoing.reported?.()
}

function lossOf({ connection, reply: { fault } }: Outgoing): 'cut' | 'left' {
  const isFaulty = fault === 'connection-reset' || fault === 'empty-response' || isTruncating(fault)
  return connection.isCutByServer || isFaulty ? 'cut' : 'left'
}

/** Reports refusals whose client resets the connection, because it has closed it with unread data. @source RFC 9293, section 3.6.1 */
export function detectUnread({ handlers }: ListenerContext, connection: Connection): void {
  const { socket } = connection
  // Node removes its listener from a detached socket, and an unhandled error would end the process.
  socket.on('error', () => {
    const { refusals } = connection
    if (refusals.length === 0) return
    connection.refusals = []
    handlers.ended([], refusals)
  })
  socket.once('end', () => probeRefusals(connection))
}

/**
 * Detects a client that closed its connection without reading a refusal: the kernel received a reset, so an empty write
 * fails. The write succeeds if the client has only half-closed it, or has read everything.
 */
function probeRefusals({ socket, refusals }: Connection): void {
  if (refusals.length > 0 && socket.writable) socket.write('')
}
