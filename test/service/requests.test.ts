import { describe, expect, it } from 'vitest'
import { NOON, transports } from '../support/transports.js'

describe.each(transports)('authentication, %s', (_name, openSandbox) => {
  it.each([
    ['no key', null, 'missing_api_key', 'Bearer realm="petstore"'],
    ['a wrong key', 'wrong', 'invalid_api_key', 'Bearer realm="petstore", error="invalid_token"'],
    ['a space that has no name', 'sandbox~', 'invalid_api_key', 'Bearer realm="petstore", error="invalid_token"'],
    ['a space with a bad name', 'sandbox~a~b', 'invalid_api_key', 'Bearer realm="petstore", error="invalid_token"'],
  ])('returns 401 for %s', async (_what, key, code, challenge) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.get('/pets', key)
    expect(seen).toMatchObject({ status: 401, code })
    expect(seen.headers.get('www-authenticate')).toBe(challenge)
  })

  it.each(['bearer sandbox', 'BEARER sandbox', 'Bearer   sandbox'])('takes %j', async (authorization) => {
    const sandbox = await openSandbox()
    expect(await sandbox.call('/v1/pets', { key: null, headers: { authorization } })).toMatchObject({ status: 200 })
  })

  it.each(['Basic c2FuZGJveDo=', 'Bearer', 'sandbox', 'Bearersandbox'])(
    'takes %j for no key',
    async (authorization) => {
      const sandbox = await openSandbox()
      const seen = await sandbox.call('/v1/pets', { key: null, headers: { authorization } })
      expect(seen).toMatchObject({ status: 401, code: 'missing_api_key' })
    },
  )

  it('checks the key before the operation', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.get('/nowhere', null)).toMatchObject({ status: 401 })
    expect(await sandbox.get('/nowhere')).toMatchObject({ status: 404, code: 'not_found' })
  })

  it('suggests the scheme or the keys of the fixtures, and never shows the sent key or a secret', async () => {
    const sandbox = await openSandbox({ apiKey: ['sk-secret-1234', 'team=sk-secret-5678'] })
    const message = async (headers: Record<string, string>) =>
      JSON.parse((await sandbox.call('/v1/pets', { key: null, headers })).text).message
    expect(await message({})).toBe('No API key was sent. Send one as: Authorization: Bearer <API_KEY>.')
    expect(await message({ authorization: 'sandbox' })).toBe(
      'The Authorization header does not hold a Bearer token. Send the key as: Authorization: Bearer <API_KEY>.',
    )
    const unknown = await message({ authorization: 'Bearer sk-secret-9999' })
    expect(unknown).toBe(
      'The API key is not valid. The fixture keys are sandbox, sandbox-free, sandbox-pro, sandbox-business, sandbox-enterprise.',
    )
    expect(await message({ authorization: 'Bearer sandbox-revoked' })).toBe(unknown)
  })

  it.each([
    ['/v1/pet', 'Did you mean /v1/pets?'],
    ['/v1/pet/7', 'Did you mean /v1/pets/7?'],
    ['/v1/store/order?limit=1', 'Did you mean /v1/store/orders?'],
    ['/v1/pets/', 'Did you mean /v1/pets?'],
    ['/v1/nowhere', ''],
  ])('returns 404 for %s, with the intended path', async (target, hint) => {
    const sandbox = await openSandbox()
    const { status, text } = await sandbox.call(target)
    const whole = `The requested resource could not be found. ${hint}`.trim()
    expect({ status, body: JSON.parse(text) }).toEqual({
      status: 404,
      body: { code: 'not_found', message: whole, status: 404 },
    })
  })

  it('takes more keys, with their plans', async () => {
    const sandbox = await openSandbox({ apiKey: ['mine:pro', 'other'] })
    expect(await sandbox.get('/pets', 'mine')).toMatchObject({ status: 200, limit: 300 })
    expect(await sandbox.get('/pets', 'other')).toMatchObject({ status: 200, limit: 60 })
  })

  it('takes any key where asked to, each with its own quota', async () => {
    const sandbox = await openSandbox({ anyKey: true })
    expect(await sandbox.get('/pets', 'whatever')).toMatchObject({ status: 200, remaining: 59 })
    expect(await sandbox.get('/pets', 'whoever')).toMatchObject({ status: 200, remaining: 59 })
    expect(await sandbox.get('/pets', 'whatever')).toMatchObject({ status: 200, remaining: 58 })
    expect(await sandbox.get('/pets', null)).toMatchObject({ status: 401 })
  })
})

