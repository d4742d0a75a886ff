import { Server as NetServer } from 'node:net'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import { clearInterval, setImmediate, setInterval } from '../system/timers.js'
import { hasStalled } from './connection.js'
import { cut, type ListenerContext } from './listener-context.js'

/** How long open responses may take. @source docs/cli.md, "Stopping" */
const STOP_TIMEOUT_MS: DurationMs = 5 * SECOND_MS
const CHECK_INTERVAL_MS: DurationMs = 20
/** Turns without a new connection after which all pending requests are read: one to accept, one to read, one to spare. */
const QUIET_TURNS = 3
/** Connections accepted after the last poll are reset by the kernel, so the port is closed right after a short turn. */
const SHORT_TURN_MS: DurationMs = 0.1
/** A new connection is about to send: a load balancer on a busy machine takes a while. */
const FIRST_BYTES_TIMEOUT_MS: DurationMs = SECOND_MS / 2
/** Clients that keep connecting cannot delay a stop for longer. */
const MAX_ACCEPT_MS: DurationMs = SECOND_MS

/** Closes connections that are idle, or whose clients receive nothing. */
export function cutIdle(context: ListenerContext): void {
  const now = systemClock.monotonic()
  for (const connection of context.connections.values()) {
    if (context.lane.isIdle(connection, now)) connection.socket.destroy()
    if (!hasStalled(connection, now)) continue
    context.handlers.warn('A client received nothing of its response for 30 s; its connection was cut.')
    cut(context, connection.socket)
  }
}

/** Stops accepting, and resolves when the port is free. `clean` lets open responses finish, `now` cuts them. */
export async function stopListening(context: ListenerContext, how: 'clean' | 'now'): Promise<void> {
  const { server, connections } = context
  context.isStopping = true
  if (how === 'clean') await readPending(context)
  // server.close() would also close idle connections at once.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  if (how === 'now') for (const socket of connections.keys()) cut(context, socket)
  const timeoutAt = systemClock.monotonic() + STOP_TIMEOUT_MS
  closeFinished(context, timeoutAt)
  const timer = setInterval(() => closeFinished(context, timeoutAt), CHECK_INTERVAL_MS)
  await closed
  // Ends a timer of node:http, which would keep the whole sandbox in memory.
  server.close()
  clearInterval(timer)
}

/** Reads requests that have arrived: Node would close their connections, and accepts one per turn. */
async function readPending(context: ListenerContext): Promise<void> {
  let startedAt = systemClock.monotonic()
  const until = startedAt + MAX_ACCEPT_MS
  for (let quiet = 0; startedAt < until; ) {
    const before = context.accepted
    await new Promise((resolve) => setImmediate(resolve))
    const now = systemClock.monotonic()
    quiet = context.accepted > before ? 0 : quiet + 1
    if (quiet >= QUIET_TURNS && now - startedAt < SHORT_TURN_MS) return
    startedAt = now
  }
}

function closeFinished(context: ListenerContext, timeoutAt: number): void {
  const { connections, hanging, server } = context
  for (const response of hanging) if (response.socket !== null) cut(context, response.socket)
  const now = systemClock.monotonic()
  let isSending = false
  for (const socket of connections.keys()) {
    if (now > timeoutAt) cut(context, socket)
    else if (socket.writableLength > 0) isSending = true
  }
  // For Node, a connection is idle once the response is handed to the socket, even if it is not sent yet.
  if (isSending) return
  server.closeIdleConnections()
  for (const { plain, socket } of connections.values()) {
    const isAboutToSend =
      socket.bytesRead === 0 && plain !== undefined && now - plain.quietSince < FIRST_BYTES_TIMEOUT_MS
    if (plain?.isAnswering === false && !isAboutToSend) socket.destroy()
  }
}
