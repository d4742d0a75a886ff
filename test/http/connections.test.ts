import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bridge } from '../../src/http/control-bridge.js'
import { BodyBudget } from '../../src/http/request-body.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { type RunningSandbox, runSandbox } from '../../src/sandbox.js'
import { embeddedOptions } from '../support/embedded-options.js'

const KEYED = 'Host: localhost\r\nAuthorization: Bearer sandbox\r\n'
const GET_PET = `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`

async function start(options: SandboxOptions = {}): Promise<RunningSandbox & { readonly port: number }> {
  const sandbox = await runSandbox(embeddedOptions(options))
  onTestFinished(() => sandbox.stop('now'))
  return { ...sandbox, port: Number(new URL(sandbox.baseUrl).port) }
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Waits until nobody can connect any more. */
async function untilClosed(port: number): Promise<void> {
  const isOpen = () =>
    opened(port).then(
      (late) => late.destroy() !== undefined,
      () => false,
    )
  while (await isOpen()) await new Promise(setImmediate)
}

async function received(socket: Socket): Promise<string> {
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk
  })
  await once(socket, 'close')
  return got
}

describe('a half-closed connection', () => {
  it('gets its response, even a slow one', async () => {
    const { port } = await start({ latency: '20ms' })
    const socket = await opened(port)
    socket.end(GET_PET)
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('is closed if the request hangs', async () => {
    const { port } = await start({ fault: 'getPet:hang' })
    const socket = await opened(port)
    socket.end(GET_PET)
    expect(await received(socket)).toBe('')
  })

  it('ends a stream of exchanges', async () => {
    const { port } = await start()
    const socket = await opened(port)
    socket.write(`GET /__sandbox/requests/stream HTTP/1.1\r\n${KEYED}\r\n`)
    await once(socket, 'data')
    socket.end()
    await received(socket)
  })
})

describe('a stop', () => {
  it('answers every request that has arrived', async () => {
    const { port, stop } = await start()
    const idle = await opened(port)
    idle.write(GET_PET)
    await once(idle, 'data')
    const sockets = [idle, ...(await Promise.all(Array.from({ length: 20 }, () => opened(port))))]
    const answers = sockets.map(received)
    for (const socket of sockets) socket.write(GET_PET)
    await stop()
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s)
  })

  it('answers a client that connected just before the port was closed', async () => {
    const { port, stop } = await start()
    const socket = await opened(port)
    const stopped = stop()
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    await expect(opened(port)).rejects.toThrow('ECONNREFUSED')
    socket.write(GET_PET)
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s)
    await stopped
  })

  it('does not cut a response that is read slowly', async () => {
    const name = 'x'.repeat(1_000_000)
    const { port, stop, baseUrl } = await start()
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    for (let i = 0; i < 8; i++) {
      await fetch(`${baseUrl}/pets`, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) })
    }
    const socket = await opened(port)
    socket.write(`GET /v1/pets?limit=8 HTTP/1.1\r\n${KEYED}\r\n`)
    await once(socket, 'readable')
    const stopped = stop()
    // What was asked for is still on its way.
    await untilClosed(port)
    const answer = await received(socket)
    await stopped
    expect(answer.length).toBeGreaterThan(8 * name.length)
  })
})

describe('the bridge to the control plane', () => {
  it('removes its listeners after waiting for a slow client', async () => {
    const socket = Object.assign(new EventEmitter(), { destroyed: false })
    let most = 0
    const outgoing = {
      writeHead() {},
      write(_piece: Uint8Array, taken: () => void) {
        most = Math.max(most, socket.listenerCount('close'))
        setImmediate(taken)
      },
      end() {},
    }
    const incoming = Object.assign(Readable.from([]), { method: 'GET', url: '/', headers: {}, rawHeaders: [], socket })
    const body = ReadableStream.from(Array.from({ length: 20 }, () => new Uint8Array(1)))
    await bridge(
      () => new Response(body as ReadableStream<Uint8Array>),
      incoming as unknown as IncomingMessage,
      outgoing as unknown as ServerResponse,
      new BodyBudget(),
    )
    expect(most).toBeLessThan(5)
    expect(socket.listenerCount('close')).toBe(0)
  })
})
