import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { PendingReply } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import { systemClock } from '../system/system-clock.js'
import type { Connection } from './connection.js'
import type { DeliveryOrder } from './delivery-order.js'
import type { ServiceHandlers } from './fetch-adapter.js'
import type { BodyBudget } from './request-body.js'

export interface RequestHandlers extends ServiceHandlers {
  /** Responds to bytes that the HTTP parser refused. @param address of the client */
  refuse(code: ProblemCode, address: string): PendingReply
  isControl(target: string): boolean
  control(request: IncomingMessage, response: ServerResponse, budget: BodyBudget): void
  warn(message: string): void
}

export interface ListenerContext {
  readonly handlers: RequestHandlers
  readonly server: Server
  readonly connections: Map<Socket, Connection>
  /** Responses that are never sent: they end when the client disconnects or the server stops. */
  readonly hanging: Set<ServerResponse>
  readonly budget: BodyBudget
  readonly order: DeliveryOrder
  /** Passes a connection to node:http. */
  readByNode(socket: Socket): void
  isStopping: boolean
  accepted: number
}

/** A module that is imported may read new connections before node:http does. */
export const plugIns: { fastLane?: (context: ListenerContext, connection: Connection) => void } = {}

export function newConnection(context: ListenerContext, socket: Socket): Connection {
  let leaving: AbortController | undefined
  socket.once('close', () => leaving?.abort())
  return {
    socket,
    id: ++context.accepted,
    openedAt: systemClock.monotonic(),
    order: context.order.connected(),
    reader: undefined,
    decided: undefined,
    response: undefined,
    receivingBody: undefined,
    flushedBytes: undefined,
    flushedAt: 0,
    unsent: new Set(),
    awaited: 0,
    isPipelined: false,
    refusals: [],
    isCutByServer: false,
    isRefused: false,
    left() {
      leaving ??= new AbortController()
      if (socket.destroyed) leaving.abort()
      return leaving.signal
    },
  }
}

export function cut({ connections }: ListenerContext, socket: Socket): void {
  const connection = connections.get(socket)
  if (connection !== undefined) connection.isCutByServer = true
  socket.destroy()
}
