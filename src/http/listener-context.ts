import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { DeliveryMarks, PendingReply } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import type { Connection } from './connection.js'
import type { ServiceHandlers } from './fetch-adapter.js'
import type { PlainLane } from './plain-lane.js'
import type { BodyBudget } from './request-body.js'
import type { Hanging } from './wire-faults.js'
import type { WriteBatch } from './write-batch.js'

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
  readonly hanging: Hanging
  readonly budget: BodyBudget
  readonly batch: WriteBatch
  readonly lane: PlainLane
  /** Highest positions whose replies were sent and delivered. */
  marks: DeliveryMarks
  isStopping: boolean
  accepted: number
}

export function newConnection(context: ListenerContext, socket: Socket): Connection {
  const connection: Connection = {
    socket,
    id: ++context.accepted,
    opened: context.marks,
    isUsed: false,
    receivedAt: undefined,
    plain: undefined,
    decided: undefined,
    response: undefined,
    receivingBody: undefined,
    flushedBytes: undefined,
    flushedAt: 0,
    unsent: new Set(),
    isPipelined: false,
    refusals: [],
    halfClosedAt: undefined,
    isCutByServer: false,
    isRefused: false,
    pending: new Set(),
    leaving: undefined,
    left() {
      connection.leaving ??= new AbortController()
      if (connection.closedAt !== undefined) connection.leaving.abort()
      return connection.leaving.signal
    },
    closedAt: undefined,
  }
  return connection
}

export function cut({ connections }: ListenerContext, socket: Socket): void {
  const connection = connections.get(socket)
  if (connection !== undefined) connection.isCutByServer = true
  socket.destroy()
}
