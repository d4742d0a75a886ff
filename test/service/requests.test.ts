import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('authentication, %s', (_name, openSandbox) => {
  it.each([
    ['no key', null, 'missing_api_key', 'Bearer realm="petstore"'],
    ['a wrong key', 'wrong', 'invalid_api_key', 'Bearer realm="petstore", error="invalid_token"'],
    ['a revoked key', 'sandbox-revoked', 'invalid_api_key', 'Bearer realm="petstore", error="invalid_token"'],
  ])('returns 401 for %s', async (_what, key, code, challenge) => {
    const seen = await (await openSandbox()).get('/pets', key)
    expect(seen).toMatchObject({ status: 401, code })
    expect(seen.headers.get('www-authenticate')).toBe(challenge)
  })

  it('takes the scheme in any case, and a header without it for no key', async () => {
    const sandbox = await openSandbox()
    const seen = async (authorization: string) =>
      (await sandbox.call('/v1/pets', { key: null, headers: { authorization } })).code
    for (const good of ['bearer sandbox', 'BEARER sandbox', 'Bearer   sandbox'])
      expect(await seen(good)).toBeUndefined()
    for (const bad of ['Basic c2FuZGJveDo=', 'Bearer', 'sandbox', 'Bearersandbox'])
      expect(await seen(bad)).toBe('missing_api_key')
  })

  it('takes spaces and senders after the key, unless their names are invalid', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.get('/pets', 'sandbox~...')).toMatchObject({ status: 200 })
    for (const mark of ['~', '~a~b', '~..', '~+', '~+a b', '~a+b+c', '~a+..'])
      expect(await sandbox.get('/pets', `sandbox${mark}`)).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect((await sandbox.get('/pets', `sandbox~${'a'.repeat(65)}`)).json).toMatchObject({
      message:
        'The API key has an invalid name of a space or sender after "~". Use 1 to 64 of A-Z a-z 0-9 . _ - for each.',
    })
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

  it('takes more keys, with their plans, or any key, each with its own quota', async () => {
    const sandbox = await openSandbox({ apiKey: ['mine:pro', 'other'] })
    expect(await sandbox.get('/pets', 'mine')).toMatchObject({ status: 200, limit: 300 })
    expect(await sandbox.get('/pets', 'other')).toMatchObject({ status: 200, limit: 60 })
    const open = await openSandbox({ anyKey: true })
    const remaining = async (key: string) => (await open.get('/pets', key)).remaining
    expect([await remaining('one'), await remaining('other'), await remaining('one')]).toEqual([59, 59, 58])
    expect(await open.get('/pets', null)).toMatchObject({ status: 401 })
  })
})

describe.each(transports)('paths and methods, %s', (_name, openSandbox) => {
  it('are 405 with the allowed methods, also for OPTIONS without an origin', async () => {
    const sandbox = await openSandbox()
    for (const [method, path, allow] of [
      ['DELETE', '/v1/pets', 'GET, HEAD, POST'],
      ['PUT', '/v1/pets/1', 'GET, HEAD'],
      ['OPTIONS', '/v1/pets', 'GET, HEAD, POST'],
    ] as const) {
      const seen = await sandbox.call(path, { method })
      expect(seen).toMatchObject({ status: 405, code: 'method_not_allowed' })
      expect(seen.headers.get('allow')).toBe(allow)
      expect(seen.json).toMatchObject({ message: `This path supports ${allow}, not ${method}.` })
    }
  })

  it('are 404 with the intended path, and 401 without a key', async () => {
    const sandbox = await openSandbox()
    for (const [target, hint] of [
      ['/v1/pet', ' Did you mean /v1/pets?'],
      ['/v1/pet/7', ' Did you mean /v1/pets/7?'],
      ['/v1/store/order?limit=1', ' Did you mean /v1/store/orders?'],
      ['/v1/pets/', ' Did you mean /v1/pets?'],
      ['/v1/pets/7/', ' Did you mean /v1/pets/7?'],
      ['/v1/', ''],
    ] as const) {
      const message = `The requested resource could not be found.${hint}`
      const expected = { status: 404, json: { code: 'not_found', message, status: 404 } }
      expect(await sandbox.call(target)).toMatchObject(expected)
      expect(await sandbox.call(target, { key: null })).toMatchObject({ status: 401 })
    }
  })

  it('are 404 outside of the base path, with a hint, with and without a key', async () => {
    const sandbox = await openSandbox()
    for (const [path, hint] of [
      ['/pets/1', '/v1. Did you mean /v1/pets/1?'],
      ['/', '/v1.'],
      ['/v1x/pets', '/v1.'],
    ] as const)
      for (const key of ['sandbox', null])
        expect(await sandbox.call(path, { key })).toMatchObject({
          status: 404,
          json: { message: `The requested resource could not be found. The service is under ${hint}` },
        })
  })

  it('are under another base path where asked for', async () => {
    const sandbox = await openSandbox({ basePath: '/store-api/v3' })
    const seen = await sandbox.call('/store-api/v3/pets/1')
    expect(seen.status).toBe(200)
    expect(seen.headers.get('link')).toMatch(/^<\/store-api\/v3\/pets/)
    expect(await sandbox.call('/v1/pets')).toMatchObject({ status: 404 })
  })
})

