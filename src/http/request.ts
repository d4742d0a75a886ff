import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  bodyLimit,
  bodyText,
  type DeliveryMarks,
  type PendingReply,
  type Reply,
  type ServiceRequest,
} from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import { isProxied } from '../domain/request-headers.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { clearTimeout, setTimeout, systemClock } from '../system/system-clock.js'
import type { Connection } from './connection.js'
import type { ListenerContext } from './listener-context.js'
import { endedExchange, replyTimes } from './replies.js'
import { hasBody, readBody } from './request-body.js'
import { NodeOutgoing } from './response.js'
import { rawResponse, whenFirstInPipeline } from './wire-faults.js'

/** A refused client may send for this long, so that it can read the refusal. */
const LINGER_MS: DurationMs = 3 * SECOND_MS

type RequestHead = Pick<ServiceRequest, 'method' | 'target' | 'headers' | 'rawHeaders'>

export function handleRequest(context: ListenerContext, request: IncomingMessage, response: ServerResponse): void {
  const { handlers, budget, order } = context
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
  order.received(connection.order)
  const before = marksFor(context, connection, request.headers)
  if (context.isStopping) response.shouldKeepAlive = false
  const { decided } = connection
  connection.decided = undefined
  if (decided !== undefined) {
    request.resume()
    serve(context, connection, response, () => decided.reply, decided.arrivedAt)
    return
  }
  const isReading = hasBody(request)
  if (isReading) connection.receivingBody = response
  const { method = 'GET', url: target = '/', headers, rawHeaders } = request
  const head = { method, target, headers, rawHeaders }
  const serveWith = (body: ServiceRequest['body']) => {
    if (connection.receivingBody === response) connection.receivingBody = undefined
    serve(context, connection, response, () => callService(context, connection, head, body, before))
  }
  if (handlers.isControl(target)) handlers.control(request, response, budget)
  else if (headers.host === undefined && request.httpVersion === '1.1')
    refuseInPlace(context, connection, response, 'bad_request')
  else if (isReading) readBody(request, bodyLimit(headers), budget, serveWith)
  else serveWith(undefined)
}

type SentMarks = DeliveryMarks & Pick<ServiceRequest, 'connection'>

/**
 * The marks when a request was sent. A client has read all earlier responses on its connection; a proxy uses one for
 * several clients.
 */
export function marksFor(
  { order }: ListenerContext,
  connection: Connection,
  headers: ServiceRequest['headers'],
): SentMarks {
  if (connection.refusals.length > 0) connection.refusals = []
  const marks = order.requested(connection.order)
  if (isProxied(headers)) return { ...order.proxied(marks), connection: 0 }
  const { deliveredUpTo, sentUpTo } = marks
  return { deliveredUpTo, sentUpTo, connection: connection.isPipelined ? 0 : connection.id }
}

/** Memory for the body is reserved while the reply is pending. @param before see marksFor */
export function callService(
  { handlers, budget }: ListenerContext,
  connection: Connection,
  { method, target, headers, rawHeaders }: RequestHead,
  body: ServiceRequest['body'],
  before: SentMarks,
): PendingReply {
  const bytes = typeof body === 'object' ? body.length : 0
  const reply = handlers.service(
    {
      method,
      target,
      headers,
      rawHeaders,
      body: bytes > 0 && !budget.makeRoom(bytes) ? 'no-room' : body,
      address: addressOf(connection),
      ...before,
    },
    connection.left,
  )
  return reply instanceof Promise && bytes > 0 ? reply.finally(budget.reserve(bytes)) : reply
}

function addressOf({ socket }: Connection): string {
  return socket.remoteAddress ?? 'unknown'
}

function serve(
  context: ListenerContext,
  connection: Connection,
  response: ServerResponse,
  decide: () => PendingReply,
  arrivedAt = systemClock.monotonic(),
): void {
  // Our Date comes from the space's clock.
  response.sendDate = false
  connection.awaited++
  const finish = (reply: Reply) => new NodeOutgoing(context, connection, response, reply, arrivedAt).post()
  const fail = (error: unknown) => {
    connection.awaited--
    context.handlers.warn(`A request failed inside the sandbox: ${error instanceof Error ? error.stack : error}`)
    refuseInPlace(context, connection, response, 'internal_error')
  }
  try {
    const reply = decide()
    if (reply instanceof Promise) reply.then(finish, fail)
    else finish(reply)
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
      socket.end(rawResponse(reply.status, reply.headers, bodyText(reply.body)))
      const now = systemClock.monotonic()
      const end = { how: 'sent', times: replyTimes(now), now, isAnswered: true, connection: connection.id } as const
      const ended = endedExchange(reply, end)
      if (ended !== undefined) handlers.ended([ended])
    }
    const reply = handlers.refuse(code, addressOf(connection))
    if (reply instanceof Promise) reply.then(sendLast, () => socket.destroy())
    else sendLast(reply)
  }
  socket.resume()
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(lingering))
}
