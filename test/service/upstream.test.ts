import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { type Drift, driftingService } from '../client/drifting-service.js'
import { listenLocally } from '../support/listen-locally.js'
import { temporaryFile } from '../support/temporary-files.js'
import { withoutReplicas } from '../support/transports.js'

const REAL_KEY = 'a-real-key-of-staging'

function keyFile(key = REAL_KEY): string {
  return temporaryFile('key', `${key}\n`)
}

/** A second sandbox as the real service, with the requests that it received. */
async function realService(options: SandboxOptions = {}, drift?: Drift) {
  return driftingService(drift, { apiKey: [`real=${REAL_KEY}:business`], seed: 1, ...options })
}

describe.each(withoutReplicas)('in front of a real service, %s', (_name, openSandbox) => {
  const open = async (given: SandboxOptions = {}, real: SandboxOptions = {}, drift?: Drift) => {
    const service = await realService(real, drift)
    const sandbox = await openSandbox({ upstream: service.baseUrl, upstreamApiKeyFile: keyFile(), ...given })
    return { ...service, sandbox, real: service.sandbox }
  }

  it('a key of the sandbox stands for the key of the service', async () => {
    const { sandbox, came } = await open()
    expect(await sandbox.get('/pets?limit=2')).toMatchObject({ status: 200, json: [{ id: 59 }, { id: 58 }] })
    const head = await sandbox.call('/v1/pets/1', { method: 'HEAD', key: 'sandbox-pro' })
    expect([head.status, head.text, head.limit]).toEqual([200, '', 1000])
    expect((await sandbox.get('/store/orders', 'sandbox~checkout')).status).toBe(200)
    expect(came.map(({ method, url, key }) => [method, url, key])).toEqual([
      ['GET', '/v1/pets?limit=2', REAL_KEY],
      ['GET', '/v1/pets/1', REAL_KEY],
      ['GET', '/v1/store/orders', REAL_KEY],
    ])
  })

  it('any other key goes through as it is, and is never kept', async () => {
    const { sandbox, came } = await open({ upstreamApiKeyFile: undefined as never })
    expect((await sandbox.get('/pets', REAL_KEY)).status).toBe(200)
    expect((await sandbox.get('/pets', 'wrong-key-of-somebody')).status).toBe(401)
    expect(came.map(({ key }) => key)).toEqual([REAL_KEY, 'wrong-key-of-somebody'])
    for (const verb of ['/requests', '/conduct'])
      expect(JSON.stringify((await sandbox.control('GET', verb)).json)).not.toMatch(/a-real-key|wrong-key/)
    expect(sandbox.warnings.join()).not.toMatch(/a-real-key|wrong-key/)
  })

  it('a key of the sandbox is 401 where none of the service was given, with what to do', async () => {
    const service = await realService()
    const sandbox = await openSandbox({ upstream: service.baseUrl })
    const { status, text } = await sandbox.get('/pets')
    expect({ status, text }).toEqual({ status: 401, text: expect.stringContaining('--upstream-api-key-file') })
    expect((await sandbox.get('/pets', null)).status).toBe(401)
    expect(service.came).toEqual([])
  })

  it('what a gate refuses never gets there', async () => {
    const { sandbox, came } = await open({ storm: '1' })
    expect((await sandbox.get('/pets')).reason).toBe('storm')
    await sandbox.control('DELETE', '/storm')
    await sandbox.control('PUT', '/faults', ['listPets:503'])
    expect((await sandbox.get('/pets')).status).toBe(503)
    await sandbox.control('PUT', '/keys/sandbox/ban', { for: '5m' })
    expect((await sandbox.get('/pets')).reason).toBe('ban')
    expect((await sandbox.get('/pets?limit=0', 'sandbox-pro')).status).toBe(503)
    await sandbox.control('DELETE', '/faults')
    expect((await sandbox.get('/pets?limit=0', 'sandbox-pro')).status).toBe(400)
    expect((await sandbox.get('/nothing', 'sandbox-pro')).status).toBe(404)
    expect((await sandbox.get('/pets', 'sandbox-limited')).status).toBe(429)
    await sandbox.control('PATCH', '/settings', { sunset: 'after' })
    expect((await sandbox.get('/pets/1', 'sandbox-pro')).reason).toBe('sunset')
    const forced = await sandbox.call('/v1/pets', { key: 'sandbox-pro', headers: { prefer: 'code=429' } })
    expect(forced.reason).toBe('forced')
    expect(came).toEqual([])
  })

  it('its quotas apply, unless a plan is set', async () => {
    const { sandbox } = await open({}, { plan: 'business' })
    const first = await sandbox.get('/pets')
    expect([first.limit, first.remaining]).toEqual([1000, 999])
    const local = await open({ limits: '2/min' })
    expect([(await local.sandbox.get('/pets')).limit, (await local.sandbox.get('/pets')).remaining]).toEqual([2, 0])
    expect(await local.sandbox.get('/pets')).toMatchObject({ status: 429, reason: 'quota-minute' })
    expect(local.came).toHaveLength(2)
  })

  it('a refusal of its own passes, with no reason but in the log', async () => {
    const { sandbox } = await open({}, { storm: '1,retry-after=7s' })
    const { status, reason, retryAfter } = await sandbox.get('/pets')
    expect({ status, reason, retryAfter }).toEqual({ status: 429, reason: undefined, retryAfter: '7' })
    const { json } = await sandbox.control('GET', '/requests')
    expect(json).toMatchObject([{ status: 429, reason: 'upstream' }])
  })

  it('refuses writes by default, whatever is written, and says how to allow them', async () => {
    const { sandbox, came } = await open()
    const message = expect.stringContaining('--upstream-writes forward')
    for (const [method, path] of [
      ['POST', '/v1/pets'],
      ['DELETE', '/v1/pets/1'],
      ['PUT', '/v1/nothing'],
      ['PROPFIND', '/v1/pets'],
    ] as const) {
      const { status, json, reason } = await sandbox.call(path, { method, key: 'sandbox~own' })
      expect({ status, json, reason }).toEqual({
        status: 403,
        json: { code: 'upstream_read_only', message, status: 403 },
        reason: 'upstream',
      })
    }
    expect((await sandbox.call('/v1/pets', { method: 'HEAD' })).status).toBe(200)
    expect((await sandbox.call('/v1/pets', { method: 'OPTIONS' })).status).toBe(405)
    expect(came.map(({ method }) => method)).toEqual(['GET'])
  })

  it('forwards writes if told to, with integers beyond 2^53 intact', async () => {
    const { sandbox, came, real } = await open({ upstreamWrites: 'forward' })
    const { status, text } = await sandbox.post('/pets', '{"name":"Rex","categoryId":9007199254740993}')
    expect({ status, text }).toEqual({ status: 201, text: expect.stringContaining('9007199254740993') })
    expect(came.map(({ method, key }) => [method, key])).toEqual([['POST', REAL_KEY]])
    expect(await real.records.list('pets', { limit: 1 })).toMatchObject([{ name: 'Rex' }])
  })

  it('headers of the connection, of browsers and of the sandbox are not forwarded', async () => {
    const seen: Record<string, unknown>[] = []
    const server = createServer(({ headers }, response) => {
      seen.push(headers)
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Set-Cookie': 'a=b',
        'Strict-Transport-Security': 'max-age=1',
        'X-Sandbox-Reason': 'storm',
        'X-Own': 'kept',
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Remaining': '59',
        'X-RateLimit-Reset': String(Math.floor(Date.now() / 1000) + 60),
        'Access-Control-Allow-Origin': 'https://elsewhere.example',
      })
      response.end('[]')
    })
    const upstream = `${await listenLocally(server)}/api/v1/`
    const sandbox = await openSandbox({ upstream, upstreamApiKeyFile: keyFile() })
    const dropped = { cookie: 'mine=1', origin: 'http://localhost:3000', 'if-none-match': '"1"', prefer: 'x' }
    const { headers } = await sandbox.call('/v1/pets', { headers: { ...dropped, 'x-trace': '7' } })
    const names = Object.keys(seen[0] ?? {})
    expect(seen[0]?.via).toMatch(/^1\.1 petstore-sandbox-/)
    expect(names).toEqual(expect.arrayContaining(['accept-encoding', 'authorization', 'connection', 'x-trace']))
    expect(names.filter((name) => name in dropped)).toEqual([])
    expect([headers.get('x-own'), headers.get('access-control-allow-origin')]).toEqual([
      'kept',
      'http://localhost:3000',
    ])
    for (const name of ['set-cookie', 'strict-transport-security', 'x-sandbox-reason'])
      expect(headers.has(name)).toBe(false)
  })

  it('its records cannot be changed by the control plane', async () => {
    const { sandbox, baseUrl } = await open()
    const refusal = {
      status: 409,
      json: { code: 'conflict', message: `The records are in the real service, ${baseUrl}.` },
    }
    expect(await sandbox.control('POST', '/resources/pets', { name: 'Rex', categoryId: 1 })).toMatchObject(refusal)
    expect(await sandbox.control('DELETE', '/resources/pets/1')).toMatchObject(refusal)
    expect((await sandbox.control('GET', '/resources/pets')).json).toEqual([])
  })

  it('the state names it', async () => {
    const { sandbox, real, baseUrl } = await open()
    expect((await sandbox.control('GET', '/state')).json).toMatchObject({ upstream: { baseUrl, writes: 'refuse' } })
    expect(await real.state()).toMatchObject({ upstream: null })
  })

  it('cannot be named by a scenario, which may come from someone else', async () => {
    const upstream = 'http://127.0.0.1:9/v1'
    const refusal = 'upstream: cannot be set by a scenario'
    await expect(openSandbox({ scenario: { upstream } as object })).rejects.toThrow(refusal)
    const { json } = await (await open()).sandbox.control('PUT', '/scenario', { upstream })
    expect(json).toMatchObject({ status: 400, message: expect.stringContaining(refusal) })
  })

  it('a moved clock applies to its limits', async () => {
    const { sandbox } = await open()
    await sandbox.advance('24h')
    const { headers, reset } = await sandbox.get('/pets')
    const left = reset - Date.parse(headers.get('date') ?? '')
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(62_000)
  })
})