it.each(transports)('X-Sandbox-Reason can be disabled, %s', async (_name, openSandbox) => {
  const sandbox = await openSandbox({ reason: false })
  expect(await sandbox.get('/pets', 'sandbox-limited')).toMatchObject({ status: 429, reason: undefined })
})

describe.each(transports)('Prefer: code=, %s', (_name, openSandbox) => {
  it('forces a documented status, and changes nothing', async () => {
    const sandbox = await openSandbox()
    for (const [method, path, status, code] of [
      ['GET', '/pets', 200, undefined],
      ['POST', '/pets', 201, undefined],
      ['GET', '/pets', 400, 'invalid_request'],
      ['GET', '/pets', 401, 'invalid_api_key'],
      ['GET', '/pets/1', 404, 'not_found'],
      ['GET', '/pets', 429, 'rate_limit_exceeded'],
      ['GET', '/pets', 503, 'simulated_fault'],
    ] as const) {
      const seen = await sandbox.call(`/v1${path}`, { method, headers: { prefer: `code=${status}` } })
      expect(seen).toMatchObject({ status, code, reason: 'forced', remaining: 60 })
      expect(seen.headers.get('preference-applied')).toBe(`code=${status}`)
      expect(seen.retryAfter !== undefined).toBe(status === 429)
    }
    expect(await sandbox.get('/pets/60')).toMatchObject({ status: 404 })
    const refused = await sandbox.call('/v1/pets', { method: 'GET', headers: { prefer: 'code=400' } })
    // Not the example of another mistake.
    expect(refused.json).toMatchObject({ message: 'The request breaks the contract.' })
  })

  it('refuses any other code, naming those allowed', async () => {
    const sandbox = await openSandbox()
    for (const code of ['418', '201', '', '4290', 'abc', '2']) {
      const seen = await sandbox.call('/v1/pets', { headers: { prefer: `code=${code}` } })
      expect(seen).toMatchObject({ status: 400, code: 'invalid_request' })
      expect(seen.json).toMatchObject({ message: expect.stringMatching(/200, 400, 401, 429, 500, 503/) })
    }
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
  const ALLOWED = 'Authorization, Content-Type, Prefer'
  const preflight = (origin: string, names?: string) => ({
    method: 'OPTIONS',
    key: null,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      ...(names === undefined ? {} : { 'access-control-request-headers': names }),
    },
  })

  it('responds to a preflight without key, quota or log', async () => {
    const sandbox = await openSandbox({ latency: '10s', fault: '*:500' })
    const { status, headers } = await sandbox.call('/v1/pets', preflight('http://localhost:3000'))
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(headers.get('access-control-allow-headers')).toBe(ALLOWED)
    expect([...sandbox.core.spaces.default.log]).toEqual([])
  })

  it('allows whatever header a page asks for', async () => {
    const sandbox = await openSandbox({ cors: 'http://localhost:3000' })
    const { headers } = await sandbox.call('/v1/pets', preflight('http://localhost:3000', 'x-request-id'))
    expect(headers.get('access-control-allow-headers')).toBe(`${ALLOWED}, x-request-id`)
    expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Headers')
  })

  it('warns once of each refused origin, up to a limit', async () => {
    const sandbox = await openSandbox({ cors: 'http://localhost:5173' })
    const from = (origin: string) => sandbox.call('/v1/pets', preflight(origin, 'traceparent'))
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

  it('lets pages of the allowed origins read the headers that clients need', async () => {
    const sandbox = await openSandbox()
    const { headers } = await sandbox.call('/v1/pets', { headers: { origin: 'http://localhost:3000' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toBe(
      'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Date, Deprecation, Sunset, Link, Allow, WWW-Authenticate, Preference-Applied, X-Sandbox-Reason',
    )
    const some = await openSandbox({ cors: 'http://localhost:3000' })
    const allowed = await some.call('/v1/pets', { headers: { origin: 'http://localhost:3000' } })
    const named = ['access-control-allow-origin', 'vary'].map((name) => allowed.headers.get(name))
    expect(named).toEqual(['http://localhost:3000', 'Origin'])
    const refused = await some.call('/v1/pets', { headers: { origin: 'http://evil.example' } })
    expect(refused.headers.has('access-control-allow-origin')).toBe(false)
  })

  it('can be off', async () => {
    const sandbox = await openSandbox({ cors: 'off' })
    const seen = await sandbox.call('/v1/pets', preflight('http://localhost:3000'))
    expect([seen.status, seen.headers.has('access-control-allow-origin')]).toEqual([204, false])
    expect([...sandbox.core.spaces.default.log]).toEqual([])
    expect((await sandbox.get('/pets')).headers.has('access-control-allow-origin')).toBe(false)
  })
})
