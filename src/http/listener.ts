import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ProblemCode } from '../domain/problems.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { clearInterval, setInterval, systemClock } from '../system/system-clock.js'
import { probeHalfClosed, probeRefusals } from './connection.js'
import { type ListenerContext, newConnection, type RequestHandlers } from './listener-context.js'
import { openPort } from './open-port.js'
import { PlainLane } from './plain-lane.js'
import { parserSettings } from './plain-messages.js'
import { handleRequest, refuseRest, servePlain } from './request.js'
import { BodyBudget } from './request-body.js'
import { newOutgoing, reportClosed, reportEnds, send } from './response.js'
import { cutIdle, stopListening } from './shutdown.js'
import { WriteBatch } from './write-batch.js'

/** Longer than common clients keep idle connections (browsers: 5 min), so that they do not write to a closed one. */
const KEEP_ALIVE_MS: DurationMs = 6 * MINUTE_MS

const IDLE_CHECK_INTERVAL_MS: DurationMs = 5 * SECOND_MS

export interface Listener {
  readonly host: string
  readonly port: number
  /** Resolves when the port is free. `clean` lets open responses finish, `now` cuts them. */
  stop(how: 'clean' | 'now'): Promise<void>
}

/** Opens the port. @throws Failure PORT_IN_USE, PORT_FORBIDDEN, HOST_UNAVAILABLE */
export async function listen(host: string, port: number, handlers: RequestHandlers): Promise<Listener> {
  const { server, readByNode } = newServer()
  const context: ListenerContext = {
    handlers,
    server,
    connections: new Map(),
    hanging: new Set(),
    budget: new BodyBudget(),
    batch: new WriteBatch({
      send: (outgoing) => send(context, outgoing),
      sent: (batch, isProven) => reportEnds(context, batch, isProven),
    }),
    lane: new PlainLane({
      parser: parserSettings,
      keepAliveMs: KEEP_ALIVE_MS,
      accepts: (target) => !context.isStopping && !handlers.isControl(target),
      received(connection) {
        context.batch.quiet.received()
        connection.receivedAt ??= context.marks
      },
      serve: (connection, request) => servePlain(context, connection, request),
      post: (connection, { reply, head, arrivedAt }) =>
        context.batch.put(newOutgoing(connection, undefined, head, reply, arrivedAt)),
      handOver(connection, bytes) {
        const { socket } = connection
        readByNode(socket)
        socket.emit('data', bytes)
        connection.receivedAt = undefined
        if (socket.isPaused()) socket.resume()
      },
    }),
    marks: { deliveredUpTo: 0, sentUpTo: 0 },
    isStopping: false,
    accepted: 0,
  }
  handleEvents(context)
  const address = await openPort(server, host, port)
  const idleCheck = setInterval(() => cutIdle(context), IDLE_CHECK_INTERVAL_MS).unref()
  return {
    host: address.address,
    port: address.port,
    stop: (how) => stopListening(context, how).finally(() => clearInterval(idleCheck)),
  }
}

function newServer(): { readonly server: Server; readByNode(socket: Socket): void } {
  const server = createServer({
    ...parserSettings,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node's own 400 for a missing Host has no body; ours has the Error shape.
    requireHostHeader: false,
  })
  // A half-closed client can still read, as with `nc -N`; Node would close the other half before a slow response.
  // @source Node.js, lib/_http_server.js, socketOnEnd
  Object.assign(server, { httpAllowHalfOpen: true })
  const [onConnection = () => {}] = server.listeners('connection')
  server.removeAllListeners('connection')
  return { server, readByNode: (socket) => void onConnection.call(server, socket) }
}

function handleEvents(context: ListenerContext): void {
  const { server, connections } = context
  const refuse = (socket: Socket, code: ProblemCode | undefined) => {
    const connection = connections.get(socket)
    if (connection === undefined || code === undefined || socket.bytesRead === 0) socket.destroy()
    else refuseRest(context, connection, code)
  }
  server.on('connection', (socket) => handleConnection(context, socket))
  server.on('request', (request, response) => handleRequest(context, request, response))
  // Expectations other than 100-continue are ignored. @source RFC 9110, section 10.1.1
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) =>
    refuse(socket, parserProblem(code)),
  )
  server.on('connect', (_request, socket: Socket) => refuse(socket, 'bad_request'))
}

function handleConnection(context: ListenerContext, socket: Socket): void {
  const { batch, connections, hanging, lane, handlers } = context
  batch.quiet.connected()
  const connection = newConnection(context, socket)
  connections.set(socket, connection)
  socket.once('close', () => {
    connections.delete(socket)
    if (!connection.isUsed) batch.quiet.used()
    connection.closedAt = systemClock.monotonic()
    connection.leaving?.abort()
    reportClosed(context, connection)
  })
  // Node removes its listener from a detached socket, and an unhandled error would end the process.
  // A client that closes a connection with unread data resets it. @source RFC 9293, section 3.6.1
  socket.on('error', () => {
    const { refusals } = connection
    if (refusals.length === 0) return
    connection.refusals = []
    handlers.ended([], refusals)
  })
  socket.once('end', () => {
    connection.halfClosedAt = systemClock.monotonic()
    probeRefusals(connection)
    // After a hang, a waiting client cannot be distinguished from one that is gone.
    for (const response of hanging) if (response.socket === socket) socket.destroy()
    probeHalfClosed(connection)
  })
  lane.open(connection)
}

function parserProblem(code: string): ProblemCode | undefined {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'headers_too_large'
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request_timeout'
    default:
      return code.startsWith('HPE_') ? 'bad_request' : undefined
  }
}
