import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ProblemCode } from '../domain/problems.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { clearInterval, setInterval, setTimeout } from '../system/system-clock.js'
import { KEEP_ALIVE_MS } from './connection.js'
import { DeliveryOrder } from './delivery-order.js'
import './fast-lane/lane.js'
import { type ListenerContext, newConnection, plugIns, type RequestHandlers } from './listener-context.js'
import { openPort } from './open-port.js'
import { handleRequest, refuseRest } from './request.js'
import { BodyBudget } from './request-body.js'
import { detectUnread, reportClosed, reportWritten } from './response.js'
import { cutIdle, stopListening } from './shutdown.js'

/** A client that closes its half of the connection gets only responses that are ready within this time. */
const HALF_CLOSED_MS: DurationMs = 200

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
    order: new DeliveryOrder({ written: (batch, isProven) => reportWritten(context, batch, isProven) }),
    readByNode,
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

function newServer(): Pick<ListenerContext, 'server' | 'readByNode'> {
  const server: Server = createServer({
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
  const { connections, hanging, order } = context
  const connection = newConnection(context, socket)
  connections.set(socket, connection)
  socket.once('close', () => {
    connections.delete(socket)
    order.closed(connection.order)
    reportClosed(context, connection)
  })
  detectUnread(context, connection)
  // A client that waits cannot be distinguished from one that is gone.
  socket.once('end', () => {
    for (const response of hanging) if (response.socket === socket) socket.destroy()
    if (connection.awaited === 0) return
    const leave = () => {
      if (connection.awaited > 0) socket.destroy()
    }
    setTimeout(leave, HALF_CLOSED_MS).unref()
  })
  if (plugIns.fastLane === undefined) context.readByNode(socket)
  else plugIns.fastLane(context, connection)
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
