import { expect, it, onTestFinished } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'

const text = { type: 'string' }
const content = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties })
const TOKENS = object({ data: object({ accessToken: text, refresh_token: text, expires_in: { type: 'integer' } }) })

interface Contract {
  readonly method?: string
  readonly response?: object
  readonly scheme?: object
  readonly path?: string
  readonly id?: string
  readonly others?: object
}

/** Of tokens issued at the frozen clock. */
const HOUR = Date.parse('2026-03-01T13:00:00Z') / 1000
const MONTH = Date.parse('2026-03-31T12:00:00Z') / 1000
const token = (n: number, end = HOUR) => `sandbox-login-${n}-${end}`

/** A sandbox with a login, and with things that need a key. */
async function opened(
  { method = 'post', response = content(TOKENS), scheme, path = '/login', id = 'login', others = {} }: Contract = {},
  options: SandboxOptions = {},
) {
  const items = object({ id: { type: 'integer' }, name: text })
  const document = {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    security: [{ key: [] }],
    components: { securitySchemes: { key: scheme ?? { type: 'http', scheme: 'bearer' } } },
    paths: {
      ...others,
      [path]: {
        ...Object(Object(others)[path]),
        [method]: { operationId: id, security: [], responses: { 200: response } },
      },
      '/things': {
        get: { operationId: 'list', responses: { 200: content({ type: 'array', items }) } },
        post: { operationId: 'add', requestBody: content(items), responses: { 201: content(items) } },
      },
    },
  }
  const spec = temporaryFile('spec.json', JSON.stringify(document))
  const sandbox = await createSandbox({ seed: 1, spec, now: '2026-03-01T12:00:00Z', freeze: true, ...options })
  onTestFinished(() => sandbox.close())
  const login = async ({ baseUrl } = sandbox.space('')) => {
    const seen = await sandbox.fetch(baseUrl + path, { method: method.toUpperCase(), headers: { accept: '*/*' } })
    const [cookie, authorization, own] = ['set-cookie', 'authorization', 'x-auth-token'].map((name) =>
      seen.headers.get(name),
    )
    return { cookie, authorization, own, body: JSON.parse((await seen.text()) || 'null') }
  }
  const list = async (headers: Readonly<Record<string, string>>, { baseUrl } = sandbox.space('')) =>
    (await sandbox.fetch(`${baseUrl}/things`, { headers })).status
  const listAs = (token: string, space = sandbox.space('')) => list({ authorization: `Bearer ${token}` }, space)
  return { sandbox, login, list, listAs }
}

it('a login says "bearer" where its type of token has no example', async () => {
  const response = (token_type: object) => content(object({ access_token: text, token_type }))
  const typeOf = async (schema: object) =>
    (await (await opened({ response: response(schema) })).login()).body.token_type
  expect([await typeOf(text), await typeOf({ enum: ['Bearer'] }), await typeOf({ ...text, example: 'JWT' })]).toEqual([
    'bearer',
    'Bearer',
    'JWT',
  ])
})

// @source docs/spec.md, "Logins"
it('a login has a token that works in its space, until logins are expired', async () => {
  const { sandbox, login, listAs } = await opened()
  const [first, second] = [(await login()).body.data, (await login()).body.data]
  expect(first).toEqual({ accessToken: token(1), refresh_token: token(1, MONTH), expires_in: 3600 })
  expect(second.accessToken).toBe(token(2))
  expect([await listAs(token(1)), await listAs(token(2))]).toEqual([200, 200])
  for (const wrong of [token(3), token(0), 'sandbox-login-1', `${token(1)}-a`])
    expect(await listAs(wrong), wrong).toBe(401)
  expect((await sandbox.requests({ operation: 'list' })).slice(0, 2)).toMatchObject([
    { key: 'sandbox' },
    { key: 'sandbox' },
  ])
  const space = sandbox.space('shop')
  await space.reset()
  const { accessToken } = (await login(space)).body.data
  expect([await listAs(accessToken, space), await listAs(accessToken), await listAs(token(1), space)]).toEqual([
    200, 401, 401,
  ])
  await sandbox.snapshots.save('open')
  expect(await sandbox.logins.expire()).toEqual({ issued: 2 })
  expect([await listAs(token(2)), await listAs(accessToken, space)]).toEqual([401, 200])
  expect((await login()).body.data.accessToken).toBe(token(3))
  expect(await listAs(token(3))).toBe(200)
  await sandbox.snapshots.restore('open')
  expect([await listAs(token(2)), await listAs(token(3))]).toEqual([200, 401])
  await sandbox.reset()
  expect(await listAs(token(1))).toBe(401)
  const { accessToken: next } = (await login()).body.data
  expect([await listAs(next), await listAs(token(1))]).toEqual([200, 401])
})

