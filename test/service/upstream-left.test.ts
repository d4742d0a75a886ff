import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExchangeRecord } from '../../src/exchanges/exchange-record.js'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.js'
import { listenLocally } from '../support/listen-locally.js'
import { openSocket } from '../support/raw-http.js'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, withoutReplicas } from '../support/transports.js'

/** A real service that responds on command, and lists the requests that it received and those that were aborted. */
async function patientService() {
  const came: IncomingMessage[] = []
  const waiting: ServerResponse[] = []
  const takenBack: string[] = []
  const server = createServer((request, response) => {
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
      const reset = String(Math.floor(Date.now() / 1000) + 60)
      const limits = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': reset }
      for (const response of waiting.splice(0))
        response.writeHead(200, { 'Content-Type': 'application/json', ...limits }).end('[]')
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

describe.each(withoutReplicas)('a client that leaves before the real service responds, %s', (_name, openSandbox) => {
  const open = async (given: SandboxOptions = {}) => {
    const service = await patientService()
    const sandbox = await openSandbox({ upstream: service.baseUrl, upstreamApiKeyFile: keyFile(), ...given })
    return { service, sandbox }
  }

  /** Sends a request, and leaves while the service has it. */
  async function leave(
    service: Awaited<ReturnType<typeof patientService>>,
    sandbox: TestSandbox,
    request: Parameters<TestSandbox['call']>[1] = {},
  ) {
    const leaving = new AbortController()
    const [isAsked, isLeft] = [service.isAsked(), service.isLeft()]
    const asked = sandbox.call('/v1/pets', { ...request, signal: leaving.signal })
    const left = expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    await isAsked
    leaving.abort()
    await Promise.all([left, isLeft])
  }

  it('aborts its request, and is logged as left without a response', async () => {
    const { service, sandbox } = await open()
    await leave(service, sandbox)
    expect(service.takenBack).toEqual(['GET /v1/pets'])
    expect(await ended(sandbox)).toMatchObject({ how: 'left', status: undefined, reason: 'upstream' })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ requests: 1, violations: [], warnings: [] })
    expect(service.came).toHaveLength(1)
    expect(sandbox.warnings).toEqual([])
  })

  it('leaves a warning that its write may have been carried out', async () => {
    const { service, sandbox } = await open({ upstreamWrites: 'forward' })
    await leave(service, sandbox, { method: 'POST', body: { name: 'Rex', categoryId: 1 } })
    expect((await ended(sandbox)).how).toBe('left')
    expect(sandbox.warnings).toEqual([
      'POST /v1/pets: the client disconnected before the real service responded. The service may have carried out the request.',
    ])
  })

  it('is sent its response after its space was removed, but not logged', async () => {
    const { service, sandbox } = await open()
    const isAsked = service.isAsked()
    const asked = sandbox.get('/pets', 'sandbox~gone')
    await isAsked
    expect((await sandbox.control('DELETE', '/spaces/gone')).status).toBe(200)
    // Another one of its name.
    await sandbox.control('PATCH', '/settings?space=gone', { plan: 'pro' })
    service.reply()
    expect((await asked).status).toBe(200)
    for (const space of ['', 'gone'])
      expect((await sandbox.control('GET', `/requests?space=${space}`)).json).toEqual([])
  })
})

describe('a connection that closes before the real service responds', () => {
  const open = async () => {
    const service = await patientService()
    const sandbox = await startSandbox({ upstream: service.baseUrl, upstreamApiKeyFile: keyFile() })
    onTestFinished(() => sandbox.close())
    return { service, sandbox }
  }
  const request = (path: string) =>
    `GET /v1${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sandbox\r\n\r\n`

  async function ask({ baseUrl }: Sandbox, text: string) {
    const socket = await openSocket(Number(new URL(baseUrl).port))
    onTestFinished(() => void socket.destroy())
    socket.write(text)
    return socket
  }

  it('counts as closed if the client has closed its half', async () => {
    const { service, sandbox } = await open()
    const [isAsked, isLeft] = [service.isAsked(), service.isLeft()]
    const socket = await ask(sandbox, request('/pets'))
    socket.end()
    await Promise.all([isAsked, isLeft, once(socket, 'close')])
    expect(socket.received).toBe('')
    while ((await sandbox.requests()).some(({ ended }) => ended === null)) await new Promise(setImmediate)
    expect(await sandbox.requests()).toMatchObject([{ status: null, ended: 'left' }])
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
    expect(await sandbox.requests()).toMatchObject(Array(3).fill({ status: null, ended: 'left' }))
  })
})
