import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  BODY_LIMIT_BYTES,
  type DeliveryMarks,
  type PendingReply,
  type Reply,
  type ServiceRequest,
  textOf,
} from '../domain/messages.js'
import type { Bytes } from '../domain/numbers.js'
import type { ProblemCode } from '../domain/problems.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { clearTimeout, setTimeout, systemClock } from '../system/system-clock.js'
import { type Connection, probeHalfClosed } from './connection.js'
import type { ListenerContext } from './listener-context.js'
import type { PlainRequest } from './plain-messages.js'
import { endedExchange, replyTimes } from './replies.js'
import { hasBody, readBody } from './request-body.js'
import { newOutgoing, post } from './response.js'
import { rawResponse, whenFirstInPipeline } from './wire-faults.js'

/** A refused client may send for this long, so that it can read the refusal. */
const LINGER_MS: DurationMs = 3 * SECOND_MS

type RequestHead = Pick<ServiceRequest, 'method' | 'target' | 'headers' | 'rawHeaders'>

export function servePlain(
  context: ListenerContext,
  connection: Connection,
  { head, body }: PlainRequest,
): PendingReply {
  const reply = callService(context, connection, head, body, marksFor(context, connection))
  connection.receivedAt = undefined
  return reply instanceof Promise ? reserving(context, body?.length ?? 0, reply) : reply
}

export function handleRequest(context: ListenerContext, request: IncomingMessage, response: ServerResponse): void {
  const { handlers, budget, batch } = context
  const connection = context.connections.get(request.socket)
  // Closed, or about to be.
  if (connection === undefined || connection.isRefused) return
  if (request.method === 'PRI') {
    // After a request with this method, Node destroys the socket without sending pending responses.
    request.method = 'PRI refused'
    refuseRest(context, connection, 'bad_request')
    return
  }
  if (connection.response !== undefined && !connection.response.writableFinished) connection.isPipelined = true
  connection.response = response
  batch.quiet.received()
  const before = marksFor(context, connection)
  const isReading = hasBody(request)
  if (isReading) connection.receivingBody = response
  if (context.isStopping) response.shouldKeepAlive = false
  const serveWith = (body: ServiceRequest['body']) => serve(context, connection, request, response, body, before)
  if (handlers.isControl(request.url ?? '/')) handlers.control(request, response, budget)
  else if (request.headers.host === undefined && request.httpVersion === '1.1')
    refuseInPlace(context, connection, response, 'bad_request')
  else if (isReading) readBody(request, BODY_LIMIT_BYTES, budget, serveWith)
  else serveWith(undefined)
}

/** The marks when a request was sent. A client has read all earlier responses on its connection. */
function marksFor(context: ListenerContext, connection: Connection): DeliveryMarks {
  if (connection.refusals.length > 0) connection.refusals = []
  const before = connection.receivedAt ?? context.marks
  if (connection.isUsed) return before
  connection.isUsed = true
  context.batch.quiet.used()
  // The client may have decided to send the request when it connected.
  return { ...before, deliveredUpTo: connection.opened.deliveredUpTo }
}

function callService(
  { handlers, budget }: ListenerContext,
  connection: Connection,
  { method, target, headers, rawHeaders }: RequestHead,
  body: ServiceRequest['body'],
  before: DeliveryMarks,
): PendingReply {
  const bytes = sizeOf(body)
  return handlers.service(
    {
      method,
      target,
      headers,
      rawHeaders,
      body: bytes > 0 && !budget.makeRoom(bytes) ? 'no-room' : body,
      address: addressOf(connection),
      connection: connection.isPipelined ? 0 : connection.id,
      ...before,
    },
    connection.left,
  )
}

function addressOf({ socket }: Connection): string {
  return socket.remoteAddress ?? 'unknown'
}

function sizeOf(body: ServiceRequest['body']): Bytes {
  return typeof body === 'object' ? body.length : 0
}

function reserving({ budget }: ListenerContext, bytes: Bytes, reply: Promise<Reply>): Promise<Reply> {
  return bytes === 0 ? reply : reply.finally(budget.reserve(bytes))
}

function serve(
  context: ListenerContext,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  body: ServiceRequest['body'],
  before: DeliveryMarks,
): void {
  if (connection.receivingBody === response) connection.receivingBody = undefined
  // Our Date comes from the space's clock.
  response.sendDate = false
  const { decided, pending } = connection
  connection.decided = undefined
  const arrivedAt = decided?.arrivedAt ?? systemClock.monotonic()
  // The lane has seen the half-close; node:http would wait for another request.
  if (decided !== undefined && connection.halfClosedAt !== undefined) response.shouldKeepAlive = false
  const finish = (reply: Reply) =>
    post(context, newOutgoing(connection, response, undefined, reply, arrivedAt), response)
  const fail = (error: unknown) => {
    context.handlers.warn(`A request failed inside the sandbox: ${error instanceof Error ? error.stack : error}`)
    refuseInPlace(context, connection, response, 'internal_error')
  }
  try {
    const { method = 'GET', url: target = '/', headers, rawHeaders } = request
    const head = { method, target, headers, rawHeaders }
    const reply = decided === undefined ? callService(context, connection, head, body, before) : decided.reply()
    if (!(reply instanceof Promise)) {
      finish(reply)
      return
    }
    pending.add(response)
    if (connection.halfClosedAt !== undefined) probeHalfClosed(connection)
    reserving(context, sizeOf(body), reply)
      .finally(() => pending.delete(response))
      .then(finish, fail)
  } catch (error) {
    fail(error)
  }
}

export function refuseRest(context: ListenerContext, connection: Connection, code: ProblemCode): void {
  if (connection.isRefused) return
  connection.isRefused = true
  const { response, receivingBody } = connection
  if (response === undefined) close(context, connection, code)
  else if (response === receivingBody && !response.req.complete && !response.headersSent)
    refuseInPlace(context, connection, response, code)
  else {
    afterResponse(response, () => {
      // A last response, or a body that breaks off after its response, gets no refusal.
      const isAnswered = !response.shouldKeepAlive || !response.req.complete
      close(context, connection, isAnswered ? undefined : code)
    })
  }
}

function refuseInPlace(
  context: ListenerContext,
  connection: Connection,
  response: ServerResponse,
  code: ProblemCode,
): void {
  connection.isRefused = true
  whenFirstInPipeline(response, () => {
    if (response.socket === null) return
    response.detachSocket(connection.socket)
    close(context, connection, code)
  })
}

/** Runs once a response and all before it are sent; before Node, which may close the connection then. */
function afterResponse(response: ServerResponse, act: () => void): void {
  if (response.socket === null && response.writableFinished) act()
  else response.prependOnceListener('finish', act)
}

function close({ handlers }: ListenerContext, connection: Connection, code: ProblemCode | undefined): void {
  const { socket } = connection
  if (!socket.writable) return
  if (code === undefined) socket.end()
  else {
    const sendLast = (reply: Reply) => {
      if (!socket.writable) return
      socket.end(rawResponse(reply.status, reply.headers, textOf(reply.body)))
      const now = systemClock.monotonic()
      const end = { how: 'sent', times: replyTimes(now), now, isAnswered: true, connection: connection.id } as const
      const ended = endedExchange(reply, end)
      if (ended !== undefined) handlers.ended([ended])
    }
    const reply = handlers.refuse(code, addressOf(connection))
    if (reply instanceof Promise) void reply.then(sendLast)
    else sendLast(reply)
  }
  socket.resume()
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(lingering))
}
