import { EventEmitter, once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { bareReply, type EndedExchange, type PendingReply, type Reply } from '../../../src/domain/messages.js'
import type { Connection, Outgoing } from '../../../src/http/connection.js'
import { maxPlainHead, openLane } from '../../../src/http/fast-lane/lane.js'
import type { ListenerContext } from '../../../src/http/listener-context.js'
import type { SandboxOptions } from '../../../src/options/options.js'
import { systemClock } from '../../../src/system/system-clock.js'
import {
  KEYED,
  listenWith,
  openSocket,
  type RawSocket,
  startOnPort,
  statusesIn,
  turns,
} from '../../support/raw-http.js'

const PET = '{"name":"Rex","categoryId":1}'
const GET = `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`
const POST = postOf(PET)

function postOf(body: string): string {
  const length = Buffer.byteLength(body)
  return `POST /v1/pets HTTP/1.1\r\n${KEYED}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}

const start = (options: SandboxOptions = {}) => startOnPort({ now: '2026-03-01T10:00:00Z', freeze: true, ...options })

/** Waits for a number of responses. */
async function responses(socket: RawSocket, count: number): Promise<readonly number[]> {
  for (;;) {
    const statuses = statusesIn(socket.received)
    if (statuses.length >= count || socket.destroyed) return statuses
    await new Promise(setImmediate)
  }
}

/** Everything received for the pieces sent, some turns apart. */
async function responseTo(port: number, ...pieces: readonly string[]): Promise<string> {
  const socket = await openSocket(port)
  for (const piece of pieces) {
    socket.write(piece)
    await turns()
  }
  await responses(socket, 1)
  socket.end()
  await once(socket, 'close')
  return socket.received
}

const inPieces = (sent: string) => [sent.slice(0, 5), sent.slice(5)]
const ask = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate)
}

/** A lane with one open connection, whose socket is simulated. */
function openSimulated(service: () => PendingReply = () => REPLY, maxHead?: number) {
  const posted: Outgoing[] = []
  const passedOn: number[] = []
  const socket = Object.assign(new EventEmitter(), { isPaused: () => false, pause: () => {} })
  const context = {
    handlers: { service, isControl: () => false },
    order: { received: () => {}, requested: () => ({}), put: (outgoing: Outgoing) => posted.push(outgoing) },
    readByNode: () => socket.on('data', ({ length }: Buffer) => passedOn.push(length)),
  } as unknown as ListenerContext
  const connection = { socket, order: {}, refusals: [], awaited: 0 } as unknown as Connection
  openLane(context, connection, maxHead)
  return { connection, posted, passedOn, receive: (text: string) => socket.emit('data', Buffer.from(text)) }
}

const REPLY: Reply = { ...bareReply(200, []), exchange: { space: '', id: 1, position: 1 } }

describe('a plain request', () => {
  it.each([
    ['a pet', GET],
    ['a pet whose name is not ASCII', postOf('{"name":"小白 é","categoryId":1}')],
    ['a pet that is not there', GET.replace('/1', '/999')],
    ['a spent quota', GET.replace('sandbox', 'sandbox-limited')],
    ['an invalid body', postOf('{')],
    ['the bare address, opened by a browser', 'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n'],
    ['the control plane', 'GET /__sandbox/health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('gets the same bytes as by node:http: %s', async (_what, sent) => {
    const { port, core } = await start({ rateLimit: false })
    const whole = await responseTo(port, sent)
    await core.controlTarget.change(
      { kind: 'verb', space: '', verb: 'reset', input: {} },
      (spaces, _command, { now }) => spaces.reset(spaces.default, now),
    )
    const split = await responseTo(port, ...inPieces(sent))
    expect(whole).toMatch(/^HTTP\/1\.1 \d{3} .*\r\nConnection: keep-alive\r\nKeep-Alive: timeout=360\r\n/s)
    // The control plane has the Date of the machine.
    const withoutDate = (text: string) => text.replace(/\r\nDate: .*/, '')
    expect(withoutDate(whole)).toBe(withoutDate(split))
  })

  it('gets the same bytes if its reply is pending', async () => {
    // --strict checks each reply asynchronously.
    const { port } = await start({ rateLimit: false, strict: true })
    const whole = await responseTo(port, GET)
    const split = await responseTo(port, ...inPieces(GET))
    expect(whole).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: keep-alive\r\nKeep-Alive: timeout=360\r\n/s)
    expect(whole).toBe(split)
  })

  it('is executed once, even if node:http sends the response', async () => {
    const { port, core } = await start({ latency: '1ms' })
    const socket = await openSocket(port)
    const size = core.spaces.default.state.records.get('pets')?.size ?? 0
    socket.write(POST)
    expect(await responses(socket, 1)).toEqual([201])
    socket.write(GET)
    expect(await responses(socket, 2)).toEqual([201, 200])
    expect([core.spaces.default.state.records.get('pets')?.size, core.spaces.default.log.total]).toEqual([size + 1, 2])
    socket.destroy()
  })

  it('may be followed by any other request on the connection', async () => {
    const { port, core } = await start()
    const socket = await openSocket(port)
    const sent = [GET, POST, GET.replace('GET', 'HEAD'), GET, `${GET}${GET}`, GET]
    let asked = 0
    for (const bytes of sent) {
      socket.write(bytes)
      asked += bytes.split('HTTP/1.1').length - 1
      expect(await responses(socket, asked)).toHaveLength(asked)
    }
    expect(core.spaces.default.log.total).toBe(asked)
    socket.destroy()
  })
})

/** Responds with the target, or a long body. */
async function serving() {
  const served: string[] = []
  const ended: EndedExchange[] = []
  const reply = (body: string): Reply => ({
    ...bareReply(200, ['Content-Length', String(body.length)]),
    body,
    exchange: { space: '', id: served.length, position: served.length },
  })
  const { listener } = await listenWith({
    service({ target, connection }) {
      served.push(`${target} ${connection}`)
      return reply(target.startsWith('/long') ? 'a'.repeat(60_000) : target)
    },
    ended(exchanges) {
      ended.push(...exchanges)
      return 0
    },
    refuse: () => ({ ...reply('{}'), status: 400 }),
  })
  return { listener, served, ended }
}

/** Responds when `reply` is called. */
async function awaiting() {
  const replies: (() => void)[] = []
  const served: string[] = []
  const ended: EndedExchange[] = []
  let answered = 0
  const { listener } = await listenWith({
    service({ target, connection }) {
      served.push(`${target} ${connection}`)
      // The lane does not send headers that control the connection.
      const extra = target.startsWith('/odd') ? ['Connection', 'keep-alive'] : []
      if (target.startsWith('/fail')) return Promise.reject(new Error('on purpose'))
      const reply = {
        ...bareReply(200, ['Content-Length', String(target.length), ...extra]),
        body: target,
        exchange: { space: '', id: served.length, position: served.length },
      }
      return new Promise((resolve) => {
        replies.push(() => {
          answered++
          resolve(reply)
        })
      })
    },
    ended(exchanges) {
      ended.push(...exchanges)
      return 0
    },
  })
  return { listener, reply: () => replies[answered]?.(), served, ended }
}

describe('while a reply is pending', () => {
  it('a half-closed client gets it, and the end of the connection', async () => {
    const { listener, reply, served, ended } = await awaiting()
    const socket = await openSocket(listener.port)
    socket.end(ask('/a'))
    await until(() => served.length === 1)
    await turns()
    reply()
    await once(socket, 'close')
    expect(socket.received).toMatch(/^HTTP\/1\.1 200 .*\/a$/s)
    expect(ended.map(({ how }) => how)).toEqual(['sent'])
  })

  it.each(['/a', '/odd'])('a client that leaves is reported as "left": %s', async (target) => {
    const { listener, reply, served, ended } = await awaiting()
    const socket = await openSocket(listener.port)
    socket.write(ask(target))
    await until(() => served.length === 1)
    socket.resetAndDestroy()
    await turns()
    reply()
    await until(() => ended.length > 0)
    expect(ended.map(({ how }) => how)).toEqual(['left'])
  })

  it('a stop waits for it, and it announces that the connection closes', async () => {
    const { listener, reply, served } = await awaiting()
    const socket = await openSocket(listener.port)
    const idle = await openSocket(listener.port)
    socket.write(ask('/a'))
    await until(() => served.length === 1)
    const stopped = listener.stop('clean')
    await turns()
    reply()
    await stopped
    expect(await responses(socket, 1)).toEqual([200])
    expect(socket.received).toMatch(/^HTTP\/1\.1 200 .*Connection: close\r\n\r\n\/a$/s)
    expect(idle.received).toBe('')
  })
})

it('a response is reported as sent only when the client has received it', async () => {
  const { listener, served, ended } = await serving()
  const socket = await openSocket(listener.port)
  socket.pause()
  // Fills the buffers of both sides.
  while (ended.length === served.length) {
    const { length } = served
    socket.write(ask(`/long/${length}`))
    await until(() => served.length > length)
    await turns()
  }
  socket.resume()
  await until(() => ended.length === served.length)
  expect(new Set(ended.map(({ how }) => how))).toEqual(new Set(['sent']))
  socket.write(ask('/b'))
  await until(() => socket.received.endsWith('/b'))
  socket.destroy()
})

describe('a pending reply', () => {
  it.each(['/a', '/odd'])('it is sent when it is ready, and the connection stays open: %s', async (target) => {
    const { listener, reply, served, ended } = await awaiting()
    const socket = await openSocket(listener.port)
    for (let count = 1; count <= 3; count++) {
      socket.write(ask(target))
      await until(() => served.length >= count)
      const before = systemClock.monotonic()
      await new Promise(setImmediate)
      const waited = systemClock.monotonic() - before
      reply()
      expect(await responses(socket, count)).toHaveLength(count)
      expect(ended.map(({ id, how }) => `${id} ${how}`).at(-1)).toBe(`${count} sent`)
      // Measured from the arrival of the request.
      expect(ended.at(-1)?.durationMs).toBeGreaterThanOrEqual(waited)
    }
    expect(served).toEqual([`${target} 1`, `${target} 1`, `${target} 1`])
    socket.destroy()
  })

  it('further requests on the connection wait for it, and are served in order', async () => {
    const { listener, reply, served } = await awaiting()
    const socket = await openSocket(listener.port)
    socket.write(ask('/a'))
    await until(() => served.length >= 1)
    socket.write(ask('/b') + ask('/c'))
    await turns()
    expect(served).toEqual(['/a 1'])
    reply()
    await until(() => served.length >= 3)
    expect(served).toEqual(['/a 1', '/b 0', '/c 0'])
    for (let count = 2; count <= 3; count++) reply()
    expect(await responses(socket, 3)).toEqual([200, 200, 200])
    expect(socket.received.match(/\/[abc](?=HTTP|$)/g)).toEqual(['/a', '/b', '/c'])
    socket.destroy()
  })

  it('a rejection becomes a 500', async () => {
    const { listener } = await awaiting()
    const socket = await openSocket(listener.port)
    socket.write(ask('/fail'))
    expect(await responses(socket, 1)).toEqual([500])
    socket.destroy()
  })

  it('it is sent without node:http, which reads what came after the request', async () => {
    let resolveReply = (_reply: Reply) => {}
    const { posted, passedOn, receive } = openSimulated(
      () =>
        new Promise((resolve) => {
          resolveReply = resolve
        }),
    )
    receive(GET)
    receive('GET')
    resolveReply(REPLY)
    await new Promise(setImmediate)
    expect([posted.length, passedOn]).toEqual([1, []])
    posted[0]?.reported?.()
    expect(passedOn).toEqual([3])
  })
})

describe('a special HTTP parser configuration', () => {
  it('disables the lane if Node accepts fewer bytes', () => {
    const { posted, passedOn, receive } = openSimulated(undefined, GET.indexOf('\r\n\r\n'))
    receive(GET)
    expect([posted, passedOn]).toEqual([[], [GET.length]])
  })

  it.each([
    ['--insecure-http-parser', 0],
    ['--no-warnings --insecure_http_parser', 0],
    ['--no-insecure-http-parser', 4096],
  ])('limits the heads that the lane reads: %s', (args, max) => expect(maxPlainHead([args], 4096)).toBe(max))
})

describe('a request after which Node destroys the socket', () => {
  it.each(['PRI /\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'])(
    'does not affect the response before: %j',
    async (pri) => {
      const { port, core } = await start()
      const size = core.spaces.default.state.records.get('pets')?.size ?? 0
      const socket = await openSocket(port)
      socket.write(POST + pri)
      expect(await responses(socket, 2)).toEqual([201, 400])
      expect(core.spaces.default.state.records.get('pets')?.size).toBe(size + 1)
      expect(core.spaces.default.log.total).toBe(2)
      socket.destroy()
    },
  )
})

describe('an idle connection', () => {
  it('is cut a minute after it was opened, and later than client pools after its last response', () => {
    const { connection, posted, receive } = openSimulated()
    const openedAt = systemClock.monotonic()
    const isIdle = (now: number) => connection.reader?.isIdle(now)
    expect([isIdle(openedAt + 59_900), isIdle(openedAt + 60_010)]).toEqual([false, true])
    receive(GET)
    expect(isIdle(Number.MAX_SAFE_INTEGER)).toBe(false)
    posted[0]?.reported?.()
    const usedAt = systemClock.monotonic()
    expect([isIdle(usedAt + 359_900), isIdle(usedAt + 360_010)]).toEqual([false, true])
  })
})
