import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { proxyFor } from '../../src/client/dispatcher.js'
import { openExchange, openService } from '../../src/client/exchange.js'
import { NoResponseError } from '../../src/client/no-response.js'
import { openUpstream } from '../../src/client/upstream.js'
import { BEARER } from '../../src/contract/contract-data.js'
import type { UpstreamRequest } from '../../src/domain/upstream.js'
import { packageDirectory } from '../../src/system/package-files.js'
import type { Environment } from '../../src/system/this-process.js'
import { certify } from '../support/certify.js'
import { listenLocally } from '../support/listen-locally.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { temporaryFile } from '../support/temporary-files.js'
import { proxyServer } from './proxy-server.js'

const PROGRAM = join(packageDirectory, 'bin/petstore-sandbox.js')
const PASSWORD = 's3cret-of-the-proxy'

/** Key and certificate of staging.test. */
let tls: ReturnType<typeof certify>
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'proxies-'))
  tls = certify(folder, 'staging.test', 'DNS:staging.test')
  return () => rmSync(folder, { recursive: true })
})

/** A service that only the proxy can reach, with the requests it received. */
async function service(scheme: 'http' | 'https') {
  const came: IncomingMessage[] = []
  const reply: RequestListener = (request, response) => {
    came.push(request)
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]')
  }
  const server = scheme === 'https' ? createServer(tls, reply) : createHttpServer(reply)
  const { port } = new URL(await listenLocally(server))
  return { baseUrl: `${scheme}://staging.test:${port}/v1`, port: Number(port), came }
}

interface Got {
  readonly status: number
  /** The body, or the error without a response. */
  readonly text: string
}

const LIMITS = { timeout: STEP_PATIENCE_MS, maxBody: 2 ** 20 }

const noResponse = (error: unknown): Got => {
  if (!(error instanceof NoResponseError)) throw error
  return { status: 0, text: `${error.message} ${error.hint}` }
}

async function called(baseUrl: string, env: Environment): Promise<Got> {
  await using exchange = closing(await openExchange(baseUrl, env))
  const request = { method: 'GET', url: `${baseUrl}/pets`, headers: TWICE, body: undefined }
  return await exchange
    .send(request, LIMITS)
    .then(({ status, body }) => ({ status, text: body.toString() }), noResponse)
}

async function verified(baseUrl: string, env: Environment): Promise<Got> {
  await using opened = closing(await openService(baseUrl, env, LIMITS))
  const headers = { 'X-Twice': 'one, two' }
  const asked = opened.ask({ method: 'GET', path: '/pets', query: '', headers, body: '' })
  return await asked.then(({ status, body }) => ({ status, text: body }), noResponse)
}

async function forwarded(baseUrl: string, env: Environment): Promise<Got> {
  const apiKeyFile = temporaryFile('key', 'a-real-key-of-staging\n')
  const options = {
    keyHeader: BEARER,
    baseUrl,
    apiKeyFile,
    writes: 'refuse',
    timeout: LIMITS.timeout,
    env,
    warn() {},
  } as const
  await using upstream = closing(await openUpstream(options))
  const outcome = await upstream.send(FORWARD)
  if (outcome.kind !== 'response') return { status: 0, text: 'message' in outcome ? outcome.message : outcome.kind }
  expect(outcome.headers).toEqual(expect.arrayContaining(['application/json']))
  return { status: outcome.status, text: outcome.body }
}

function closing<T extends { close(): Promise<void> }>(opened: T): T & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() })
}

const TWICE: readonly (readonly [string, string])[] = [
  ['X-Twice', 'one'],
  ['X-Twice', 'two'],
]
const NOTHING = { isKnown: true, authorization: undefined, body: undefined, via: '' }
const FORWARD: UpstreamRequest = {
  method: 'GET',
  target: '/pets',
  headers: TWICE.flat(),
  ...NOTHING,
}

const WAYS = [
  ['call', called],
  ['verify', verified],
  ['serve --upstream', forwarded],
] as const

describe.each(WAYS)('the proxy of the environment, for %s', (_name, ask) => {
  it('receives plain HTTP requests without a tunnel', async () => {
    const { baseUrl, came, port } = await service('http')
    const { address, asked } = await proxyServer()
    expect(await ask(baseUrl, { HTTP_PROXY: address })).toEqual({ status: 200, text: '[]' })
    expect(asked.map(({ line }) => line)).toEqual([`GET http://staging.test:${port}/v1/pets`])
    expect(came[0]?.headers).toMatchObject({ host: `staging.test:${port}`, 'x-twice': 'one, two' })
  })

  it('receives user and password of its address, and no one else does', async () => {
    const { baseUrl, came } = await service('http')
    for (const credentials of [`me:${PASSWORD}`, 'a user:p@ss/wörd', 'nobody:']) {
      const { address } = await proxyServer({ credentials })
      const [user = '', password = ''] = credentials.split(':').map(encodeURIComponent)
      expect(await ask(baseUrl, { http_proxy: `http://${user}:${password}@${address}` })).toMatchObject({ status: 200 })
    }
    expect(came.map(({ headers }) => headers['proxy-authorization'])).toEqual([undefined, undefined, undefined])
  })

  it('that requires authentication is named without its password', async () => {
    const plain = await service('http')
    const secure = await service('https')
    const { address } = await proxyServer({ credentials: `me:${PASSWORD}`, tunnels: [secure.port] })
    const wrong = `http://me:${PASSWORD}-is-wrong@${address}`
    for (const [baseUrl, env, variable] of [
      [plain.baseUrl, { HTTP_PROXY: wrong }, 'HTTP_PROXY'],
      [secure.baseUrl, { HTTPS_PROXY: address }, 'HTTPS_PROXY'],
      [secure.baseUrl, { https_proxy: wrong }, 'https_proxy'],
    ] as const) {
      const { status, text } = await ask(baseUrl, env)
      expect(status).toBe(0)
      expect(text).toContain(`(${variable} is set): the proxy requires authentication (PROXY_407)`)
      expect(text).not.toContain(PASSWORD)
    }
    expect([...plain.came, ...secure.came]).toEqual([])
  })

  it('is named if it refuses a tunnel, with its response, or is not there', async () => {
    const { baseUrl, came } = await service('https')
    const { address } = await proxyServer({ tunnels: [] })
    for (const [proxy, problem] of [
      [address, 'the proxy responded with 403 (PROXY_403)'],
      ['127.0.0.1:1', 'the proxy cannot be reached (ECONNREFUSED)'],
    ]) {
      const text = expect.stringContaining(`(HTTPS_PROXY is set): ${problem}`)
      expect(await ask(baseUrl, { HTTPS_PROXY: `http://${proxy}` })).toEqual({ status: 0, text })
    }
    expect(came).toEqual([])
  })
})