it('a token is a JWT where the contract has one', async () => {
  const pattern = '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]*$'
  const { sandbox, login, listAs } = await opened({
    response: content(object({ token: { ...text, pattern }, id_token: text })),
  })
  const { token: jwt, id_token } = (await login()).body
  expect(jwt).toBe(id_token)
  const [header, payload, signature] = jwt.split('.').map((part: string) => Buffer.from(part, 'base64url').toString())
  expect(JSON.parse(header)).toEqual({ alg: 'none', typ: 'JWT' })
  expect(JSON.parse(payload)).toEqual({ sub: 'sandbox', n: 1, exp: HOUR })
  expect(signature).toBe('')
  expect([await listAs(jwt), await listAs(`${jwt}x`), await listAs(jwt.replace(/\.$/, ''))]).toEqual([200, 401, 401])
  await sandbox.clock.advance('59m')
  expect(await listAs(jwt)).toBe(200)
  await sandbox.clock.advance('1m')
  expect(await listAs(jwt)).toBe(401)
})

it('a token is a JWT where the scheme says so', async () => {
  const { login, listAs } = await opened({ scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } })
  const { accessToken, refresh_token } = (await login()).body.data
  const ends = [accessToken, refresh_token].map((one: string) => JSON.parse(atob(one.split('.')[1] ?? '')).exp)
  expect(ends).toEqual([HOUR, MONTH])
  expect(await listAs(accessToken)).toBe(200)
})

it('a token ends by the clock, after the hour or the example of expires_in', async () => {
  const { sandbox, login, listAs } = await opened()
  await login()
  await sandbox.clock.advance('59m')
  expect(await listAs(token(1))).toBe(200)
  await sandbox.clock.advance('1m')
  expect([await listAs(token(1)), await listAs(token(1, MONTH))]).toEqual([401, 200])
  const example = { expires_in: { type: 'integer', example: 900 } }
  const short = await opened({ response: content(object({ access_token: text, ...example })) })
  expect((await short.login()).body).toEqual({ access_token: token(1, HOUR - 2700), expires_in: 900 })
})

it.each(['access', 'key', 'jwtToken', 'accessJwt', 'auth_token'])('a login has its token as %s', async (name) => {
  const { login, listAs } = await opened({ response: content(object({ [name]: text })) })
  const issued = (await login()).body[name]
  expect(issued).not.toBe('string')
  expect(await listAs(issued)).toBe(200)
})

it('a login may be a bare text, but no other text is one', async () => {
  const { login, listAs } = await opened({ response: content(text) })
  expect((await login()).body).toBe(token(1))
  expect(await listAs(token(1))).toBe(200)
  const other = await opened({ response: content(text), path: '/ping', id: 'ping' })
  expect((await other.login()).body).not.toContain('sandbox-login')
  const pair = await opened({ response: content(object({ access: text, key: text })), path: '/door', id: 'door' })
  expect((await pair.login()).body).toEqual({ access: 'string', key: 'string' })
})

it('a login has JSON where the contract lists text first', async () => {
  const schema = object({ token: text })
  const json = { schema }
  const response = { description: '', content: { 'text/plain': { schema }, 'application/json': json } }
  const { login, listAs } = await opened({ response })
  expect((await login()).body).toEqual({ token: token(1) })
  expect(await listAs(token(1))).toBe(200)
})

it('a login has its token in the header Authorization where the contract has one', async () => {
  const headers = { Authorization: { schema: text } }
  const { login, list } = await opened({ response: { ...content(object({ id: { type: 'integer' } })), headers } })
  const authorization = (await login()).authorization ?? ''
  expect(authorization).toBe(`Bearer ${token(1)}`)
  expect(await list({ authorization })).toBe(200)
})

it('a login has its token in the header that the contract has for keys', async () => {
  const headers = { 'X-Auth-Token': { schema: text } }
  const scheme = { type: 'apiKey', in: 'header', name: 'X-Auth-Token' }
  const { sandbox, login, list } = await opened({ scheme, response: { description: '', headers } })
  expect((await login()).own).toBe(token(1))
  expect(await list({ 'x-auth-token': token(1) })).toBe(200)
  const { message } = JSON.parse(await (await sandbox.fetch(`${sandbox.baseUrl}/things`)).text())
  expect(message).toBe(
    'No API key was sent. Send one as: X-Auth-Token: <API_KEY>. Send the token of POST /login or the key sandbox.',
  )
})

