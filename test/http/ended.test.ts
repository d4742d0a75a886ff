import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { viewFindings } from '../../src/conduct/finding-views.js'
import type { EndedExchange, ExchangeRef, Reply, ServiceRequest } from '../../src/domain/messages.js'
import { createFetch } from '../../src/http/fetch-adapter.js'
import { listen } from '../../src/http/listener.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { openSandboxCore } from '../../src/start/compose.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { turns } from '../support/raw-http.js'

async function start(options: SandboxOptions = {}, bodyOf: (reply: Reply) => Reply = (reply) => reply) {
  const core = await openSandboxCore(embeddedOptions(options), {})
  const begun: number[] = []
  const connections: number[] = []
  const ended: EndedExchange[] = []
  const unread: ExchangeRef[] = []
  const handlers = {
    ...core,
    service(request: ServiceRequest) {
      const reply = core.service(request)
      if (reply instanceof Promise) throw new Error('unexpected promise')
      connections.push(request.connection)
      if (reply.exchange !== undefined) begun.push(reply.exchange.position)
      return bodyOf(reply)
    },
    ended(exchanges: readonly EndedExchange[], lost: readonly ExchangeRef[] = []) {
      ended.push(...exchanges)
      unread.push(...lost)
      return core.ended(exchanges, lost)
    },
    refuse: () => ({ ...core.refuse('bad_request', 'x'), exchange: undefined }),
    isControl: () => false,
    control: () => {},
    warn: () => {},
  }
  const listener = await listen('127.0.0.1', 0, handlers)
  const stopping = new AbortController()
  onTestFinished(async () => {
    stopping.abort()
    await listener.stop('now')
    await core.close()
  })
  return {
    core,
    begun,
    connections,
    ended,
    unread,
    stopping,
    listener,
    fetch: createFetch(handlers, stopping.signal),
    hows: () => ended.map(({ how }) => how),
    /** Each exchange has ended exactly once. */
    expectAllEnded() {
      expect(ended.map(({ position }) => position).sort((a, b) => a - b)).toEqual(begun)
      expect(core.spaces.default.log.save().unkept).toEqual([])
      for (const { durationMs } of ended) expect(durationMs).toBeGreaterThanOrEqual(0)
    },
  }
}

const KEYED = 'Host: a\r\nAuthorization: Bearer sandbox\r\n'
const ask = (path: string, more = '', first = 'GET') => `${first} /v1${path} HTTP/1.1\r\n${KEYED}${more}\r\n`
const MISSING = ask('/pets/4711')

async function opened(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

function reading(socket: Socket): () => string {
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk
  })
  return () => got
}

const come = (holds: () => boolean) =>
  vi.waitFor(() => expect(holds()).toBe(true), { timeout: STEP_PATIENCE_MS, interval: 1 })

describe('the end of an exchange on a socket', () => {
  it.each([
    ['a GET', ask('/pets')],
    ['HTTP/1.0', `GET /v1/pets HTTP/1.0\r\n${KEYED}\r\n`],
    ['Connection: close', ask('/pets', 'Connection: close\r\n')],
  ])('is reported once, as "sent": %s', async (_what, bytes) => {
    const { listener, ended, hows, expectAllEnded } = await start()
    const socket = await opened(listener.port)
    const got = reading(socket)
    socket.write(bytes)
    await come(() => ended.length > 0 && got() !== '')
    socket.destroy()
    await come(() => ended.length > 0)
    expect(hows()).toEqual(['sent'])
    expectAllEnded()
  })

  it.each(['connection-reset', 'malformed-chunk'])('is "cut" after %s', async (fault) => {
    const { listener, hows, expectAllEnded } = await start({ fault: `listPets:${fault}` })
    const socket = await opened(listener.port)
    socket.resume()
    socket.write(ask('/pets'))
    socket.once('end', () => socket.end())
    await come(() => hows().length === 1)
    expect(hows()).toEqual(['cut'])
    expectAllEnded()
  })

  it.each([
    ['is delayed', { latency: '1h' }],
    ['hangs', { fault: 'listPets:hang' }],
    ['is slow', { fault: 'listPets:slow-body' }],
  ])('is "left" if the client leaves, and "cut" if the sandbox stops, while a response %s', async (_what, options) => {
    for (const how of ['left', 'cut'] as const) {
      const { listener, begun, ended, expectAllEnded } = await start(options)
      const socket = await opened(listener.port)
      socket.resume()
      socket.write(ask('/pets'))
      await come(() => begun.length === 1)
      await turns(5)
      expect(ended).toEqual([])
      if (how === 'cut') await listener.stop('now')
      // A half-closed client may still wait.
      else socket.resetAndDestroy()
      await come(() => ended.length > 0)
      const isUnanswered = how === 'left' && 'latency' in options
      expect(ended).toMatchObject([{ how, ...(isUnanswered && { isUnanswered, bodyMs: 0 }) }])
      expectAllEnded()
    }
  })

  it('is not reported before the client has received the response', async () => {
    const body = 'x'.repeat(30_000_000)
    const { listener, begun, ended, hows, expectAllEnded } = await start({}, (reply) => ({
      ...reply,
      binary: undefined,
      headers: ['Content-Length', String(body.length)],
      body,
    }))
    const socket = await opened(listener.port)
    socket.pause()
    socket.write(ask('/pets'))
    await come(() => begun.length === 1)
    await turns(50)
    expect(ended).toEqual([])
    socket.resume()
    await come(() => ended.length === 1)
    expect(hows()).toEqual(['sent'])
    socket.destroy()
    expectAllEnded()
  })

  it('is reported for each of many requests on one connection', async () => {
    const { listener, ended, connections, hows, expectAllEnded } = await start({ latency: '0ms..5ms' })
    const socket = await opened(listener.port)
    socket.resume()
    socket.write(ask('/pets').repeat(5))
    await come(() => ended.length === 5)
    expect(hows()).toEqual(Array(5).fill('sent'))
    expectAllEnded()
    // After pipelining, requests do not prove that responses were read.
    socket.write(ask('/pets'))
    await come(() => ended.length === 6)
    expect(connections).toEqual([1, 0, 0, 0, 0, 0])
  })
})