describe.each(transports)('paths and methods, %s', (_name, openSandbox) => {
  it.each([
    ['DELETE', '/v1/pets', 'GET, HEAD, POST'],
    ['PUT', '/v1/pets/1', 'GET, HEAD'],
    ['POST', '/v1/store/orders', 'GET, HEAD'],
    ['OPTIONS', '/v1/pets', 'GET, HEAD, POST'],
  ])('returns 405 for %s %s, with the allowed methods', async (method, path, allow) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.call(path, { method })
    expect(seen).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(seen.headers.get('allow')).toBe(allow)
    expect(seen.json).toMatchObject({ message: `This path supports ${allow}, not ${method}.` })
  })

  it.each(['/v1', '/v1/', '/v1/pets/', '/v1/pets/1/2', '/v1/PETS', '/v1//pets'])('%s is 404', async (path) => {
    const sandbox = await openSandbox()
    expect(await sandbox.call(path)).toMatchObject({ status: 404, code: 'not_found' })
  })

  it.each(['/pets', '/', '/v2/pets', '/v1x/pets'])('%s is 404 with a hint, with and without a key', async (path) => {
    const sandbox = await openSandbox()
    for (const key of ['sandbox', null]) {
      const seen = await sandbox.call(path, { key })
      expect(seen).toMatchObject({ status: 404, code: 'not_found' })
      expect((seen.json as { message: string }).message).toMatch(/The service is under \/v1/)
    }
  })

  it('are under another base path where asked for', async () => {
    const sandbox = await openSandbox({ basePath: '/store-api/v3' })
    const seen = await sandbox.call('/store-api/v3/pets/1')
    expect(seen.status).toBe(200)
    expect(seen.headers.get('link')).toMatch(/^<\/store-api\/v3\/pets/)
    expect(await sandbox.call('/v1/pets')).toMatchObject({ status: 404 })
  })
})

describe.each(transports)('every response, %s', (_name, openSandbox) => {
  it('carries the rate-limit headers and a Date by the clock', async () => {
    const sandbox = await openSandbox()
    const responses = [
      await sandbox.get('/pets'),
      await sandbox.get('/pets?limit=0'),
      await sandbox.get('/pets', null),
      await sandbox.get('/nowhere'),
      await sandbox.call('/outside'),
      await sandbox.call('/v1/pets', { method: 'DELETE' }),
      await sandbox.get('/pets', 'sandbox-limited'),
      await sandbox.get('/pets', 'sandbox-banned'),
      await sandbox.call('/v1/pets', { headers: { prefer: 'code=500' } }),
    ]
    for (const { limit, remaining, reset, headers } of responses) {
      expect([limit, remaining, reset].every(Number.isInteger)).toBe(true)
      expect(reset).toBe(NOON + 60_000)
      expect(headers.get('date')).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
    }
  })

  it('has X-Sandbox-Reason, unless it is disabled', async () => {
    const sandbox = await openSandbox({ reason: false })
    expect(await sandbox.get('/pets', 'sandbox-limited')).toMatchObject({ status: 429, reason: undefined })
  })
})

describe.each(transports)('Prefer: code=, %s', (_name, openSandbox) => {
  it.each([
    ['/pets', '200', 200, undefined],
    ['/pets', '400', 400, 'invalid_request'],
    ['/pets', '401', 401, 'invalid_api_key'],
    ['/pets/1', '404', 404, 'not_found'],
    ['/pets', '429', 429, 'rate_limit_exceeded'],
    ['/pets', '500', 500, 'simulated_fault'],
    ['/pets', '503', 503, 'simulated_fault'],
  ])('on %s, %s is forced and changes nothing', async (path, forced, status, code) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.call(`/v1${path}`, { headers: { prefer: `code=${forced}` } })
    expect(seen).toMatchObject({ status, code, reason: 'forced', remaining: 60 })
    expect(seen.headers.get('preference-applied')).toBe(`code=${forced}`)
    expect(seen.retryAfter !== undefined).toBe(status === 429)
  })

  it('forces the example of a 201 without adding a pet', async () => {
    const sandbox = await openSandbox()
    const seen = await sandbox.call('/v1/pets', { method: 'POST', headers: { prefer: 'code=201' } })
    expect(seen).toMatchObject({ status: 201, reason: 'forced' })
    expect(await sandbox.get('/pets/60')).toMatchObject({ status: 404 })
  })

  it.each(['418', '201', '', '4290', 'abc', '2'])('refuses the code %j, naming those allowed', async (code) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.call('/v1/pets', { headers: { prefer: `code=${code}` } })
    expect(seen).toMatchObject({ status: 400, code: 'invalid_request' })
    expect((seen.json as { message: string }).message).toMatch(/200, 400, 401, 429, 500, 503/)
  })

  it('ignores other preferences, unknown paths and callers without a key', async () => {
    const sandbox = await openSandbox()
    const headers = { prefer: 'code=500' }
    expect(await sandbox.call('/v1/pets', { headers: { prefer: 'respond-async' } })).toMatchObject({ status: 200 })
    expect(await sandbox.call('/v1/nowhere', { headers })).toMatchObject({ status: 404 })
    expect(await sandbox.call('/v1/pets', { headers, key: null })).toMatchObject({ status: 401, reason: undefined })
  })
})

