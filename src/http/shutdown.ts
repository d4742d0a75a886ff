import { Server as NetServer } from 'node:net'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { clearInterval, setImmediate, setInterval, systemClock } from '../system/system-clock.js'
import { hasStalled } from './connection.js'
import { cut, type ListenerContext } from './listener-context.js'

/** @source docs/cli.md, "Stopping" */
const STOP_TIMEOUT_MS: DurationMs = 5 * SECOND_MS
const CHECK_INTERVAL_MS: DurationMs = 20
/** Turns without a new connection before all pending requests count as read: one to accept, one to read, one spare. */
const QUIET_TURNS = 3
/** Connections accepted after the last poll are reset by the kernel, so the port is closed right after a short turn. */
const SHORT_TURN_MS: DurationMs = 0.1
/** How long a new connection may take to send: a load balancer on a busy machine is slow. */
const FIRST_BYTES_TIMEOUT_MS: DurationMs = SECOND_MS / 2
const MAX_ACCEPT_MS: DurationMs = SECOND_MS

export function cutIdle(context: ListenerContext): void {
  const now = systemClock.monotonic()
  for (const connection of context.connections.values()) {
    if (context.lane.isIdle(connection, now)) connection.socket.destroy()
    if (!hasStalled(connection, now)) continue
    context.handlers.warn('Closed a connection that had made no progress for 30 s.')
    cut(context, connection.socket)
  }
}

export async function stopListening(context: ListenerContext, how: 'clean' | 'now'): Promise<void> {
  const { server, connections } = context
  context.isStopping = true
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()))
  // Compiles close() early, because connections that arrive after the last poll and before close() ends are reset.
  new NetServer().close()
  if (how === 'clean') await readPending(context)
  // server.close() would also close idle connections immediately.
  NetServer.prototype.close.call(server)
  if (how === 'now') for (const socket of connections.keys()) cut(context, socket)
  const timeoutAt = systemClock.monotonic() + STOP_TIMEOUT_MS
  closeFinished(context, timeoutAt)
  const timer = setInterval(() => closeFinished(context, timeoutAt), CHECK_INTERVAL_MS)
  await closed
  // Clears a timer of node:http that would keep the whole sandbox in memory.
  server.close()
  clearInterval(timer)
}

/** Reads requests that have arrived. Node accepts one connection per turn, and would close the others. */
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
  // Node counts a connection as idle once the response is in the socket's buffer.
  if (isSending) return
  server.closeIdleConnections()
  for (const { plain, socket } of connections.values()) {
    const isAboutToSend =
      socket.bytesRead === 0 && plain !== undefined && now - plain.quietSince < FIRST_BYTES_TIMEOUT_MS
    if (plain?.isResponding === false && !isAboutToSend) socket.destroy()
  }
}
