import { Server as NetServer } from 'node:net'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { clearInterval, setImmediate, setInterval, setTimeout, systemClock } from '../system/system-clock.js'
import { hasStalled } from './connection.js'
import { cut, type ListenerContext } from './listener-context.js'

/** @source docs/cli.md, "Stopping" */
const STOP_TIMEOUT_MS: DurationMs = 5 * SECOND_MS
const CHECK_INTERVAL_MS: DurationMs = 20
/** How long a new connection may take to send: a load balancer on a busy machine is slow. */
const FIRST_BYTES_TIMEOUT_MS: DurationMs = SECOND_MS / 2
const MAX_ACCEPT_MS: DurationMs = SECOND_MS
const ACCEPT_INTERVAL_MS: DurationMs = 1

export function cutIdle(context: ListenerContext): void {
  const now = systemClock.monotonic()
  for (const connection of context.connections.values()) {
    if (connection.reader?.isIdle(now)) connection.socket.destroy()
    if (!hasStalled(connection, now)) continue
    context.handlers.warn('Closed a connection that had made no progress for 30 s.')
    cut(context, connection.socket)
  }
}

export async function stopListening(context: ListenerContext, how: 'clean' | 'now'): Promise<void> {
  const { server, connections } = context
  context.isStopping = true
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()))
  if (how === 'clean') await acceptPending(context)
  // server.close() would also cut responses that are still being sent.
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

/** Node accepts one connection per turn of the event loop, and closing the port resets those that wait. */
async function acceptPending(context: ListenerContext): Promise<void> {
  const until = systemClock.monotonic() + MAX_ACCEPT_MS
  for (let before = -1; before < context.accepted && systemClock.monotonic() < until; ) {
    before = context.accepted
    // Timers run before the sockets are polled, immediates after it.
    await new Promise((resolve) => setTimeout(() => setImmediate(resolve), ACCEPT_INTERVAL_MS))
  }
}

function closeFinished(context: ListenerContext, timeoutAt: number): void {
  const { connections, hanging, server } = context
  for (const response of hanging) if (response.socket !== null) cut(context, response.socket)
  const now = systemClock.monotonic()
  for (const { socket, openedAt, reader } of connections.values()) {
    const isSilent = socket.bytesRead === 0
    if (now > timeoutAt) cut(context, socket)
    else if (isSilent ? now - openedAt > FIRST_BYTES_TIMEOUT_MS : reader?.isQuiet && socket.writableLength === 0)
      socket.destroy()
  }
  // Node counts a connection as idle once the response is in the socket's buffer.
  if ([...connections.keys()].every(({ writableLength }) => writableLength === 0)) server.closeIdleConnections()
}
