import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

const [, [, openSandbox]] = transports as [unknown, (typeof transports)[number]]

const SCHEMES = {
  key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
  app: { type: 'apiKey', in: 'header', name: 'X-App' },
  query: { type: 'apiKey', in: 'query', name: 'api_key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
  basic: { type: 'http', scheme: 'basic' },
  bearer: { type: 'http', scheme: 'bearer' },
  token: { type: 'http', scheme: 'Token' },
}
type Scheme = keyof typeof SCHEMES
type Requirement = readonly (readonly Scheme[])[]

const requirement = (all: Requirement) => all.map((one) => Object.fromEntries(one.map((name) => [name, []])))

/** A contract with an operation for each path, that requires one of these alternatives. */
function serve(paths: Readonly<Record<string, Requirement>>, options: object = {}): Promise<TestSandbox> {
  const content = { 'application/json': { schema: { type: 'object' } } }
  const responses = { 200: { description: '', content }, 401: { description: '' } }
  const operation = (one: Requirement) => ({
    get: { responses, security: requirement(one) },
  })
  const named = Object.entries(paths).map(([path, one]) => [path, operation(one)])
  const document = {
    openapi: '3.0.3',
    info: { title: 'T', version: '1' },
    paths: Object.fromEntries(named),
    components: { securitySchemes: SCHEMES },
  }
  return openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), ...options })
}

const SENT: Readonly<Record<Scheme, (key: string) => { headers?: Record<string, string>; query?: string }>> = {
  key: (key) => ({ headers: { 'X-Api-Key': key } }),
  app: (key) => ({ headers: { 'X-App': key } }),
  query: (key) => ({ query: `api_key=${key}` }),
  cookie: (key) => ({ headers: { cookie: `sid=${key}` } }),
  basic: (key) => ({ headers: { authorization: `Basic ${btoa(`user:${key}`)}` } }),
  bearer: (key) => ({ headers: { authorization: `Bearer ${key}` } }),
  token: (key) => ({ headers: { authorization: `Token ${key}` } }),
}

const send = (sandbox: TestSandbox, path: string, ...sent: readonly (readonly [Scheme, string?])[]) => {
  const parts = sent.map(([scheme, key = 'sandbox']) => SENT[scheme](key))
  const headers = Object.assign({}, ...parts.map((part) => part.headers))
  const query = parts.flatMap((part) => part.query ?? []).join('&')
  return sandbox.call(`${path}${query && `?${query}`}`, { key: null, headers })
}
const statusOf = async (...given: Parameters<typeof send>) => (await send(...given)).status

describe('a key', () => {
  it('is accepted in each scheme that the operation requires, and in no other', async () => {
    const all = Object.keys(SCHEMES) as readonly Scheme[]
    const sandbox = await serve(Object.fromEntries(all.map((scheme) => [`/${scheme}`, [[scheme]]])))
    for (const path of all)
      for (const scheme of all) {
        // A scheme of Authorization that the contract names has any name.
        const isOwn = scheme === path || (path === 'token' && (scheme === 'bearer' || scheme === 'basic'))
        expect([path, scheme, await statusOf(sandbox, `/${path}`, [scheme])]).toEqual([path, scheme, isOwn ? 200 : 401])
      }
  })

  it('may be in one of the alternatives, whatever the others hold', async () => {
    const sandbox = await serve({ '/a': [['key'], ['basic'], ['query']] })
    for (const scheme of ['key', 'basic', 'query'] as const) expect(await statusOf(sandbox, '/a', [scheme])).toBe(200)
    expect(await statusOf(sandbox, '/a', ['key', 'of-another'], ['basic'])).toBe(200)
    expect(await statusOf(sandbox, '/a', ['key', 'wrong'])).toBe(401)
  })

  it('must be in all places that one alternative names', async () => {
    const sandbox = await serve({
      '/a': [
        ['key', 'app'],
        ['cookie', 'basic'],
      ],
    })
    expect(await statusOf(sandbox, '/a', ['key'], ['app'])).toBe(200)
    expect(await statusOf(sandbox, '/a', ['key', 'my-app'], ['app'])).toBe(200)
    expect(await statusOf(sandbox, '/a', ['cookie'], ['basic'])).toBe(200)
    for (const [one, other] of [
      ['key', 'cookie'],
      ['app', 'basic'],
    ] as const)
      expect(await statusOf(sandbox, '/a', [one], [other])).toBe(401)
    const { text } = await send(sandbox, '/a', ['key'])
    expect(text).toContain('X-Api-Key: <API_KEY> and X-App: <API_KEY> or Cookie: sid=<API_KEY> and HTTP Basic')
  })

  it('is in no log, wherever the client has put it', async () => {
    const sandbox = await serve({ '/a': [['key'], ['query']], '/b': [['basic']] }, { apiKey: ['hush-hush-hush'] })
    for (const scheme of ['key', 'query', 'basic', 'cookie'] as const)
      for (const path of ['/a', '/b', '/no']) await send(sandbox, path, [scheme, 'hush-hush-hush'])
    const { json } = await sandbox.control('GET', '/requests')
    expect(JSON.stringify(json)).not.toMatch(/hush-hush|aHVzaC/)
  })

  it('is sent again where the operation requires it', async () => {
    const sandbox = await serve({ '/a': [['key', 'app']], '/b': [['query']], '/c': [['basic']] })
    await send(sandbox, '/a', ['key'], ['app'])
    await send(sandbox, '/b', ['query'])
    await send(sandbox, '/c', ['basic'])
    for (const id of [1, 2, 3])
      expect((await sandbox.control('POST', `/requests/${id}/replay`, {})).json).toMatchObject({ status: 200 })
  })
})