it('a login ends when its token does', async () => {
  const instant = { ...text, format: 'date-time' }
  const epoch = { type: 'integer', example: 1577836800 }
  const schema = object({
    token: text,
    expiresAt: instant,
    expire: { ...text, example: '2022-01-01T00:00:00Z' },
    refreshTokenExpiration: instant,
    expires_on: epoch,
    expirationTime: { ...epoch, example: 1577836800000 },
    createdAt: { ...instant, example: '2022-01-01T00:00:00Z' },
  })
  const { login } = await opened({ response: content(schema) })
  expect((await login()).body).toEqual({
    token: token(1),
    expiresAt: '2026-03-01T13:00:00.000Z',
    expire: '2026-03-01T13:00:00.000Z',
    refreshTokenExpiration: '2026-03-31T12:00:00.000Z',
    expires_on: HOUR,
    expirationTime: HOUR * 1000,
    createdAt: '2022-01-01T00:00:00Z',
  })
})

it('a 401 says what works', async () => {
  const { sandbox, login } = await opened()
  const messageFor = async (headers: Readonly<Record<string, string>>) =>
    JSON.parse(await (await sandbox.fetch(`${sandbox.baseUrl}/things`, { headers })).text()).message
  const help = 'Send the token of POST /login or the key sandbox.'
  expect(await messageFor({})).toBe(`No API key was sent. Send one as: Authorization: Bearer <API_KEY>. ${help}`)
  expect(await messageFor({ authorization: 'Bearer abc' })).toBe(`The API key is not valid. ${help}`)
  await login()
  await sandbox.clock.advance('1h')
  expect(await messageFor({ authorization: `Bearer ${token(1)}` })).toBe(`The login has ended. ${help}`)
})

it('a 401 names no login that issues no token', async () => {
  const { sandbox } = await opened({ response: content(object({ ok: { type: 'boolean' } })) })
  const { message } = JSON.parse(await (await sandbox.fetch(`${sandbox.baseUrl}/things`)).text())
  expect(message).toMatch(/ Send the key sandbox\.$/)
})

it('the token of a GET is no login, unless its name says so', async () => {
  const { login } = await opened({ method: 'get', response: content(object({ token: text })) })
  expect((await login()).body.token).not.toContain('sandbox-login')
  const callback = await opened({ method: 'get', response: content(object({ access_token: text })) })
  expect((await callback.login()).body.access_token).toBe(token(1))
})

it('a session is a cookie where the contract has one', async () => {
  const headers = { 'Set-Cookie': { schema: text } }
  const scheme = { type: 'apiKey', in: 'cookie', name: 'sid' }
  const { login, list } = await opened({
    scheme,
    response: { ...content(object({ ok: { type: 'boolean' } })), headers },
  })
  expect((await login()).cookie).toBe(`sid=${token(1)}; Path=/; HttpOnly`)
  expect([await list({ cookie: `sid=${token(1)}` }), await list({ cookie: `sid=${token(2)}` })]).toEqual([200, 401])
})

it('a wrong password is a fault, and a login that failed has no token', async () => {
  const { sandbox, login, listAs } = await opened()
  await sandbox.faults.add({ operation: 'login', status: 401, body: { detail: 'Wrong password.' }, times: 1 })
  expect((await login()).body).toEqual({ detail: 'Wrong password.' })
  expect(await listAs(token(1))).toBe(401)
  expect((await login()).body.data.accessToken).toBe(token(1))
})

it('has no token that works beyond loopback', async () => {
  const { login, listAs } = await opened({}, { host: '0.0.0.0', controlToken: 'secret' })
  expect((await login()).body.data.accessToken).not.toContain('sandbox-login')
  expect(await listAs(token(1))).toBe(401)
})

it('a sign-up that creates a user returns a token that works, and keeps none', async () => {
  const user = object({ id: { type: 'integer' }, email: text })
  const withToken = object({ id: { type: 'integer' }, email: text, token: text })
  const sent = content(object({ email: text }))
  const document = (response: object) => ({
    ...{ openapi: '3.1.0', info: { title: 'T', version: '1' }, security: [{ key: [] }] },
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/users': {
        post: { operationId: 'signUp', security: [], requestBody: sent, responses: { 201: content(response) } },
        get: { operationId: 'list', responses: { 200: content({ type: 'array', items: user }) } },
      },
    },
  })
  for (const response of [withToken, object({ user, token: text })]) {
    const spec = temporaryFile('spec.json', JSON.stringify(document(response)))
    const sandbox = await createSandbox({ seed: 1, spec })
    onTestFinished(() => sandbox.close())
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ email: 'a@b.example' })
    const created = await (await sandbox.fetch(`${sandbox.baseUrl}/users`, { method: 'POST', headers, body })).json()
    const authorization = `Bearer ${(created as { token: string }).token}`
    const listed = await sandbox.fetch(`${sandbox.baseUrl}/users`, { headers: { authorization } })
    expect([listed.status, await listed.json()]).toEqual([200, [{ id: 1, email: 'a@b.example' }]])
  }
})

