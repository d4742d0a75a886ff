import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExchangeRecord } from '../../src/exchanges/exchange-record.js'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.js'
import { listenLocally } from '../support/listen-locally.js'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

/** A real service that responds on command, and lists the requests that it received and those that were aborted. */
async function patientService() {
  const came: IncomingMessage[] = []
  const waiting: ServerResponse[] = []
  const takenBack: string[] = []
  const server: Server = createServer((request, response) => {
    came.push(request)
    waiting.push(response)
    response.once('close', () => {
      if (!response.writableFinished) takenBack.push(`${request.method} ${request.url}`)
      server.emit('ended')
    })
    request.resume()
    server.emit('came')
  })
  return {
    baseUrl: `${await listenLocally(server)}/v1`,
    came,
    takenBack,
    isAsked: () => once(server, 'came'),
    isLeft: () => once(server, 'ended'),
    reply() {
      for (const response of waiting.splice(0))
        response
          .writeHead(200, {
            'Content-Type': 'application/json',
            'X-RateLimit-Limit': '60',
            'X-RateLimit-Remaining': '59',
            'X-RateLimit-Reset': String(Math.floor(Date.now() / 1000) + 60),
          })
          .end('[]')
    },
  }
}

function keyFile(): string {
  return temporaryFile('key', 'a-real-key-of-staging\n')
}

/** The only exchange, once it has ended. */
async function ended(sandbox: TestSandbox): Promise<ExchangeRecord> {
  const { log } = sandbox.core.spaces.default
  const known = [...log].find(({ how }) => how !== undefined)
  if (known !== undefined) return known
  return new Promise((resolve) => {
    log.follow({ onEnded: resolve, end() {} })
  })
}

describe.each(transports)('a client that leaves before the real service responds, %s', (_name, openSandbox) => {
  const open = async (given: SandboxOptions = {}) => {
    const service = await patientService()
    const sandbox = await openSandbox({ upstream: service.baseUrl, upstreamApiKeyFile: keyFile(), ...given })
    return { service, sandbox }
  }

  it('aborts its request, and is logged as left without a response', async () => {
    const { service, sandbox } = await open()
    const leaving = new AbortController()
    const isAsked = service.isAsked()
    const isLeft = service.isLeft()
    const asked = sandbox.call('/v1/pets', { signal: leaving.signal }).catch((error: Error) => error.name)
    await isAsked
    leaving.abort()
    expect(await asked).toBe('AbortError')
    await isLeft
    expect(service.takenBack).toEqual(['GET /v1/pets'])
    expect(await ended(sandbox)).toMatchObject({ how: 'left', status: undefined, reason: 'upstream' })
    // It was not the service that failed.
    expect((await sandbox.control('GET', '/drift')).json).toMatchObject({ checked: 0, unanswered: 0 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ requests: 1, violations: [], warnings: [] })
    expect(service.came).toHaveLength(1)
    expect(sandbox.warnings).toEqual([])
  })

  it('leaves a warning that its write may have been carried out', async () => {
    const { service, sandbox } = await open({ upstreamWrites: 'forward' })
    const leaving = new AbortController()
    const isAsked = service.isAsked()
    const isLeft = service.isLeft()
    const body = { name: 'Rex', categoryId: 1 }
    const asked = sandbox
      .call('/v1/pets', { method: 'POST', body, signal: leaving.signal })
      .catch((error: Error) => error.name)
    await isAsked
    leaving.abort()
    expect(await asked).toBe('AbortError')
    await isLeft
    expect((await ended(sandbox)).how).toBe('left')
    expect(sandbox.warnings).toEqual([
      'POST /v1/pets: the client disconnected before the real service responded. The service may have carried out the request.',
    ])
  })
})

describe('a connection that closes before the real service responds', () => {
  const open = async (): Promise<{ service: Awaited<ReturnType<typeof patientService>>; sandbox: Sandbox }> => {
    const service = await patientService()
    const sandbox = await startSandbox({ upstream: service.baseUrl, upstreamApiKeyFile: keyFile() })
    onTestFinished(() => sandbox.close())
    return { service, sandbox }
  }
  const request = (path: string) => `GET /v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sandbox\r\n\r\n`

  async function ask({ baseUrl }: Sandbox, text: string): Promise<Socket> {
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.write(text)
    return socket
  }

  it('is still answered if only its half is closed', async () => {
    const { service, sandbox } = await open()
    const isAsked = service.isAsked()
    const socket = await ask(sandbox, request('/pets'))
    socket.end()
    let reply = ''
    socket.on('data', (chunk) => {
      reply += chunk
      // The connection was probed by then.
      if (reply.startsWith('HTTP/1.1 102')) service.reply()
    })
    await isAsked
    await once(socket, 'close')
    expect(reply).toMatch(/HTTP\/1\.1 200 OK\r\n.*\[\]$/s)
    expect(service.takenBack).toEqual([])
    expect(await sandbox.requests()).toMatchObject([{ status: 200, ended: 'sent' }])
  })

  it('aborts all its requests', async () => {
    const { service, sandbox } = await open()
    const isAsked = service.isAsked()
    const socket = await ask(sandbox, request('/pets') + request('/pets/1') + request('/store/orders'))
    await isAsked
    while (service.came.length < 3) await service.isAsked()
    socket.destroy()
    while (service.takenBack.length < 3) await service.isLeft()
    expect(service.takenBack.sort()).toEqual(['GET /v1/pets', 'GET /v1/pets/1', 'GET /v1/store/orders'])
    // Ends are noted in a later turn, which awaited promises alone would never reach.
    while ((await sandbox.requests()).some(({ ended }) => ended === null)) await new Promise(setImmediate)
    expect((await sandbox.requests()).map(({ status, ended }) => [status, ended])).toEqual([
      [null, 'left'],
      [null, 'left'],
      [null, 'left'],
    ])
  })
})
