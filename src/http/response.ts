import type { ServerResponse } from 'node:http'
import { type EndedExchange, type Reply, type ResponseEnd, sliceBody, textOf } from '../domain/messages.js'
import { messageOf } from '../system/message-of.js'
import { clearTimeout, setImmediate, setTimeout, systemClock } from '../system/system-clock.js'
import {
  type Connection,
  type DecidedReply,
  leftAt,
  type Outgoing,
  probeHalfClosed,
  probeRefusals,
} from './connection.js'
import { cut, type ListenerContext } from './listener-context.js'
import { isLong } from './plain-messages.js'
import { endedExchange, failedReply } from './replies.js'
import { applyFault } from './wire-faults.js'
import { isRefusal } from './write-batch.js'

export function newOutgoing(
  connection: Connection,
  response: ServerResponse | undefined,
  head: string | undefined,
  reply: Reply,
  arrivedAt: number,
): Outgoing {
  return { connection, response, head, reply, arrivedAt, waitedMs: 0, waitsSince: undefined, beganAt: undefined }
}

/** Adds a reply to the batch of this turn, after its delay. */
export function post({ batch }: ListenerContext, outgoing: Outgoing, response: ServerResponse): void {
  const { reply, connection } = outgoing
  if (reply.delayMs === 0) {
    batch.put(outgoing)
    return
  }
  // If the client leaves first, its end is reported when the connection closes.
  connection.unsent.add(outgoing)
  const waitsSince = systemClock.monotonic()
  outgoing.waitsSince = waitsSince
  const timer = setTimeout(() => {
    if (!connection.unsent.delete(outgoing)) return
    outgoing.waitedMs = systemClock.monotonic() - waitsSince
    outgoing.waitsSince = undefined
    batch.put(outgoing)
  }, reply.delayMs)
  response.once('close', () => clearTimeout(timer))
  if (connection.halfClosedAt !== undefined) probeHalfClosed(connection)
}

export function send(context: ListenerContext, outgoing: Outgoing): void {
  const { lane, isStopping } = context
  const { response, reply } = outgoing
  if (response === undefined) {
    lane.send(outgoing, isStopping)
    return
  }
  try {
    transmit(context, response, reply)
  } catch (error) {
    sendFailure(context, outgoing.reply, response, error)
  }
}

function transmit(context: ListenerContext, response: ServerResponse, reply: Reply): void {
  const { req: request } = response
  if (reply.fault !== undefined) {
    applyFault(reply.fault, request, response, reply, context.hanging)
    return
  }
  if (context.isStopping) response.shouldKeepAlive = false
  response.writeHead(reply.status, reply.headers)
  if (request.method === 'HEAD') response.end()
  else if (isLong(reply)) sendLong(context, response, reply)
  else if (reply.binary === undefined) response.end(reply.body)
  else response.end(reply.binary, 'latin1')
}

/** Waits for each slice to be received: a slow client holds one slice in memory, not the whole body. */
function sendLong(context: ListenerContext, response: ServerResponse, reply: Reply): void {
  const slices = sliceBody(reply.binary ?? reply.body)
  const encoding = reply.binary === undefined ? 'utf8' : 'latin1'
  const next = () => {
    try {
      const { done, value } = slices.next()
      if (done) response.end()
      else response.write(value, encoding, (error) => error ?? next())
    } catch (error) {
      sendFailure(context, reply, response, error)
    }
  }
  next()
}

function sendFailure(context: ListenerContext, reply: Reply, response: ServerResponse, error: unknown): void {
  const { req: request } = response
  context.handlers.warn(
    `The response ${reply.status} to ${request.method} ${request.url} could not be sent: ${messageOf(error)}`,
  )
  if (response.headersSent) {
    cut(context, request.socket)
    return
  }
  // May be set by a header before the invalid one.
  response.chunkedEncoding = false
  const { status, headers, body } = failedReply(reply)
  response.writeHead(status, headers)
  response.end(textOf(body))
}