describe('a 401', () => {
  it('has a challenge for each scheme of the operation, and no other', async () => {
    const sandbox = await serve({
      '/basic': [['basic']],
      '/both': [['key'], ['basic']],
      '/bearer': [['bearer']],
      '/token': [['token']],
    })
    const challenge = async (path: string, ...sent: readonly (readonly [Scheme, string?])[]) =>
      (await send(sandbox, path, ...sent)).headers.get('www-authenticate')
    expect(await challenge('/basic')).toBe('Basic realm="T"')
    expect(await challenge('/basic', ['basic', 'wrong'])).toBe('Basic realm="T"')
    expect(await challenge('/both')).toBe('Basic realm="T", ApiKey realm="T"')
    expect(await challenge('/bearer', ['bearer', 'wrong'])).toBe('Bearer realm="T", error="invalid_token"')
    expect(await challenge('/token')).toBe('Token realm="T"')
    const forced = await sandbox.call('/basic', { headers: { prefer: 'code=401' } })
    expect([forced.status, forced.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="T"'])
  })

  it('does not name the bearer token that stands in for other schemes', async () => {
    const document = {
      openapi: '3.0.3',
      info: { title: 'T', version: '1' },
      security: [{ basic: [] }],
      paths: { '/a': { get: { responses: { 200: { description: '' } } } } },
      components: { securitySchemes: { basic: SCHEMES.basic } },
    }
    const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
    expect([await statusOf(sandbox, '/a', ['bearer']), await statusOf(sandbox, '/a', ['basic'])]).toEqual([200, 200])
    for (const path of ['/a', '/no'])
      expect((await send(sandbox, path)).headers.get('www-authenticate')).toBe('Basic realm="T"')
  })
})

describe('a contract without security', () => {
  it('responds with 404 and 405, whether there is a key or not', async () => {
    const sandbox = await openSandbox({
      spec: temporaryFile(
        'spec.json',
        JSON.stringify({
          ...{ openapi: '3.0.3', info: { title: 'T', version: '1' } },
          paths: { '/a': { get: { responses: { 200: { description: '' }, 401: { description: '' } } } } },
        }),
      ),
    })
    for (const key of [null, 'wrong', 'sandbox']) {
      const status = async (path: string, method = 'GET') => (await sandbox.call(path, { method, key })).status
      expect([await status('/a'), await status('/b'), await status('/a', 'PUT')]).toEqual([200, 404, 405])
    }
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({
      violations: expect.not.arrayContaining([expect.objectContaining({ rule: 'unauthenticated' })]),
    })
  })
})

describe('an operation without security that documents a 401', () => {
  const access = async (security: object) => {
    const responses = { 200: { description: '' }, 401: { description: '' } }
    const document = {
      ...{ openapi: '3.0.3', info: { title: 'T', version: '1' } },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      paths: { '/login': { post: { responses } }, '/me': { get: { responses, ...security } } },
    }
    const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
    const login = await sandbox.call('/login', { method: 'POST', key: null })
    return [login.status, (await sandbox.get('/me', null)).status]
  }

  it('needs no key if another requires one: its 401 is a wrong password', async () =>
    expect(await access({ security: [{ key: [] }] })).toEqual([200, 401]))

  it.each([{}, { security: [] }])('needs one if none does: %j', async (security) =>
    expect((await access(security))[0]).toBe(401),
  )
})

describe('the base path', () => {
  it.each([
    [undefined, ''],
    ['/', ''],
    ['/api', '/api'],
    ['/api/v2/', '/api/v2'],
  ])('may be anything: %s', async (basePath, prefix) => {
    const sandbox = await serve({ '/a': [], '/': [] }, basePath === undefined ? {} : { basePath })
    expect(await statusOf(sandbox, `${prefix}/a`)).toBe(200)
    expect(await statusOf(sandbox, `${prefix}/`)).toBe(200)
    expect((await sandbox.control('GET', '/state')).json).toMatchObject({ basePath: prefix })
  })

  it('of the root leaves the paths of the sandbox alone, and a browser the root of the contract', async () => {
    const sandbox = await serve({ '/~a': [], '/__sandbox/a': [], '/': [] })
    expect(sandbox.warnings).toEqual([
      expect.stringContaining('the sandbox has /~a itself. Use --base-path.'),
      expect.stringContaining('the sandbox has /__sandbox/a itself. Use --base-path.'),
    ])
    expect(await statusOf(sandbox, '/~a')).toBe(404)
    expect((await sandbox.call('/', { key: null, headers: { accept: 'text/html' } })).status).toBe(200)
    const moved = await serve({ '/~a': [] }, { basePath: '/v1' })
    expect([moved.warnings, await statusOf(moved, '/v1/~a')]).toEqual([[], 200])
  })
})
