import { describe, expect, it } from 'vitest'
import type { SandboxOptions } from '../../src/index.js'
import { driftingService } from '../client/drifting-service.js'
import { exchange, startOnPort } from '../support/raw-http.js'
import { temporaryFile } from '../support/temporary-files.js'
import { withoutReplicas } from '../support/transports.js'

describe.each(withoutReplicas)('a website and the real service behind the sandbox, %s', (_name, openSandbox) => {
  const open = async (given: SandboxOptions = {}) => {
    const { baseUrl, came } = await driftingService(undefined, { apiKey: ['real=a-real-key:business'] })
    const upstreamApiKeyFile = temporaryFile('key', 'a-real-key\n')
    const sandbox = await openSandbox({ upstream: baseUrl, upstreamApiKeyFile, upstreamWrites: 'forward', ...given })
    return { sandbox, came }
  }
  const FOREIGN = { origin: 'https://evil.example' }

  it.each([
    ['GET', 'sandbox', FOREIGN],
    ['GET', 'sandbox~own', FOREIGN],
    ['GET', null, FOREIGN],
    ['GET', 'sandbox', { origin: 'null' }],
    ['GET', 'sandbox', { 'sec-fetch-site': 'cross-site' }],
    ['HEAD', 'sandbox', { 'sec-fetch-site': 'cross-site' }],
    ['POST', 'sandbox', FOREIGN],
  ] as const)('is refused before its %s with the key %s and %j is forwarded', async (method, key, headers) => {
    const { sandbox, came } = await open()
    const body = method === 'POST' ? { name: 'Rex', categoryId: 1 } : undefined
    const reply = await sandbox.call('/v1/pets', { method, key, headers, body })
    expect(reply.status).toBe(403)
    if (method !== 'HEAD') expect(reply.json).toMatchObject({ code: 'origin_refused', status: 403 })
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
    expect(reply.headers.get('vary')).toBe('Origin')
    expect(came).toEqual([])
    // It neither opens a space nor accuses the client.
    expect((await sandbox.control('GET', '/spaces')).json).toEqual([])
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ requests: 0 })
    const website = 'origin' in headers ? headers.origin : 'another site'
    expect(sandbox.warnings.join()).toContain(`Refused a web page of "${website}": --cors allows loopback only.`)
  })

  it('is refused a preflight', async () => {
    const { sandbox } = await open()
    const headers = { ...FOREIGN, 'access-control-request-method': 'GET' }
    const preflight = await sandbox.call('/v1/pets', { method: 'OPTIONS', headers })
    expect(preflight.headers.has('access-control-allow-origin')).toBe(false)
  })

  it('is served if it is a page of this machine, or allowed', async () => {
    for (const [cors, origin] of [
      [undefined, 'http://localhost:3000'],
      ['https://app.example', 'https://app.example'],
    ] as const) {
      const { sandbox } = await open(cors === undefined ? {} : { cors })
      const asked = { ...{ origin }, 'access-control-request-method': 'GET' }
      const preflight = await sandbox.call('/v1/pets', { method: 'OPTIONS', headers: asked })
      expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
      const reply = await sandbox.call('/v1/pets', { headers: { origin, 'sec-fetch-site': 'cross-site' } })
      expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, origin])
      expect(sandbox.warnings).toEqual([])
    }
  })

  it('is served with a warning at the start if any origin is allowed', async () => {
    const { sandbox } = await open({ cors: '*' })
    expect(sandbox.warnings).toEqual([expect.stringContaining('any website that you visit may use http')])
    expect((await sandbox.call('/v1/pets', { headers: FOREIGN })).status).toBe(200)
  })

  it('may use a sandbox without a real service', async () => {
    const sandbox = await openSandbox()
    expect((await sandbox.call('/v1/pets', { headers: FOREIGN })).status).toBe(200)
  })
})

it.each([
  ['a second Host', '/v1/pets', 'Host: localhost\r\nHost: evil.example\r\n'],
  ['a second Host, that of this machine', '/v1/pets', 'Host: evil.example\r\nHost: localhost\r\n'],
  ['an absolute target of another host', 'http://evil.example/v1/pets', 'Host: localhost\r\n'],
  ['a Sec-Fetch-Site in other letters', '/v1/pets', 'Host: localhost\r\nSec-Fetch-Site: Cross-Site\r\n'],
])('a request with %s does not reach the real service', async (_what, target, headers) => {
  const { baseUrl, came } = await driftingService(undefined, { apiKey: ['real=a-real-key:business'] })
  const upstreamApiKeyFile = temporaryFile('key', 'a-real-key\n')
  const { port } = await startOnPort({ upstream: baseUrl, upstreamApiKeyFile })
  const head = `GET ${target} HTTP/1.1\r\n${headers}Authorization: Bearer sandbox\r\nConnection: close\r\n\r\n`
  expect(await exchange(port, head)).toMatch(/^HTTP\/1\.1 403 .*"code":"origin_refused"/s)
  expect(came).toEqual([])
})