describe.each(transports)('CORS, %s', (_name, openSandbox) => {
  const preflight = {
    method: 'OPTIONS',
    key: null,
    headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' },
  }

  it('responds to a preflight without key, quota or log', async () => {
    const sandbox = await openSandbox({ latency: '10s', fault: '*:500' })
    const seen = await sandbox.call('/v1/pets', preflight)
    expect(seen.status).toBe(204)
    expect(seen.headers.get('access-control-allow-origin')).toBe('*')
    expect(seen.headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type, Prefer')
    expect([...sandbox.core.spaces.default.log]).toEqual([])
  })

  const askingFor = (names: string) => ({
    ...preflight,
    headers: { ...preflight.headers, 'access-control-request-headers': names },
  })

  it.each([
    ['traceparent,x-request-id', 'Authorization, Content-Type, Prefer, traceparent, x-request-id'],
    ['authorization, cache-control', 'Authorization, Content-Type, Prefer, cache-control'],
    ['', 'Authorization, Content-Type, Prefer'],
    ['a b, <x>, ok', 'Authorization, Content-Type, Prefer, ok'],
    [Array.from({ length: 1000 }, (_, n) => `x-${n}`).join(), 'Authorization, Content-Type, Prefer'],
  ])('allows whatever header a page asks for: %.40s', async (names, allowed) => {
    const sandbox = await openSandbox({ cors: 'http://localhost:3000' })
    const { headers } = await sandbox.call('/v1/pets', askingFor(names))
    expect(headers.get('access-control-allow-headers')).toBe(allowed)
    expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Headers')
  })

  it('warns once of each refused origin, up to a limit', async () => {
    const sandbox = await openSandbox({ cors: 'http://localhost:5173' })
    const from = (origin: string) =>
      sandbox.call('/v1/pets', { ...askingFor('traceparent'), headers: { ...preflight.headers, origin } })
    await from('http://localhost:5173')
    expect(sandbox.warnings).toEqual([])
    await from('http://localhost:3000')
    const refused = await from('http://localhost:3000')
    expect([refused.status, refused.headers.has('access-control-allow-headers')]).toEqual([204, false])
    expect(sandbox.warnings).toEqual([
      'Refused a web page of "http://localhost:3000": --cors allows http://localhost:5173 only. Add the origin to --cors to allow it.',
    ])
    for (let port = 1; port <= 100; port++) await from(`http://localhost:${port}`)
    expect(sandbox.warnings).toHaveLength(20)
    expect(sandbox.warnings.at(-1)).toContain('Further origins are not reported.')
  })

  it('lets pages read the headers that clients need', async () => {
    const sandbox = await openSandbox()
    const { headers } = await sandbox.call('/v1/pets', { headers: { origin: 'http://localhost:3000' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toBe(
      'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Date, Deprecation, Sunset, Link, Allow, WWW-Authenticate, Preference-Applied, X-Sandbox-Reason',
    )
  })

  it('can be kept to some origins', async () => {
    const sandbox = await openSandbox({ cors: 'http://localhost:3000' })
    const from = (origin: string) => sandbox.call('/v1/pets', { headers: { origin } })
    const allowed = await from('http://localhost:3000')
    expect(allowed.headers.get('access-control-allow-origin')).toBe('http://localhost:3000')
    expect(allowed.headers.get('vary')).toBe('Origin')
    expect((await from('http://evil.example')).headers.has('access-control-allow-origin')).toBe(false)
  })

  it('can be off', async () => {
    const sandbox = await openSandbox({ cors: 'off' })
    const seen = await sandbox.call('/v1/pets', preflight)
    expect([seen.status, seen.headers.has('access-control-allow-origin')]).toEqual([204, false])
    expect([...sandbox.core.spaces.default.log]).toEqual([])
    expect((await sandbox.get('/pets')).headers.has('access-control-allow-origin')).toBe(false)
  })
})
