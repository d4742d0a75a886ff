import { once } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { KEYED, openSocket, type RawSocket, startOnPort } from '../support/raw-http.js'

const GET_PET = `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`

/** Waits until the port refuses connections. */
async function untilClosed(port: number): Promise<void> {
  const isOpen = () =>
    openSocket(port).then(
      (late) => late.destroy() !== undefined,
      () => false,
    )
  while (await isOpen()) await new Promise(setImmediate)
}

async function received(socket: RawSocket): Promise<string> {
  await once(socket, 'close')
  return socket.received
}

describe('a half-closed connection', () => {
  it('is closed if the request hangs', async () => {
    const { port } = await startOnPort({ fault: 'getPet:hang' })
    const socket = await openSocket(port)
    socket.end(GET_PET)
    expect(await received(socket)).toBe('')
  })

  it('ends a stream of exchanges', async () => {
    const { port } = await startOnPort()
    const socket = await openSocket(port)
    socket.write(`GET /__sandbox/requests/stream HTTP/1.1\r\n${KEYED}\r\n`)
    await once(socket, 'data')
    socket.end()
    await received(socket)
  })
})

describe('a stop', () => {
  it('serves every request that has arrived', async () => {
    const { port, stop } = await startOnPort()
    const idle = await openSocket(port)
    idle.write(GET_PET)
    await once(idle, 'data')
    const sockets = [idle, ...(await Promise.all(Array.from({ length: 20 }, () => openSocket(port))))]
    const responses = sockets.map(received)
    for (const socket of sockets) socket.write(GET_PET)
    await stop()
    for (const response of await Promise.all(responses))
      expect(response).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s)
  })

  it('serves a client that connected just before the port was closed', async () => {
    const { port, stop } = await startOnPort()
    const socket = await openSocket(port)
    const stopped = stop()
    const isClosed = () => expect(openSocket(port)).rejects.toThrow('ECONNREFUSED')
    await vi.waitFor(isClosed, { timeout: STEP_PATIENCE_MS, interval: 10 })
    socket.write(GET_PET)
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s)
    await stopped
  })

  it('does not cut a response that is read slowly', async () => {
    const name = 'x'.repeat(1_000_000)
    const { port, stop, baseUrl } = await startOnPort()
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    for (let i = 0; i < 8; i++) {
      await fetch(`${baseUrl}/pets`, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) })
    }
    const socket = await openSocket(port)
    socket.write(`GET /v1/pets?limit=8 HTTP/1.1\r\n${KEYED}\r\n`)
    await once(socket, 'readable')
    const stopped = stop()
    await untilClosed(port)
    const response = await received(socket)
    await stopped
    expect(response.length).toBeGreaterThan(8 * name.length)
  })
})
