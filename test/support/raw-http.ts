import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { bareReply } from '../../src/domain/messages.js'
import { listen } from '../../src/http/listener.js'
import type { RequestHandlers } from '../../src/http/listener-context.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { runSandbox } from '../../src/start/sandbox.js'
import { embeddedOptions } from './embedded-options.js'

/** Header lines of a request with the key `sandbox`. */
export const KEYED = 'Host: localhost\r\nAuthorization: Bearer sandbox\r\n'

/** A sandbox on a port, stopped when the test ends. */
export async function startOnPort(options: SandboxOptions = {}) {
  const warnings: string[] = []
  const sandbox = await runSandbox(embeddedOptions(options), { onWarning: (message) => warnings.push(message) })
  onTestFinished(() => sandbox.stop('now'))
  return { ...sandbox, port: Number(new URL(sandbox.baseUrl).port), warnings }
}

export type RawSocket = Socket & { received: string }

/** Connects, and collects received text in `received`. */
export async function openSocket(port: number): Promise<RawSocket> {
  const socket = Object.assign(connect({ port, host: '127.0.0.1', allowHalfOpen: true }), { received: '' })
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    socket.received += chunk
  })
  socket.on('end', () => socket.end())
  await once(socket, 'connect')
  return socket
}

/** Sends pieces, some turns of the event loop apart. @returns the received text once the connection is closed */
export async function exchange(port: number, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = await openSocket(port)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (const piece of pieces) {
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()))
    await turns()
  }
  await closed
  return socket.received
}

export async function turns(count = 10): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

export function statusesIn(received: string): readonly number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/** Opens a port for a service of the test. */
export async function listenWith(given: Partial<RequestHandlers>) {
  const warnings: string[] = []
  const listener = await listen('127.0.0.1', 0, {
    service: () => bareReply(200, []),
    ended: () => 0,
    refuse: () => ({ ...bareReply(500, ['Content-Length', '2']), body: '{}' }),
    isControl: () => false,
    control: () => {},
    warn: (message) => warnings.push(message),
    ...given,
  })
  onTestFinished(() => listener.stop('now'))
  return { listener, port: listener.port, warnings }
}