it('a token that a client sends is returned as it was sent, also in an envelope', async () => {
  const device = object({ device: object({ id: { type: 'integer' }, token: text }) })
  const document = {
    ...{ openapi: '3.1.0', info: { title: 'T', version: '1' }, security: [{ key: [] }] },
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/devices': {
        post: {
          security: [],
          requestBody: content(object({ device: object({ token: text }) })),
          responses: { 201: content(device) },
        },
        get: {
          responses: { 200: content({ type: 'array', items: object({ id: { type: 'integer' }, token: text }) }) },
        },
      },
    },
  }
  const sandbox = await createSandbox({ seed: 1, spec: temporaryFile('spec.json', JSON.stringify(document)) })
  onTestFinished(() => sandbox.close())
  const body = JSON.stringify({ device: { token: 'mine' } })
  const headers = { 'content-type': 'application/json' }
  const created = await sandbox.fetch(`${sandbox.baseUrl}/devices`, { method: 'POST', headers, body })
  expect(await created.json()).toEqual({ device: { id: 1, token: 'mine' } })
})

it.each([
  [{ 401: content(object({ detail: text })) }, 401],
  [{ 400: content(object({ error: text })) }, 400],
])('a refresh token that has ended is refused: %j', async (refusals, status) => {
  const sent = { content: { 'application/json': { schema: object({ refresh_token: text }) } } }
  const refresh = { post: { security: [], requestBody: sent, responses: { 200: content(TOKENS), ...refusals } } }
  const { sandbox, login } = await opened({ others: { '/token/refresh': refresh } })
  const { data } = (await login()).body
  const renew = async (refresh_token: string) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ refresh_token })
    return (await sandbox.fetch(`${sandbox.baseUrl}/token/refresh`, { method: 'POST', headers, body })).status
  }
  await sandbox.clock.advance('719h')
  expect(await renew(data.refresh_token)).toBe(200)
  await sandbox.clock.advance('2h')
  expect([await renew(data.refresh_token), await renew('of another service')]).toEqual([status, 200])
})

// @source docs/spec.md, "Logins"
it.each([
  ['POST', '/logout', '/login'],
  ['GET', '/users/sign-out', '/login'],
  ['DELETE', '/sessions/current', '/login'],
  ['DELETE', '/v1/auth/token', '/v1/auth/token'],
  ['DELETE', '/session', '/login'],
  ['DELETE', '/sign-in', '/sign-in'],
])('a logout ends the login of its token only: %s %s', async (method, logout, path) => {
  const others = {
    [logout]: { [method.toLowerCase()]: { operationId: 'out', responses: { 204: { description: '' } } } },
    '/users/{id}/logout': { post: { operationId: 'outOther', responses: { 204: { description: '' } } } },
    '/checkout/session': { delete: { operationId: 'dialogOutcome', responses: { 204: { description: '' } } } },
  }
  const { sandbox, login, listAs } = await opened({ path, id: 'login', others })
  const send = async (way: string, to: string, n: number) => {
    const headers = { authorization: `Bearer ${token(n)}` }
    return (await sandbox.fetch(sandbox.baseUrl + to, { method: way, headers })).status
  }
  for (let n = 0; n < 3; n++) await login()
  expect([await send('POST', '/users/1/logout', 1), await send('DELETE', '/checkout/session', 1)]).toEqual([204, 204])
  expect(await listAs(token(1))).toBe(200)
  await sandbox.snapshots.save('before')
  expect([await send(method, logout, 1), await send(method, logout, 3)]).toEqual([204, 204])
  const seen = [token(1), token(1, MONTH), token(2), token(3)]
  expect(await Promise.all(seen.map((one) => listAs(one)))).toEqual([401, 401, 200, 401])
  expect(await send(method, logout, 1)).toBe(401)
  await sandbox.snapshots.restore('before')
  expect(await listAs(token(1))).toBe(200)
})

it('a logout ends the session of a cookie', async () => {
  const headers = { 'Set-Cookie': { schema: text } }
  const scheme = { type: 'apiKey', in: 'cookie', name: 'sid' }
  const others = { '/logout': { post: { responses: { 204: { description: '' } } } } }
  const { sandbox, login, list } = await opened({ scheme, response: { description: '', headers }, others })
  await login()
  const cookie = `sid=${token(1)}`
  await sandbox.fetch(`${sandbox.baseUrl}/logout`, { method: 'POST', headers: { cookie } })
  expect(await list({ cookie })).toBe(401)
})
