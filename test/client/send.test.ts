import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type SendOptions, send } from '../../src/client/send.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { hostileServer, sendEndlessly } from './hostile-server.js'

const MIB = 1024 * 1024
const machine = { sleep: async () => {}, now: () => 0, random: () => 0 }

function sent(url: string, given: Partial<SendOptions> = {}) {
  const limits = { retries: 0, maxWait: 0, unsafe: false, timeout: STEP_PATIENCE_MS, maxBody: MIB, env: {} }
  const options: SendOptions = { ...limits, signal: new AbortController().signal, onWait: () => {}, ...given }
  return send({ method: 'GET', url, headers: [], body: undefined }, options, machine)
}

/** Collects garbage again and again while the test runs. */
function collectAlways(): void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const timer = setInterval(collect, 5)
  onTestFinished(() => clearInterval(timer))
}

describe('the time that an attempt may take', () => {
  it('covers the body, whatever the garbage collector frees', async () => {
    collectAlways()
    const url = await hostileServer((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun'))
    await expect(sent(url, { timeout: 300 })).rejects.toMatchObject({ failure: 'TIMEOUT' })
  })

  it('is not extended by each byte', async () => {
    const url = await hostileServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')
      const drip = setInterval(() => socket.write('x'), 20)
      socket.once('close', () => clearInterval(drip))
    })
    await expect(sent(url, { timeout: 200 })).rejects.toMatchObject({ failure: 'TIMEOUT' })
  })

  it('ends at once when the caller aborts, also in the body', async () => {
    const abort = new AbortController()
    const url = await hostileServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun', () => abort.abort(new Error('enough')))
    })
    await expect(sent(url, { signal: abort.signal })).rejects.toThrow('enough')
  })
})

describe('a response', () => {
  it.each<[what: string, act: Parameters<typeof hostileServer>[0]]>([
    ['unlimited', (socket) => sendEndlessly(socket, 'HTTP/1.1 200 OK', Buffer.alloc(65_536))],
    ['that says that it is too large', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n')],
  ])('%s is not read beyond the limit', async (_what, act) => {
    const message = expect.stringContaining('larger than 1MiB')
    await expect(sent(await hostileServer(act))).rejects.toMatchObject({ failure: 'TOO_LARGE', message })
  })

  const packed = (encoding: string, body: Buffer) => (socket: Socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`)
    socket.end(body)
  }

  it.each([
    ['gzip', gzipSync('[1]')],
    ['BR', brotliCompressSync('[1]')],
    ['identity', Buffer.from('[1]')],
  ])('that is compressed is decompressed: %s', async (encoding, body) => {
    const url = await hostileServer(packed(encoding, body))
    expect(String((await sent(url)).response.body)).toBe('[1]')
  })

  it.each([
    ['gzip', Buffer.from('no gzip'), 'UNDECODABLE', 'the response is not valid gzip'],
    ['zstd', Buffer.from('[1]'), 'UNDECODABLE', 'the response is encoded with "zstd"'],
    ['gzip', gzipSync(Buffer.alloc(MIB + 1)), 'TOO_LARGE', 'the response is larger than 1MiB'],
  ])('that cannot be decompressed is refused: %s', async (encoding, body, failure, message) => {
    const url = await hostileServer(packed(encoding, body))
    const refused = { failure, message: expect.stringContaining(message) }
    await expect(sent(url)).rejects.toMatchObject(refused)
  })

  it.each([
    'HTTP/1.1 000 Weird\r\nContent-Length: 2\r\n\r\n{}',
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab',
    '220 mail ready\r\n',
    '',
  ])('that is not valid HTTP is refused: %j', async (reply) => {
    const url = await hostileServer((socket) => socket.end(Buffer.from(reply, 'latin1')))
    await expect(sent(url)).rejects.toMatchObject({ name: 'NoResponseError' })
  })

  it('with a hundred interim responses is read', async () => {
    const reply = `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]`
    const url = await hostileServer((socket) => socket.end(reply))
    expect(String((await sent(url)).response.body)).toBe('[]')
  })

  it('with endless headers is refused', async () => {
    const url = await hostileServer((socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`))
    await expect(sent(url)).rejects.toMatchObject({ failure: 'UND_ERR_HEADERS_OVERFLOW' })
  })
})

it.each([
  ['HTTP_PROXY', 'not a proxy', 'http://api.invalid/v1'],
  ['https_proxy', 'ftp://u:secret@proxy.invalid', 'https://api.invalid/v1'],
  ['http_proxy', 'http://', 'https://api.invalid/v1'],
])('the proxies of the environment are named if they are invalid: %s=%s', async (name, value, url) => {
  const refused = await sent(url, { env: { [name]: value } }).catch((error) => error)
  expect(refused).toMatchObject({
    code: 'INVALID_TARGET',
    message: expect.stringMatching(`^${name} ".*must be the address of a proxy`),
  })
  expect(refused.message).not.toContain('secret')
})