/** Reports replies as sent: now, or once they are flushed. */
export function reportEnds(context: ListenerContext, batch: readonly Outgoing[], isProven: boolean): void {
  const { lane } = context
  const now = systemClock.monotonic()
  const ends: EndedExchange[] = []
  const refusals: Outgoing[] = []
  let isCut = false
  for (const outgoing of batch) {
    const { connection, response, reply } = outgoing
    const { socket } = connection
    if (socket.destroyed) {
      addEnd(context, ends, outgoing, lossOf(outgoing), now)
      isCut = true
    } else if (response === undefined ? socket.writableLength === 0 : response.writableFinished) {
      addEnd(context, ends, outgoing, 'sent', now)
      if (isRefusal(outgoing)) refusals.push(outgoing)
    } else {
      if (reply.fault === 'hang') outgoing.waitsSince = now
      else outgoing.beganAt = now
      connection.unsent.add(outgoing)
      const sent = () => reportEnd(context, outgoing, 'sent', isProven)
      if (response === undefined) lane.whenSent(connection, sent)
      else response.prependOnceListener('finish', sent)
    }
  }
  const position = ends.length === 0 ? 0 : context.handlers.ended(ends)
  if (refusals.length > 0) noteRefusals(context, refusals, position, isProven)
  else if (isCut) mark(context, position, isProven)
  for (const { connection } of batch) lane.resume(connection)
}

function reportEnd(context: ListenerContext, outgoing: Outgoing, how: ResponseEnd, isProven = false): void {
  if (!outgoing.connection.unsent.delete(outgoing)) return
  const ends: EndedExchange[] = []
  addEnd(context, ends, outgoing, how, systemClock.monotonic())
  const position = ends.length === 0 ? 0 : context.handlers.ended(ends)
  if (how === 'sent' && isRefusal(outgoing)) noteRefusals(context, [outgoing], position, isProven)
  else if (how === 'cut') mark(context, position, true)
  context.lane.resume(outgoing.connection)
}

export function reportClosed(context: ListenerContext, connection: Connection): void {
  for (const outgoing of connection.unsent) reportEnd(context, outgoing, lossOf(outgoing))
  if (connection.decided !== undefined) void reportDecided(context, connection, connection.decided)
}

/** Reports a request that was executed by the lane but not read by node:http before the connection closed. */
async function reportDecided(
  context: ListenerContext,
  connection: Connection,
  { reply, arrivedAt }: DecidedReply,
): Promise<void> {
  const { isRefused } = connection
  const { warn } = context.handlers
  if (isRefused) warn("Node's HTTP parser refused a request after the sandbox had executed it. No response was sent.")
  try {
    const outgoing = newOutgoing(connection, undefined, undefined, await reply(), arrivedAt)
    connection.unsent.add(outgoing)
    reportEnd(context, outgoing, isRefused ? 'cut' : lossOf(outgoing))
  } catch (error) {
    warn(`A request failed inside the sandbox: ${messageOf(error)}`)
  }
}

function addEnd(
  { handlers }: ListenerContext,
  ends: EndedExchange[],
  outgoing: Outgoing,
  how: ResponseEnd,
  now: number,
): void {
  const { connection, reply } = outgoing
  const isAnswered = how === 'sent' || hasBegun(outgoing)
  const at = how === 'left' ? leftAt(outgoing, now) : now
  const end = { how, times: outgoing, now: at, isAnswered, connection: connection.id }
  const ended = endedExchange(reply, end)
  if (ended !== undefined) ends.push(ended)
}

function noteRefusals(
  context: ListenerContext,
  refusals: readonly Outgoing[],
  position: number,
  isProven: boolean,
): void {
  mark(context, position, isProven)
  for (const { connection, reply } of refusals) {
    if (reply.exchange !== undefined) connection.refusals.push(reply.exchange)
    probeRefusals(connection)
  }
}

/** @param isProven requests received from now on were sent after the replies were readable */
function mark(context: ListenerContext, position: number, isProven: boolean): void {
  const sentUpTo = Math.max(context.marks.sentUpTo, position)
  context.marks = isProven ? { deliveredUpTo: sentUpTo, sentUpTo } : { ...context.marks, sentUpTo }
  // Requests that are already sent are read in the next turn.
  if (!isProven) setImmediate(() => setImmediate(() => mark(context, position, true)))
}

/** Faults that break off within the body; node:http does not write them. */
const TRUNCATED_BODIES: readonly Reply['fault'][] = ['truncated-body', 'malformed-chunk']

/** Whether something of a reply was sent before its connection closed. */
function hasBegun({ response, reply: { fault }, beganAt }: Outgoing): boolean {
  return beganAt !== undefined && (response?.headersSent !== false || TRUNCATED_BODIES.includes(fault))
}

function lossOf({ connection, reply: { fault } }: Outgoing): 'cut' | 'left' {
  const isFaulty = fault === 'connection-reset' || fault === 'empty-response' || TRUNCATED_BODIES.includes(fault)
  return connection.isCutByServer || isFaulty ? 'cut' : 'left'
}
