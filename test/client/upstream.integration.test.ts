import { execFile } from 'node:child_process'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { certify } from '../support/certify.js'
import { listenLocally } from '../support/listen-locally.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { driftingService } from './drifting-service.js'
import { hostileServer, sendEndlessly } from './hostile-server.js'

const REAL_KEY = 'a-real-key-of-staging'

async function inFrontOf(upstream: string, options: SandboxOptions = {}): Promise<Sandbox> {
  const upstreamApiKeyFile = temporaryFile('key', `${REAL_KEY}\n`)
  const sandbox = await startSandbox({ upstream, upstreamApiKeyFile, ...options })
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function ask(sandbox: Sandbox, path = '/pets') {
  const headers = { Authorization: 'Bearer sandbox' }
  const response = await fetch(`${sandbox.baseUrl}${path}`, { headers, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json'
const end = (text: string) => (socket: Socket) => void socket.end(text)
const encoded = (encoding: string) => end(`${OK}\r\nContent-Encoding: ${encoding}\r\nContent-Length: 2\r\n\r\n[]`)
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))

type Act = (socket: Socket) => void

/** What a hostile service does, by the problem that the sandbox reports, with a part of its message. */
const HOSTILE: Readonly<Record<string, readonly (readonly [what: string, act: Act, message: RegExp])[]>> = {
  upstream_unreachable: [
    ['a reset', (socket) => void socket.resetAndDestroy(), /connection was dropped/],
    ['a body that breaks off', end(`${OK}\r\nContent-Length: 100\r\n\r\n[`), /dropped/],
  ],
  upstream_timeout: [
    ['a response that never comes', () => {}, /took longer than 400ms .*--upstream-timeout/],
    [
      'a body that never ends',
      (socket) => void socket.write(`${OK}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n`),
      /longer than 400ms/,
    ],
  ],
  upstream_invalid: [
    ['an endless body', (socket) => sendEndlessly(socket, OK, Buffer.alloc(65_536, 'a')), /larger than 16MiB/],
    [
      'a gzip bomb',
      (socket) => {
        socket.write(`${OK}\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
        socket.write(bomb)
      },
      /larger than 16MiB/,
    ],
    ['no gzip', encoded('gzip'), /is not valid gzip/],
    ['another encoding', encoded('zstd'), /is encoded with "zstd"/],
    ['no HTTP', end('SSH-2.0-OpenSSH_9.6\r\n'), /not valid HTTP/],
    ['a status of nothing', end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'), /./],
  ],
}
const CASES = Object.entries(HOSTILE).flatMap(([code, all]) => all.map((one) => [...one, code] as const))

describe('a real service that is hostile, or in trouble', () => {
  it.each(CASES)('%s', async (_what, act, message, code) => {
    const status = code === 'upstream_timeout' ? 504 : 502
    const upstream = await hostileServer(act)
    const sandbox = await inFrontOf(`${upstream}/v1`, { upstreamTimeout: status === 504 ? '400ms' : '1m' })
    const reply = await ask(sandbox)
    const body = { code, message: expect.stringMatching(message), status }
    expect({ status: reply.status, body: JSON.parse(reply.text) }).toEqual({ status, body })
    expect(reply.headers.get('x-sandbox-reason')).toBe('upstream')
    expect(reply.headers.get('x-ratelimit-limit')).toBe('60')
    expect(reply.text).not.toContain(REAL_KEY)
    // And it serves on.
    expect((await fetch(`${sandbox.controlUrl}/health`)).status).toBe(200)
  })

  const MAYBE = / The POST may have been carried out all the same\.$/
  it.each([
    ['dropped', (socket: Socket) => void socket.resetAndDestroy(), 502, MAYBE],
    ['not answered in time', () => {}, 504, MAYBE],
    ['not sent', undefined, 502, /connection refused \(ECONNREFUSED\)\.$/],
  ] as const)('reports whether a write that is %s may have been carried out', async (_what, act, status, message) => {
    const upstream = act === undefined ? 'http://127.0.0.1:9' : await hostileServer(act)
    const sandbox = await inFrontOf(`${upstream}/v1`, { upstreamWrites: 'forward', upstreamTimeout: '400ms' })
    const response = await fetch(`${sandbox.baseUrl}/pets`, {
      method: 'POST',
      headers: { Authorization: 'Bearer sandbox', 'Content-Type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    })
    expect(await response.json()).toMatchObject({ status, message: expect.stringMatching(message) })
  })

  it('a compressed response is passed on decompressed', async () => {
    const body = '[{"id":9007199254740993,"name":"Žofka","categoryId":1}]'
    const packed = gzipSync(body)
    const upstream = await hostileServer((socket) => {
      socket.write(`${OK}\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`)
      socket.write(packed)
    })
    const { headers, text } = await ask(await inFrontOf(`${upstream}/v1`))
    expect(text).toBe(body)
    expect(headers.has('content-encoding')).toBe(false)
  })

  const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'
  it.each([
    ['103', HINTS.repeat(100), '\r\nContent-Length: 2\r\n\r\n[]'],
    ['trailers', '', '\r\nTransfer-Encoding: chunked\r\n\r\n2;a="b"\r\n[]\r\n0\r\nX-RateLimit-Limit: 5\r\n\r\n'],
    ['no length', '', '\r\n\r\n[]'],
  ])('a response with %s is passed on', async (_what, before, rest) => {
    const upstream = await hostileServer(end(`${before}${OK}${rest}`))
    const { status, text, headers } = await ask(await inFrontOf(`${upstream}/v1`))
    expect({ status, text, link: headers.get('link') }).toEqual({ status: 200, text: '[]', link: null })
  })

  it('deeply nested JSON is passed on quickly', async () => {
    const body = '['.repeat(100_000) + ']'.repeat(100_000)
    const upstream = await hostileServer(end(`${OK}\r\nContent-Length: ${body.length}\r\n\r\n${body}`))
    const sandbox = await inFrontOf(`${upstream}/v1`)
    const { status, text } = await ask(sandbox)
    expect({ status, isWhole: text === body }).toEqual({ status: 200, isWhole: true })
  })

  it('an HTML error is passed on', async () => {
    const page = '<h1>Bad gateway</h1>'
    const upstream = await hostileServer(
      end(`HTTP/1.1 503 Down\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`),
    )
    const sandbox = await inFrontOf(`${upstream}/v1`)
    const { status, headers, text } = await ask(sandbox)
    expect({ status, type: headers.get('content-type'), text }).toEqual({ status: 503, type: 'text/html', text: page })
  })

  it('a redirect is not followed, so that no key leaks', async () => {
    const heard: string[] = []
    const elsewhere = await hostileServer((socket, asked) => {
      heard.push(asked)
      socket.end(`${OK}\r\nContent-Length: 2\r\n\r\n[]`)
    })
    const upstream = await hostileServer(
      end(`HTTP/1.1 307 Moved\r\nLocation: ${elsewhere}/v1/pets\r\nContent-Length: 0\r\n\r\n`),
    )
    const sandbox = await inFrontOf(`${upstream}/v1`)
    const { status, headers } = await ask(sandbox)
    expect({ status, location: headers.get('location') }).toEqual({ status: 307, location: `${elsewhere}/v1/pets` })
    expect(heard).toEqual([])
  })

  it('an echoed key is masked everywhere', async () => {
    const body = JSON.stringify({ code: 'x', message: `key ${REAL_KEY} and somebodys-own-key`, status: 401 })
    const echo = `Content-Type: ${REAL_KEY}\r\nX-Echo: ${REAL_KEY} somebodys-own-key`
    const upstream = await hostileServer(
      end(`HTTP/1.1 401 No\r\n${echo}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    )
    const sandbox = await inFrontOf(`${upstream}/v1`)
    await ask(sandbox)
    await fetch(`${sandbox.baseUrl}/pets`, { headers: { Authorization: 'Bearer somebodys-own-key' } })
    const kept = JSON.stringify([await sandbox.requests(), await sandbox.conduct()])
    expect(kept).toContain('***')
    expect(kept).not.toContain(REAL_KEY)
    const [, own] = await sandbox.requests()
    expect(JSON.stringify(own)).not.toContain('somebodys-own-key')
  })

  it('a loop back to the sandbox is reported, and ends', async () => {
    const probe = await startSandbox()
    const { port } = new URL(probe.baseUrl)
    await probe.close()
    const sandbox = await inFrontOf(`http://127.0.0.1:${port}/v1`, { port: Number(port) })
    const { status, text } = await ask(sandbox)
    expect({ status, text }).toEqual({ status: 502, text: expect.stringContaining('leads back to it') })
  })
})

it('a real service over TLS is trusted only with its own authority', async () => {
  const tls = certify(temporaryFolder(), 'localhost', 'DNS:localhost,IP:127.0.0.1')
  const plain = await driftingService(undefined, { apiKey: [`real=${REAL_KEY}:business`] })
  const server = createServer(tls, async (request, response) => {
    const headersOf = { authorization: String(request.headers.authorization) }
    const reply = await fetch(new URL(request.url ?? '', plain.baseUrl), { headers: headersOf })
    const { 'content-encoding': _, 'transfer-encoding': __, ...headers } = Object.fromEntries(reply.headers)
    response.writeHead(reply.status, headers).end(await reply.text())
  })
  const upstream = `${(await listenLocally(server)).replace('http:', 'https:')}/v1`
  const key = temporaryFile('key', `${REAL_KEY}\n`)
  const sandbox = `exec --upstream ${upstream} --upstream-api-key-file ${key} -- `
  const ask200 = [
    'sh',
    '-c',
    'curl -s -o /dev/null -w %{http_code} -H "Authorization: Bearer sandbox" $PETSTORE_BASE_URL/pets',
  ]
  const command = [join(packageDirectory, 'bin/petstore-sandbox.js'), ...sandbox.trim().split(' '), ...ask200]
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: tls.file }
  expect((await promisify(execFile)(process.execPath, command, { env })).stdout).toBe('200')
  const strange = await ask(await inFrontOf(upstream))
  expect(strange.status).toBe(502)
  expect(strange.text).toMatch(/the certificate is not trusted .*NODE_EXTRA_CA_CERTS/)
})

it.each([
  [{ upstreamApiKeyFile: '/nowhere/key' }, /--upstream-api-key-file "\/nowhere\/key": cannot be read/],
  [{ upstream: 'http://me:secret@staging.example/v1' }, /without user and password/],
])('a start with %j is refused', async (options, message) => {
  await expect(startSandbox({ upstream: 'http://127.0.0.1:9/v1', ...options })).rejects.toThrow(message)
})
