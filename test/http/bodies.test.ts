import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MIB } from '../../src/domain/numbers.js'
import { MAX_BODIES_BYTES } from '../../src/http/request-body.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { openSocket, startOnPort } from '../support/raw-http.js'

const start = (options: SandboxOptions = {}) => startOnPort({ limits: '10000/min', ...options })

async function sender(port: number, sent: string): Promise<Socket> {
  const socket = await openSocket(port)
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((resolve) => socket.write(sent, () => resolve()))
  return socket
}

/** The first bytes received from now on. */
function responseOn(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk) => resolve(String(chunk)))
    socket.once('close', () => reject(new Error('closed without a response')))
  })
}

const post = (length: number, more = '') =>
  `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer sandbox\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`

describe('the control plane', () => {
  it.each([
    ['without its token', { controlToken: 'secret' }, 'Host: a\r\n', 401],
    ['of a foreign Host', {}, 'Host: evil.example\r\n', 403],
    ['of a foreign Origin', {}, 'Host: localhost\r\nOrigin: http://evil.example\r\n', 403],
  ])('refuses a request %s before its body arrives', async (_what, options, headers, status) => {
    const { port } = await start(options)
    const socket = await sender(port, `PUT /__sandbox/clock HTTP/1.1\r\n${headers}Content-Length: 10000000\r\n\r\n{`)
    expect(await responseOn(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} .*"code":"forbidden"`, 's'))
  })

  it('keeps a connection open after refusing a body', async () => {
    const { port } = await start()
    const length = 3_000_000
    const socket = await sender(
      port,
      `PUT /__sandbox/clock HTTP/1.1\r\nHost: evil\r\nContent-Length: ${length}\r\n\r\n`,
    )
    expect(await responseOn(socket)).toMatch(/^HTTP\/1.1 403 /)
    socket.write('a'.repeat(length))
    socket.write('GET /__sandbox/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(await responseOn(socket)).toMatch(/^HTTP\/1.1 200 .*healthy/s)
  })

  it('returns 413 for a body larger than 256 kB, and reads smaller ones', async () => {
    const { controlUrl, warnings } = await start()
    const put = (body: string) => fetch(`${controlUrl}/clock`, { method: 'PUT', body })
    expect((await put(' '.repeat(256_001))).status).toBe(413)
    expect((await put(`${' '.repeat(200_000)}{"frozen":true}`)).status).toBe(200)
    expect(warnings).toEqual([])
  })

  it('sends no response when a client leaves while sending its body', async () => {
    const { port, controlUrl, warnings } = await start()
    const socket = await sender(
      port,
      'PUT /__sandbox/clock HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{',
    )
    // Loads the control plane.
    expect((await fetch(`${controlUrl}/health`)).status).toBe(200)
    socket.resetAndDestroy()
    expect((await fetch(`${controlUrl}/health`)).status).toBe(200)
    expect(warnings).toEqual([])
  })
})

describe('request bodies of all connections together', () => {
  it('share a limit: the body that has stalled for the longest time gets a 503, the others are served', async () => {
    const { port, baseUrl } = await start()
    const almost = 'a'.repeat(MIB - 1)
    const stalled: Socket[] = []
    for (let i = 0; i < MAX_BODIES_BYTES / MIB; i++) {
      stalled.push(await sender(port, post(MIB) + almost))
    }
    const refused = Promise.any(stalled.map(responseOn))
    const later = await sender(port, post(MIB) + almost)
    const got = await refused
    expect(got).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*"code":"overloaded",.*"status":503\}$/s)
    expect(got).toMatch(/\r\nX-RateLimit-Remaining: \d+\r\n/)
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    const body = '{"name":"Rex","categoryId":1}'
    expect((await fetch(`${baseUrl}/pets`, { method: 'POST', headers, body })).status).toBe(201)
    const response = responseOn(later)
    later.write('a')
    expect(await response).toMatch(/^HTTP\/1\.1 400 /)
  })
})