it('the pages of a real service run no scripts in the origin of the sandbox, and a response without a type is text', async () => {
  const own = "default-src 'self'"
  const service = await realService({}, ({ url }) => ({
    status: 200,
    headers: url.endsWith('=1')
      ? { 'content-type': 'text/html', 'content-security-policy': own }
      : { 'x-content-type-options': 'none' },
    body: '<script>',
  }))
  await using sandbox = await createSandbox({ upstream: service.baseUrl, upstreamApiKeyFile: keyFile() })
  const seen = async (limit: number) => {
    const init = { headers: { authorization: 'Bearer sandbox' } }
    const { headers } = await sandbox.fetch(`${sandbox.baseUrl}/pets?limit=${limit}`, init)
    return ['content-type', 'content-security-policy', 'x-content-type-options'].map((name) => headers.get(name))
  }
  expect(await seen(1)).toEqual(['text/html', `sandbox allow-forms allow-popups, ${own}`, 'nosniff'])
  expect(await seen(2)).toEqual(['text/plain', null, 'nosniff'])
})

it('a request without a key, or with a revoked one, reaches the service without a key', async () => {
  const came: unknown[] = []
  const server = createServer(({ url, headers: { authorization = null } }, response) => {
    came.push([url, authorization])
    response.setHeader('content-type', 'application/json').end('{}')
  })
  const ok = { responses: { 200: { description: 'ok' } } }
  const spec = temporaryFile(
    'spec.json',
    JSON.stringify({
      ...{ openapi: '3.0.3', info: { title: 'T', version: '1' }, servers: [{ url: '/v1' }] },
      paths: {
        '/status': { get: { operationId: 'status', security: [], ...ok } },
        '/me': { get: { operationId: 'me', security: [{}, { bearer: [] }], ...ok } },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    }),
  )
  await using sandbox = await createSandbox({
    ...{ spec, upstream: `${await listenLocally(server)}/v1`, upstreamApiKeyFile: keyFile('real-key') },
  })
  for (const [path, key] of [['/status'], ['/me'], ['/me', 'sandbox-revoked'], ['/me', 'sandbox']] as const) {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
    expect((await sandbox.fetch(sandbox.baseUrl + path, { headers })).status).toBe(200)
  }
  // Credentials for something else than the service, such as a login of OAuth.
  const basic = `Basic ${btoa('client:secret')}`
  await sandbox.fetch(`${sandbox.baseUrl}/status`, { headers: { authorization: basic } })
  expect(came.pop()).toEqual(['/v1/status', basic])
  expect(came).toEqual([
    ['/v1/status', null],
    ['/v1/me', null],
    ['/v1/me', null],
    ['/v1/me', 'Bearer real-key'],
  ])
})

describe('a contract whose key is', () => {
  const list = { operationId: 'list', responses: { 200: { description: 'ok' } } }
  const basic = (text: string) => `Basic ${btoa(text)}`
  it.each([
    ['in the query', { type: 'apiKey', in: 'query', name: 'api_key' }, '?a=1&api_key=KEY', {}],
    ['in a cookie', { type: 'apiKey', in: 'cookie', name: 'sid' }, '', { cookie: 'sid=KEY' }],
    ['the password of Basic', { type: 'http', scheme: 'basic' }, '', { authorization: basic('me:KEY') }],
    ['the user of Basic', { type: 'http', scheme: 'basic' }, '', { authorization: basic('KEY:') }],
    ['bare', { type: 'apiKey', in: 'header', name: 'Authorization' }, '', { authorization: 'Token KEY' }],
  ])(
    '%s has the key of the service there, and the key of a client unchanged',
    async (_what, scheme, query, headers) => {
      const came: object[] = []
      const server = createServer(({ url, headers: { authorization, cookie } }, response) => {
        came.push({ url, ...(authorization && { authorization }), ...(cookie && { cookie }) })
        response.setHeader('content-type', 'application/json').end('{}')
      })
      const spec = temporaryFile(
        'spec.json',
        JSON.stringify({
          ...{ openapi: '3.0.3', info: { title: 'T', version: '1' }, servers: [{ url: '/v1' }] },
          ...{ paths: { '/things': { get: list } }, security: [{ key: [] }] },
          components: { securitySchemes: { key: scheme } },
        }),
      )
      await using sandbox = await createSandbox({
        ...{ spec, upstream: `${await listenLocally(server)}/v1`, upstreamApiKeyFile: keyFile('real-key') },
      })
      const withKey = (text: string, key: string) =>
        text.replace(/Basic (.*)/, (_, one) => atob(one)).replace('KEY', key)
      const sent = (key: string) => ({
        url: `/v1/things${query.replace('KEY', key)}`,
        ...Object.fromEntries(
          Object.entries(headers).map(([name, value]) => {
            const text = withKey(value, key)
            return [name, value.startsWith('Basic') ? basic(text) : text]
          }),
        ),
      })
      for (const key of ['sandbox', 'of-a-client']) {
        const { url, ...others } = sent(key)
        expect((await sandbox.fetch(new URL(url, sandbox.baseUrl), { headers: others })).status).toBe(200)
      }
      expect(came).toEqual([sent('real-key'), sent('of-a-client')])
    },
  )
})