describe('a response that was sent', () => {
  it('counts as read if the client closes the connection properly', async () => {
    const { listener, core, unread } = await start()
    const socket = await opened(listener.port)
    const got = reading(socket)
    socket.write(MISSING)
    await come(() => got().includes('404'))
    await turns(5)
    socket.destroy()
    await come(() => core.spaces.default.log.total === 1)
    await turns(20)
    expect(unread).toEqual([])
  })

  it('counts as unread if the client resets the connection', async () => {
    const { listener, ended, unread } = await start({ storm: '1' })
    const socket = await opened(listener.port)
    socket.pause()
    socket.write(ask('/pets'))
    await come(() => ended.length === 1)
    await turns(5)
    socket.resetAndDestroy()
    await come(() => unread.length === 1)
    expect(unread).toMatchObject([{ position: ended[0]?.position }])
  })

  it.each([
    ['at once', {}, ''],
    ['at once, and the sandbox too', {}, 'Connection: close\r\n'],
    ['while it is delayed', { latency: '20ms' }, ''],
  ])(
    'begins no wait if its client has closed the connection before it could read it: %s',
    async (_what, options, more) => {
      const { listener, core, ended, hows, unread } = await start({ storm: '1', ...options })
      for (let i = 1; i <= 5; i++) {
        const socket = await opened(listener.port)
        socket.write(ask('/pets', more), () => socket.destroy())
        await come(() => ended.length === i && unread.length + hows().filter((how) => how === 'left').length === i)
      }
      expect(core.spaces.default.conduct.findings.groups).toEqual([])
    },
  )

  it('starts a wait if the client has closed only its half', async () => {
    const { listener, core, unread } = await start({ storm: '1' })
    for (let i = 1; i <= 3; i++) {
      const socket = await opened(listener.port)
      const got = reading(socket)
      socket.end(ask('/pets'))
      await come(() => got().includes('429'))
      socket.destroy()
    }
    expect(unread).toEqual([])
    expect(viewFindings(core.spaces.default.conduct.findings, ['early-retry'])).toMatchObject([{ count: 2 }])
  })
})

describe('the end of an exchange in process', () => {
  const service = (signal?: AbortSignal, path = '/pets') =>
    new Request(`http://sandbox/v1${path}`, {
      headers: { authorization: 'Bearer sandbox' },
      ...(signal === undefined ? {} : { signal }),
    })

  it.each([
    [{}, ['sent']],
    [{ latency: '1h' }, ['left']],
    [{ fault: 'listPets:hang' }, ['left']],
    [{ fault: 'listPets:slow-body' }, ['left']],
    [{ fault: 'listPets:connection-reset' }, ['cut']],
    [{ fault: 'listPets:empty-response' }, ['cut']],
    [{ fault: 'listPets:malformed-chunk' }, ['cut']],
  ])('is reported once, even if the caller gives up and the sandbox stops after: %j', async (options, hows) => {
    const { fetch, stopping, begun, hows: told, expectAllEnded } = await start(options)
    const leaving = new AbortController()
    const response = fetch(service(leaving.signal)).catch(() => undefined)
    await come(() => begun.length === 1)
    await turns(5)
    leaving.abort()
    await (await response)?.text().catch(() => '')
    stopping.abort()
    await turns(5)
    expect(told()).toEqual(hows)
    expectAllEnded()
  })

  it('is reported when the client stops reading a slow body', async () => {
    const { fetch, hows, expectAllEnded } = await start({ fault: 'listPets:slow-body' })
    const { body } = await fetch(service())
    await body?.cancel()
    await come(() => hows().length === 1)
    expect(hows()).toEqual(['left'])
    expectAllEnded()
  })
})