it('a tunnel through a proxy carries a service over TLS, whose certificate is verified as without it', async () => {
  const { baseUrl, came, port } = await service('https')
  const { address, asked } = await proxyServer({ credentials: `me:${PASSWORD}`, tunnels: [port] })
  const env = { HTTPS_PROXY: `http://me:${PASSWORD}@${address}` }
  const key = temporaryFile('key', 'a-real-key-of-staging\n')
  const curl = 'curl -s -H "Authorization: Bearer sandbox" -H "X-Twice: one" -H "X-Twice: two" $PETSTORE_BASE_URL/pets'
  const command = ['exec', '--upstream', baseUrl, '--upstream-api-key-file', key, '--', 'sh', '-c', curl]
  // In a separate process, because NODE_EXTRA_CA_CERTS is read at the start.
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...command], {
    env: { ...process.env, ...env, NODE_EXTRA_CA_CERTS: tls.file },
  })
  expect(stdout).toBe('[]')
  expect(asked.map(({ line }) => line)).toEqual([`CONNECT staging.test:${port}`])
  // The key goes through the tunnel, not to the proxy; the proxy's password goes no further.
  expect(JSON.stringify(asked)).not.toContain('a-real-key-of-staging')
  expect(came[0]?.headers).toMatchObject({ authorization: 'Bearer a-real-key-of-staging', 'x-twice': 'one, two' })
  expect(came[0]?.headers['proxy-authorization']).toBeUndefined()
  expect((await called(baseUrl, env)).text).toContain('the certificate is not trusted')
})

const env = { HTTP_PROXY: 'plain.test:3128', HTTPS_PROXY: 'secure.test:3128' }

it.each([
  ['http://api.test/v1', {}, 'plain.test:3128'],
  ['https://api.test/v1', {}, 'secure.test:3128'],
  ['https://api.test/v1', { https_proxy: 'lower.test:1' }, 'lower.test:1'],
  ['https://api.test/v1', { HTTPS_PROXY: undefined }, 'plain.test:3128'],
  ['https://api.test/v1', { https_proxy: '' }, 'plain.test:3128'],
  ['http://127.0.0.1:4010/v1', { HTTP_PROXY: 'not a proxy' }, undefined],
  ['http://localhost/v1', {}, undefined],
  ['http://api.test/v1', { NO_PROXY: 'api.test' }, undefined],
  ['http://API.test/v1', { NO_PROXY: 'Api.Test' }, undefined],
  ['http://api.test/v1', { NO_PROXY: 'test' }, undefined],
  ['http://api.test/v1', { NO_PROXY: '*.test' }, undefined],
  ['http://api.test/v1', { NO_PROXY: '.test' }, undefined],
  ['https://api.test/v1', { NO_PROXY: 'api.test:443' }, undefined],
  ['http://api.test/v1', { NO_PROXY: 'pi.test' }, 'plain.test:3128'],
  ['http://api.test/v1', { NO_PROXY: 'other.test  api.test' }, undefined],
  ['http://api.test/v1', { NO_PROXY: '*' }, undefined],
  ['http://api.test/v1', { no_proxy: '', NO_PROXY: '*' }, 'plain.test:3128'],
  ['http://api.test/v1', { NO_PROXY: 'api.test:80' }, undefined],
  ['http://[fd00::1]/v1', { NO_PROXY: 'fd00::1' }, undefined],
  ['http://[fd00::1]/v1', { NO_PROXY: 'FD00:0::0001' }, undefined],
  ['http://[fd00::1]:81/v1', { NO_PROXY: '[fd00::1]:81' }, undefined],
  ['http://[fd00::1]/v1', { NO_PROXY: '[fd00::1]:81,fd00::2' }, 'plain.test:3128'],
  ['http://api.test:8080/v1', { NO_PROXY: 'api.test:80' }, 'plain.test:3128'],
  ['https://[fd00::1]/v1', { NO_PROXY: '[fd00::1]' }, undefined],
] as const)('the proxy for an address %s with %j is %s', (baseUrl, given, expected) =>
  expect(proxyFor(baseUrl, { ...env, ...given })?.url.host).toBe(expected),
)
