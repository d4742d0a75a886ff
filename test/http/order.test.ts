import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { bareReply, type PendingReply, type Reply } from '../../src/domain/messages.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { exchange, KEYED, listenWith, openSocket, startOnPort, statusesIn, turns } from '../support/raw-http.js'

const PET = '{"name":"Rex","categoryId":1}'
const GET = `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`
const POST = `POST /v1/pets HTTP/1.1\r\n${KEYED}Content-Type: application/json\r\nContent-Length: ${PET.length}\r\n\r\n${PET}`

/** Responses are delayed, so that anything that does not wait for them overtakes them. */
async function start(options: SandboxOptions = {}) {
  const sandbox = await startOnPort({ latency: '20ms', ...options })
  const serves = async () =>
    (await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).ok
  return { ...sandbox, serves }
}

const REFUSED: readonly (readonly [what: string, sent: string, statuses: readonly number[]])[] = [
  ['a bad header', `GET /v1/pets HTTP/1.1\r\n${KEYED}bad header\r\n\r\n`, [400]],
  ['a head that is too large', `GET /v1/pets HTTP/1.1\r\n${KEYED}X-Big: ${'a'.repeat(20_000)}\r\n\r\n`, [431]],
  ['a missing Host', 'GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer sandbox\r\n\r\n', [400]],
  ['a CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${KEYED}\r\n`, [400]],
  [
    'a body that breaks off',
    `POST /v1/pets HTTP/1.1\r\n${KEYED}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    [400],
  ],
  [
    'a body of the control plane that breaks off',
    `PUT /__sandbox/clock HTTP/1.1\r\n${KEYED}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    [400],
  ],
  [
    'a body that breaks off after its refusal',
    `POST /v1/pets HTTP/1.1\r\n${KEYED}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n${'a'.repeat(0x100001)}\r\nzz\r\n`,
    [413],
  ],
]

describe('bytes that are not a request', () => {
  it.each(REFUSED)('are refused once, after the responses to earlier requests: %s', async (_what, sent, statuses) => {
    const { core, port, serves, warnings } = await start()
    const before = core.spaces.default.state.records.get('pets')?.size ?? 0
    expect(statusesIn(await exchange(port, POST + GET + sent))).toEqual([201, 200, ...statuses])
    expect(core.spaces.default.state.records.get('pets')?.size).toBe(before + 1)
    expect(statusesIn(await exchange(port, POST, GET, sent))).toEqual([201, 200, ...statuses])
    const socket = await openSocket(port)
    const closed = once(socket, 'close')
    for (const piece of [POST, sent, 'zz\r\n', POST]) {
      await new Promise<void>((resolve) => socket.write(piece, () => resolve()))
      await turns()
    }
    socket.end()
    await closed
    expect(statusesIn(socket.received)).toEqual([201, ...statuses])
    expect(await serves()).toBe(true)
    expect(warnings).toEqual([])
  })

  const NO_HOST = 'GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer sandbox\r\n\r\n'
  const LAST = `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}Connection: close\r\n\r\n`
  const BROKEN = `POST /v1/pets HTTP/1.1\r\n${KEYED}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const CHUNKED = `${BROKEN}${PET.length.toString(16)}\r\n${PET}\r\n0\r\n\r\n`
  it.each([
    ['the second of two bodies', [CHUNKED + CHUNKED + BROKEN, 'zz\r\n'], [201, 201, 400]],
    ['after a last response', [`${POST}${LAST}hello\r\n\r\n`], [201, 200]],
    ['before other requests', [`${NO_HOST}${POST}`, 'hello\r\n\r\n'], [400]],
    ['before requests that come later', ['hello\r\n\r\n', POST, POST], [400]],
    ['after the control plane', [`GET /__sandbox/resources/pets HTTP/1.1\r\n${KEYED}\r\nhello\r\n\r\n`], [200, 400]],
  ])('end the connection: %s', async (_what, pieces, statuses) => {
    const { core, port } = await start()
    const before = core.spaces.default.state.records.get('pets')?.size ?? 0
    expect(statusesIn(await exchange(port, ...pieces))).toEqual(statuses)
    const created = statuses.filter((status) => status === 201).length
    expect(core.spaces.default.state.records.get('pets')?.size).toBe(before + created)
  })

  it('are refused on a half-closed connection', async () => {
    const { port } = await start()
    const socket = await openSocket(port)
    socket.end(`${POST}${GET}hello\r\n\r\n`)
    await once(socket, 'close')
    expect(statusesIn(socket.received)).toEqual([201, 200, 400])
  })
})

describe('faults on the wire', () => {
  it.each([
    ['malformed-chunk', [201, 200]],
    ['empty-response', [201]],
    ['connection-reset', [201]],
  ])('wait for the responses to earlier requests: %s', async (fault, statuses) => {
    const { port } = await start({ fault: `getPet:${fault}`, latency: '1ms..30ms', seed: 7 })
    // Only the first response is delayed.
    for (let i = 0; i < 10; i++) expect(statusesIn(await exchange(port, POST + GET))).toEqual(statuses)
  })
})

describe('a socket that Node detaches', () => {
  it.each([
    ['a CONNECT after a request', `${GET}CONNECT x:1 HTTP/1.1\r\n${KEYED}\r\n`],
    ['a CONNECT with bytes behind it', `${GET}${POST}CONNECT x:1 HTTP/1.1\r\n${KEYED}\r\nhello${GET}`],
    ['an upgrade', `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello`],
  ])('may be reset immediately: %s', async (_what, sent) => {
    const { port, serves, warnings } = await start({ latency: '5ms' })
    for (let i = 0; i < 20; i++) {
      const socket = await openSocket(port)
      await new Promise<void>((resolve) => socket.write(sent, () => resolve()))
      if (i % 2 === 0) await new Promise(setImmediate)
      socket.resetAndDestroy()
    }
    expect(await serves()).toBe(true)
    expect(warnings).toEqual([])
  })
})

describe('a reply that cannot be sent', () => {
  const good = (): Reply => ({
    ...bareReply(200, ['Content-Length', '2', 'X-RateLimit-Limit', '60', 'Date', 'Thu, 01 Jan 1970 00:00:00 GMT']),
    body: 'ok',
  })
  const BAD: readonly (readonly [what: string, change: Partial<Reply>])[] = [
    ['a value with a line feed', { headers: [...good().headers, 'X-Mock', 'a\nb'] }],
    ['a value beyond Latin-1', { headers: [...good().headers, 'Content-Type', 'text/✓'] }],
    ['an invalid name', { headers: [...good().headers, 'X Mock', 'a'] }],
    ['a status of 1000', { status: 1000 }],
    ['a status of 99', { status: 99 }],
    ['a coding, then an invalid value', { headers: ['Transfer-Encoding', 'chunked', 'X-Mock', '✓'] }],
  ]

  const serving = (service: (target: string) => PendingReply) =>
    listenWith({ service: ({ target }) => service(target), refuse: () => ({ ...good(), status: 500, body: '{}' }) })
  const bare = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

  it.each(BAD)('becomes a 500 in the Error shape, and does not affect others: %s', async (_what, change) => {
    const { port, warnings } = await serving((target) => (target === '/bad' ? { ...good(), ...change } : good()))
    const got = await exchange(port, bare('/good') + bare('/bad') + bare('/good', 'Connection: close\r\n'))
    expect(statusesIn(got)).toEqual([200, 500, 200])
    expect(got).toMatch(/500 .*\{"code":"internal_error","message":"[^"]+","status":500\}HTTP/s)
    if (change.headers?.includes('Date')) expect(got.match(/X-RateLimit-Limit: 60/g)).toHaveLength(3)
    expect(warnings).toEqual([expect.stringMatching(/^The response \d+ to GET \/bad could not be sent: /)])
  })

  it('only ends the connection if the service throws', async () => {
    const { port, warnings } = await serving((target) => {
      if (target === '/throws') throw new Error('broken')
      return target === '/rejects' ? Promise.reject(new Error('broken')) : good()
    })
    expect(statusesIn(await exchange(port, bare('/good') + bare('/throws')))).toEqual([200, 500])
    expect(statusesIn(await exchange(port, bare('/good') + bare('/rejects')))).toEqual([200, 500])
    expect(warnings).toHaveLength(2)
  })
})
