import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

const [, [, openSandbox]] = transports as [unknown, (typeof transports)[number]]

type Part = Readonly<Record<string, unknown>>

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: unknown, mediaType = 'application/json') => ({ content: { [mediaType]: { schema } } })
const ok = (status: number, schema?: unknown, mediaType?: string) => ({
  [status]: { description: 'd', ...(schema === undefined ? {} : json(schema, mediaType)) },
})
const query = (name: string, schema: Part, more: Part = {}) => ({ name, in: 'query', schema, ...more })
const inPath = (name: string, schema: Part = { type: 'string' }) => ({ name, in: 'path', required: true, schema })

/** The paths of a collection of things. */
function things(
  schema: Part,
  {
    list = {},
    create = {},
    item = {},
    id = 'integer',
    path = '/things',
    name = 'id',
  }: { readonly [Name in 'list' | 'create' | 'item']?: Part } & {
    readonly id?: string
    readonly path?: string
    readonly name?: string
  } = {},
): Part {
  return {
    [path]: {
      get: { operationId: 'list', responses: ok(200, { type: 'array', items: schema }), ...list },
      post: { operationId: 'create', requestBody: json(schema), responses: ok(201, schema), ...create },
    },
    [`${path}/{${name}}`]: {
      parameters: [inPath(name, { type: id })],
      get: { operationId: 'get', responses: { ...ok(200, schema), ...ok(404) } },
      ...item,
    },
  }
}

async function serve(paths: Part, more: Part = {}, options: Part = {}): Promise<TestSandbox> {
  const head = { openapi: '3.0.3', info: { title: 't', version: '1' }, servers: [{ url: '/v1' }] }
  const document = { ...head, paths, ...more }
  return await openSandbox({ spec: temporaryFile('openapi.yaml', stringify(document)), limits: '1000/min', ...options })
}

const named = (more: Part = {}) => ({
  type: 'object',
  properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' }, ...more },
})
const statuses = async (sandbox: TestSandbox, paths: readonly string[]) =>
  await Promise.all(paths.map(async (path) => (await sandbox.get(path)).status))

describe('a query', () => {
  it('has optional parameters, references and lists in any composition', async () => {
    const list = {
      parameters: [
        query('n', { anyOf: [{ type: 'integer' }, { type: 'null' }] }),
        query('size', {
          oneOf: [
            { type: 'integer', minimum: 5 },
            { type: 'string', enum: ['max'] },
          ],
        }),
        query('kind', { allOf: [ref('Kind')], default: 'a' }),
        query('tags', { anyOf: [{ type: 'array', items: ref('Kind') }, { type: 'null' }] }),
        query('flags', { type: 'array', items: { type: ['boolean', 'null'] } }, { explode: false }),
      ],
    }
    const sandbox = await serve(things(named(), { list }), {
      openapi: '3.1.0',
      components: { schemas: { Kind: { type: 'string', enum: ['a', 'b'] } } },
    })
    const right = [
      'n=3',
      'size=7',
      'size=max',
      'kind=b',
      'tags=a',
      'tags=a&tags=b',
      'flags=true,false',
      'n=9007199254740993',
    ]
    const wrong = ['n=x', 'n=1&n=2', 'size=3', 'size=min', 'kind=c', 'tags=a&tags=c', 'flags=true,yes']
    expect(
      await statuses(
        sandbox,
        right.map((one) => `/things?${one}`),
      ),
    ).toEqual(right.map(() => 200))
    expect(
      await statuses(
        sandbox,
        wrong.map((one) => `/things?${one}`),
      ),
    ).toEqual(wrong.map(() => 400))
  })

  it('is decoded by the style of each parameter', async () => {
    const integers = { type: 'array', items: { type: 'integer' }, maxItems: 3 }
    const range = { type: 'object', properties: { gt: { type: 'integer' }, in: integers }, additionalProperties: false }
    const get = {
      operationId: 'find',
      parameters: [
        query('p', integers, { style: 'pipeDelimited', explode: false }),
        query('s', integers, { style: 'spaceDelimited', explode: false }),
        query('d', range, { style: 'deepObject', explode: true }),
        query('e', { type: 'object', properties: { x: { type: 'integer' } } }),
        query('f', { type: 'object', properties: { y: { type: 'integer' } } }, { explode: false }),
        { name: 'j', in: 'query', ...json({ type: 'object', required: ['a'] }) },
      ],
      responses: ok(200, { type: 'object' }),
    }
    const sandbox = await serve({ '/find': { get } })
    const right = ['p=1%7C2', 's=1%202', 's=1+2', 'd[gt]=1&d[in][]=2&d[in][]=3', 'x=1', 'f=y,1', 'j=%7B%22a%22%3A1%7D']
    const wrong = ['p=1%7Cx', 's=1,2', 'd[gt]=x', 'd[lt]=1', 'x=y', 'f=y,z', 'j=1']
    expect(
      await statuses(
        sandbox,
        right.map((one) => `/find?${one}`),
      ),
    ).toEqual(right.map(() => 200))
    expect(
      await statuses(
        sandbox,
        wrong.map((one) => `/find?${one}`),
      ),
    ).toEqual(wrong.map(() => 400))
  })
})

it('headers, cookies and paths are decoded and checked', async () => {
  const list = { type: 'array', items: { type: 'integer' } }
  const get = (id: string, ...parameters: Part[]) => ({
    get: { operationId: id, parameters, responses: ok(200, { type: 'object' }) },
  })
  const header = { name: 'X-Ids', in: 'header', required: true, schema: list }
  const sandbox = await serve({
    '/headers': get('headers', header, { name: 'sid', in: 'cookie', required: true, schema: { type: 'integer' } }),
    '/simple/{v}': get('simple', inPath('v', list)),
    '/label/{v}': get('label', { ...inPath('v', list), style: 'label' }),
    '/matrix/{v}': get('matrix', { ...inPath('v', list), style: 'matrix', explode: true }),
  })
  const headers = async (sent: Record<string, string>) => (await sandbox.call('/v1/headers', { headers: sent })).status
  expect(await headers({ 'x-ids': '1, 2', cookie: 'a=b; sid=7' })).toBe(200)
  expect(await headers({ 'x-ids': '1, x', cookie: 'sid=7' })).toBe(400)
  expect(await headers({ cookie: 'sid=7' })).toBe(400)
  expect(await headers({ 'x-ids': '1' })).toBe(400)
  const paths = [
    '/simple/1,2',
    '/simple/1%2C2',
    '/simple/x',
    '/label/.1.2',
    '/matrix/;v=1;v=2',
    '/matrix/;v=x',
    '/simple/%zz',
  ]
  expect(await statuses(sandbox, paths)).toEqual([200, 200, 404, 200, 200, 404, 404])
})

describe('a path', () => {
  it('has literal segments before parameters, actions after them, and characters in any encoding', async () => {
    const get = (id: string, path = '') => ({
      get: {
        operationId: id,
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => inPath(name)),
        responses: { 200: { description: 'd', content: { 'text/plain': { example: id } } } },
      },
    })
    const paths = ['/a/{x}/{y}', '/a/{x}/z', '/a/{x}:stop', '/a/{x}', '/{p}/b', '/straße/{x}', '/f({x},{y})']
    const sandbox = await serve(Object.fromEntries(paths.map((path) => [path, get(path, path)])))
    const text = async (path: string) => (await sandbox.get(path)).text
    expect(await text('/a/1/z')).toBe('/a/{x}/z')
    expect(await text('/a/1/2')).toBe('/a/{x}/{y}')
    expect(await text('/a/1:stop')).toBe('/a/{x}:stop')
    expect(await text('/a/1%3Astop')).toBe('/a/{x}:stop')
    expect(await text('/a/mon,fri')).toBe('/a/{x}')
    expect(await text('/a/b')).toBe('/a/{x}')
    expect(await text('/stra%C3%9Fe/1')).toBe('/straße/{x}')
    expect(await text('/stra%c3%9fe/1')).toBe('/straße/{x}')
    expect(await text('/f(1,2)')).toBe('/f({x},{y})')
  })
})

describe('a media type', () => {
  it.each(['*/*', 'application/*', 'application/vnd.api+json', 'application/hal+json'])(
    'is JSON if it is %s',
    async (mediaType) => {
      const schema = named()
      const list = { responses: ok(200, { type: 'array', items: schema }, mediaType) }
      const create = { requestBody: json(schema, mediaType), responses: ok(201, schema, mediaType) }
      const sandbox = await serve(things(schema, { list, create }))
      const type = mediaType.includes('*') ? 'application/json' : mediaType
      const created = await sandbox.call('/v1/things', {
        method: 'POST',
        body: '{"name":"a"}',
        headers: { 'content-type': type },
      })
      expect([created.status, created.headers.get('content-type')]).toEqual([201, type])
      expect((await sandbox.get('/things/1')).text).toBe('{"id":1,"name":"a"}')
    },
  )

  it('of a form is read, with lists, objects and numbers', async () => {
    const schema = named({
      size: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
      at: { type: 'object', properties: { city: { type: 'string' } } },
    })
    const content = { 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema } }
    const sandbox = await serve(things(schema, { create: { requestBody: { content } } }))
    const send = async (body: string, type: string) =>
      (await sandbox.call('/v1/things', { method: 'POST', body, headers: { 'content-type': type } })).text
    const value = { name: 'a,b', size: 1.5, tags: ['x', 'y'], at: { city: 'Bern' } }
    const form = 'name=a,b&size=1.5&tags=x&tags=y&at[city]=Bern'
    expect(JSON.parse(await send(form, 'application/x-www-form-urlencoded'))).toEqual({ id: 1, ...value })
    const fields = [
      ['name', 'a,b'],
      ['size', '1.5'],
      ['tags', 'x'],
      ['tags', 'y'],
      ['at', '{"city":"Bern"}'],
    ]
    const parts = fields.map(
      ([name, text]) => `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
    )
    expect(JSON.parse(await send(`${parts.join('')}--X--\r\n`, 'multipart/form-data; boundary=X'))).toEqual({
      id: 2,
      ...value,
    })
    expect(await send('name=a&size=big', 'application/x-www-form-urlencoded')).toContain('size must be')
    expect(await send('{}', 'application/json')).toContain('application/x-www-form-urlencoded or multipart/form-data')
  })

  it.each([
    ['a file', { type: 'string', format: 'binary' }],
    ['a file of OpenAPI 3.1', { contentMediaType: 'application/json' }],
    ['a text', { type: 'string' }],
    ['a list of files', { type: 'array', items: { type: 'string', format: 'binary' } }, true],
  ])('in a form may have JSON in %s', async (_, file: object, isList = false) => {
    const schema = named({ file, meta: { type: 'object', properties: { a: { type: 'integer' } } } })
    const content = { 'multipart/form-data': { schema } }
    const sandbox = await serve(things(schema, { create: { requestBody: { content } } }))
    for (const text of ['{"a":1}', '[{"a":1}]', '{"a":1']) {
      const form = new FormData()
      form.set('name', 'n')
      form.set('meta', new Blob(['{"a":1}'], { type: 'application/json' }))
      form.set('file', new File([text], 'a.json', { type: 'application/json' }))
      const request = new Request('http://localhost', { method: 'POST', body: form })
      const headers = { 'content-type': request.headers.get('content-type') ?? '' }
      const seen = await sandbox.call('/v1/things', { method: 'POST', body: await request.text(), headers })
      expect([seen.status, seen.json], text).toEqual([
        201,
        { id: expect.any(Number), name: 'n', meta: { a: 1 }, file: isList ? [text] : text },
      ])
    }
  })

  it('that the sandbox does not read is refused where a record would change, with those that it reads', async () => {
    const schema = named({})
    const content = {
      'application/json': { schema },
      'application/xml': { schema },
      'application/merge-patch+shorthand': { schema },
    }
    const sandbox = await serve(things(schema, { create: { requestBody: { content } } }))
    for (const type of ['application/xml', 'application/merge-patch+shorthand']) {
      const headers = { 'content-type': type }
      const seen = await sandbox.call('/v1/things', { method: 'POST', body: '{"name":"n"}', headers })
      expect([seen.status, seen.text], type).toEqual([415, expect.stringContaining('Content-Type: application/json,')])
    }
    expect((await sandbox.get('/things')).json).toEqual([])
  })

  it('of a merge patch removes what is null, and keeps the rest, also what its schema requires', async () => {
    const text = { type: 'string' }
    const row = { type: 'object', properties: { sku: text }, required: ['sku'] }
    const place = { type: 'object', properties: { city: text, zip: text }, required: ['city', 'zip'] }
    const schema = {
      ...named({ note: text, size: { type: 'integer' }, rows: { type: 'array', items: row }, place }),
      required: ['name', 'size'],
    }
    const requestBody = {
      content: {
        'application/json': { schema },
        'application/merge-patch+json': { schema },
      },
    }
    const patch = { operationId: 'patch', requestBody, responses: ok(200, schema) }
    const sandbox = await serve(things(schema, { item: { patch } }))
    await sandbox.post('/things', { name: 'a', note: 'n', size: 1, place: { city: 'Bern', zip: '3000' } })
    const send = async (body: object, type = 'application/merge-patch+json') =>
      await sandbox.call('/v1/things/1', { method: 'PATCH', body, headers: { 'content-type': type } })
    const place2 = { city: 'Bern', zip: '3011' }
    const changed = await send({ name: null, note: null, size: 2, place: { zip: '3011' } })
    expect(changed.json).toEqual({ id: 1, name: 'a', size: 2, place: place2 })
    expect((await send({ size: 'x', rows: [{}] })).json).toMatchObject({
      message: 'patch: size must be a whole number (it is "x"); rows[0].sku is required.',
    })
    expect((await send({ name: 'b' }, 'application/json')).json).toMatchObject({ message: 'patch: size is required.' })
    expect((await sandbox.get('/things/1')).json).toEqual({ id: 1, name: 'a', size: 2, place: place2 })
  })

  it('of a merge patch must leave a valid record', async () => {
    const text = { type: 'string' }
    const place = { type: 'object', properties: { city: text, zip: text }, required: ['city', 'zip'] }
    const patch = {
      operationId: 'patch',
      requestBody: json(ref('Thing'), 'application/merge-patch+json'),
      responses: ok(200, ref('Thing')),
    }
    const components = { schemas: { Thing: named({ place: ref('Place') }), Place: place } }
    const sandbox = await serve(things(ref('Thing'), { item: { patch } }), { components })
    await sandbox.post('/things', { name: 'a' })
    const headers = { 'content-type': 'application/merge-patch+json' }
    const send = async (body: object) => await sandbox.call('/v1/things/1', { method: 'PATCH', body, headers })
    const refused = 'The responses of the contract do not allow this record: place.zip is required.'
    expect((await send({ place: { city: 'Bern' } })).json).toMatchObject({ message: refused })
    const whole = { city: 'Bern', zip: '3000' }
    expect((await send({ place: { ...whole, country: 'CH' } })).json).toEqual({ id: 1, name: 'a', place: whole })
  })
})

describe('a key', () => {
  it('is not needed where nothing, or nothing as an alternative, is required, nor without any security', async () => {
    const get = (security?: unknown, more = {}) => ({
      get: { security, responses: { ...ok(200, { type: 'object' }), ...more } },
    })
    const paths = {
      '/none': get([]),
      '/either': get([{ bearer: [] }, {}]),
      '/own': get([{ bearer: [] }]),
      '/root': get(),
    }
    const components = { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } }
    const secured = await serve(paths, { security: [{ bearer: [] }], components })
    const open = { '/open': get(), '/documented': get(undefined, ok(401)) }
    const bare = await serve(open)
    const forgotten = await serve(open, { components })
    const without = async (sandbox: TestSandbox, path: string) => (await sandbox.get(path, null)).status
    expect(await Promise.all(Object.keys(paths).map((path) => without(secured, path)))).toEqual([200, 200, 401, 401])
    expect(await Promise.all(Object.keys(open).map((path) => without(bare, path)))).toEqual([200, 200])
    expect(await Promise.all(Object.keys(open).map((path) => without(forgotten, path)))).toEqual([200, 401])
    // An unknown path needs a key if an operation does, and an unknown method if one on its path does.
    expect(await Promise.all([bare, forgotten].map((sandbox) => without(sandbox, '/no')))).toEqual([404, 401])
    const put = async (path: string) => (await forgotten.call(`/v1${path}`, { method: 'PUT', key: null })).status
    expect([await put('/open'), await put('/documented')]).toEqual([405, 401])
    expect((await secured.get('/none', null)).remaining).toBeLessThan(1000)
  })
})

it.each([
  ['a query', { type: 'apiKey', in: 'query', name: 'appid' }, '?appid=KEY', {}],
  ['a cookie', { type: 'apiKey', in: 'cookie', name: 'sid' }, '', { cookie: 'a=b; sid=KEY' }],
  ['Basic, as the user', { type: 'http', scheme: 'basic' }, '', { authorization: 'Basic S0VZOg==' }],
  ['Authorization itself', { type: 'apiKey', in: 'header', name: 'Authorization' }, '', { authorization: 'Token KEY' }],
])('a key may be in %s', async (_what, scheme, search, headers) => {
  const paths = { '/a': { get: { responses: ok(200, { type: 'object' }) } } }
  const more = { security: [{ own: [] }], components: { securitySchemes: { own: scheme } } }
  const sandbox = await serve(paths, more, { apiKey: ['KEY'] })
  const call = async (key: string) => {
    const sent = Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', key)])
    return (await sandbox.call(`/v1/a${search.replace('KEY', key)}`, { key: null, headers: Object.fromEntries(sent) }))
      .status
  }
  const wrong = 'authorization' in headers && headers.authorization.startsWith('Basic') ? [] : [await call('wrong')]
  expect([await call('KEY'), ...wrong, (await sandbox.get('/a', null)).status]).toEqual([
    200,
    ...wrong.map(() => 401),
    401,
  ])
  expect(JSON.stringify((await sandbox.control('GET', '/requests')).json)).not.toContain('appid=KEY')
})

it('a page with credentials may call a named origin, and read the headers that the contract documents', async () => {
  const responses = {
    201: { ...ok(201, named())[201], headers: { Location: { schema: { type: 'string' } }, 'X-Trace': {} } },
  }
  const origin = 'http://localhost:5173'
  const sandbox = await serve(things(named(), { create: { responses } }), {}, { cors: [origin] })
  const preflight = { origin, 'access-control-request-method': 'POST' }
  const allowed = await sandbox.call('/v1/things', { method: 'OPTIONS', headers: preflight })
  const created = await sandbox.call('/v1/things', { method: 'POST', body: {}, headers: { origin } })
  for (const { headers } of [allowed, created]) expect(headers.get('access-control-allow-credentials')).toBe('true')
  expect(created.headers.get('access-control-expose-headers')).toMatch(/, Location, X-Trace$/)
  expect(created.headers.get('location')).toMatch(/\/things\/1$/)
  const other = await sandbox.call('/v1/things', { headers: { origin: 'http://localhost:1' } })
  expect(other.headers.get('access-control-allow-credentials')).toBeNull()
})

it('a chosen id that no address can have, half of a surrogate pair, is stored, with the address that clients make of it', async () => {
  const thing = { type: 'object', required: ['code'], properties: { code: { type: 'string' } } }
  const responses = { 201: { ...ok(201, thing)[201], headers: { Location: { schema: { type: 'string' } } } } }
  const sandbox = await serve(things(thing, { id: 'string', name: 'code', create: { responses } }))
  const created = await sandbox.call('/v1/things', { method: 'POST', body: '{"code":"a\\ud800"}' })
  expect(created).toMatchObject({ status: 201, json: { code: 'a\ud800' } })
  expect(created.headers.get('location')).toMatch(/\/things\/a%EF%BF%BD$/)
})

describe('a documented error', () => {
  const error = (schema: Part) => json(schema)
  const text = { type: 'string' }

  it('has its status and its form, with the reason where it has a text', async () => {
    const nested = {
      type: 'object',
      required: ['error'],
      properties: {
        error: {
          type: 'object',
          required: ['message', 'type'],
          properties: { message: text, type: text, code: { type: 'integer' } },
        },
      },
    }
    const list = {
      type: 'object',
      properties: { errors: { type: 'array', items: { type: 'object', properties: { detail: text } } } },
    }
    const problem = {
      'application/problem+json': {
        schema: { type: 'object', properties: { title: text, status: { type: 'integer' } } },
      },
    }
    const create = {
      responses: {
        ...ok(201, named()),
        400: { description: 'd', ...error(nested) },
        401: { description: 'd', ...error(list) },
        415: { description: 'd', content: problem },
      },
    }
    const sandbox = await serve(things(named(), { create }), {
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    })
    expect((await sandbox.post('/things', '{"name":1}')).json).toEqual({
      error: { message: 'create: name must be a string (it is 1).', type: 'invalid_request', code: 400 },
    })
    expect((await sandbox.post('/things', {}, null)).json).toEqual({
      errors: [{ detail: expect.stringContaining('No API key') }],
    })
    const unsupported = await sandbox.call('/v1/things', {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    })
    expect([unsupported.headers.get('content-type'), JSON.parse(unsupported.text)]).toEqual([
      'application/problem+json',
      { title: expect.stringContaining('application/json'), status: 415 },
    ])
  })

  it('is a 422 where only that is documented, also with default', async () => {
    const detail = {
      type: 'object',
      properties: {
        detail: {
          type: 'array',
          items: { type: 'object', required: ['msg'], properties: { msg: text, loc: { type: 'array', items: text } } },
        },
      },
    }
    const create = {
      responses: { ...ok(201, named()), 422: { description: 'd', ...error(detail) }, default: { description: 'd' } },
    }
    const sandbox = await serve(things(named(), { create }))
    const { status, json: body } = await sandbox.post('/things', '{"name":1}')
    expect([status, body]).toEqual([
      422,
      { detail: [{ msg: 'name must be a string (it is 1)', loc: ['body', 'name'] }] },
    ])
  })

  it('is an invalid request if the sandbox found it so, whatever its status', async () => {
    const schema = named({ email: { type: 'string', 'x-unique': true } })
    const create = { responses: { ...ok(201, schema), ...ok(409), ...ok(422) } }
    const sandbox = await serve(things(schema, { create }))
    const status = async (body: unknown, prefer?: string) => {
      const headers = prefer === undefined ? {} : { prefer }
      return (await sandbox.call('/v1/things', { method: 'POST', body: JSON.stringify(body), headers })).status
    }
    expect([await status({ name: 1 }), await status({ email: 2 }, 'code=422')]).toEqual([422, 422])
    expect([await status({ email: 'a' }), await status({ email: 'a' })]).toEqual([201, 409])
    await sandbox.control('PUT', '/faults', [{ operation: 'create', fault: 'status', status: 422 }])
    expect(await status({ name: 'a' })).toBe(422)
    const { violations } = (await sandbox.control('GET', '/conduct')).json
    expect(violations).toMatchObject([
      { rule: 'invalid-request', count: 1, message: 'create: name must be a string (it is 1).' },
    ])
  })
})

describe('a record', () => {
  it('has decimal multiples', async () => {
    const schema = named({
      price: { type: 'number', multipleOf: 0.01 },
      rate: { type: 'number', multipleOf: 1e-7 },
      big: { type: 'integer', multipleOf: 7 },
    })
    const sandbox = await serve(things(schema))
    const send = async (body: string) => (await sandbox.post('/things', body)).status
    const right = [
      '{"price":19.99}',
      '{"price":123456789.01}',
      '{"price":-4.35}',
      '{"rate":0.0000003}',
      '{"big":9007199254740995}',
    ]
    const wrong = ['{"price":1.005}', '{"rate":0.00000035}', '{"big":9007199254740993}']
    expect(await Promise.all(right.map(send))).toEqual(right.map(() => 201))
    expect(await Promise.all(wrong.map(send))).toEqual(wrong.map(() => 400))
  })

  it('has no write-only property in any response', async () => {
    const secret = { type: 'string', writeOnly: true }
    const schema = {
      ...named({
        secret,
        login: { type: 'object', required: ['pin'], properties: { user: { type: 'string' }, pin: secret } },
        keys: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' }, pin: secret } } },
      }),
      required: ['secret'],
    }
    const sandbox = await serve(things(schema), {}, { strict: true })
    const sent = { name: 'n', secret: 's', login: { user: 'u', pin: 'p' }, keys: [{ a: 'a', pin: 'p' }] }
    const shown = { id: 1, name: 'n', login: { user: 'u' }, keys: [{ a: 'a' }] }
    expect((await sandbox.post('/things', sent)).json).toEqual(shown)
    expect((await sandbox.get('/things')).json).toEqual([shown])
    expect((await sandbox.get('/things/1')).json).toEqual(shown)
    expect((await sandbox.post('/things', { name: 'n' })).status).toBe(400)
  })

  it.each([
    ['its subtype, by a mapping', { mapping: { car: '#/components/schemas/Car' } }, 'car'],
    ['its subtype, by its name', {}, 'Car'],
  ])('keeps the properties of %s', async (_what, mapping, kind) => {
    const vehicle = {
      ...named({ kind: { type: 'string' } }),
      required: ['kind'],
      discriminator: { propertyName: 'kind', ...mapping },
    }
    const car = {
      allOf: [ref('Vehicle'), { type: 'object', required: ['doors'], properties: { doors: { type: 'integer' } } }],
    }
    const sportsCar = { allOf: [ref('Car'), { type: 'object', properties: { speed: { type: 'integer' } } }] }
    const schemas = { Vehicle: vehicle, Car: car, SportsCar: sportsCar }
    const sandbox = await serve(things(ref('Vehicle')), { components: { schemas } }, { strict: true })
    expect((await sandbox.post('/things', { kind, doors: 4 })).json).toEqual({ id: 1, kind, doors: 4 })
    expect((await sandbox.post('/things', { kind: 'SportsCar', doors: 2, speed: 300 })).json).toMatchObject({
      speed: 300,
    })
    expect((await sandbox.post('/things', { kind })).text).toContain('doors is required')
    expect((await sandbox.post('/things', { kind, doors: 'x' })).status).toBe(400)
    expect((await sandbox.post('/things', { kind: 'bike' })).status).toBe(201)
  })

  it.each([
    ['by a mapping', { type: 'string' }, { cat: ref('Cat').$ref, dog: 'Dog' }, ['cat', 'dog']],
    ['by a constant', undefined, {}, [true, 2]],
    ['by its name', { type: 'string' }, {}, ['Cat', 'Dog']],
  ])('is the alternative that a discriminator names %s', async (how, common, mapping, [cat, dog]) => {
    const of = (kind: unknown, name: string) => ({
      allOf: [
        ref('Pet'),
        {
          type: 'object',
          required: [name],
          properties: { [name]: { type: 'integer' }, ...(common === undefined && { kind: { const: kind } }) },
        },
      ],
    })
    const union = { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind', mapping } }
    const pet = { ...named({ kind: common ?? {} }), required: ['kind'] }
    const schemas = { Pet: pet, Cat: of(cat, 'lives'), Dog: of(dog, 'legs'), Any: union }
    const sandbox = await serve(things(ref('Any')), { openapi: '3.1.0', components: { schemas } }, { strict: true })
    const problem = async (body: object) => {
      const { status, json: error } = await sandbox.post('/things', body)
      return status === 201 ? status : Reflect.get(Object(error), 'message')
    }
    expect(await problem({ kind: cat, lives: 9 })).toBe(201)
    expect(await problem({ kind: dog, legs: 4, lives: 'x' })).toBe(201)
    expect(await problem({ kind: cat })).toBe('create: lives is required.')
    expect(await problem({ kind: dog, lives: 9 })).toBe('create: legs is required.')
    if (how === 'by a mapping') {
      expect(await problem({ kind: 'bird', lives: 9 })).toBe('create: kind must be one of cat, dog (it is "bird").')
      expect(await problem({ lives: 9 })).toBe('create: kind is required.')
    } else
      expect(await problem({ kind: 'bird', lives: 9 })).toEqual(common ? 201 : expect.stringContaining('kind must'))
  })

  it.each([
    ['by a mapping', { cat: ref('Cat').$ref, dog: ref('Dog').$ref }, {}, {}],
    ['by constants', undefined, { const: 'cat' }, { const: 'dog' }],
  ])('that is one of several %s is generated, and its own properties are changed', async (_how, mapping, cat, dog) => {
    const own = (kind: Part, name: string) => ({
      allOf: [
        ref('Pet'),
        { type: 'object', required: [name], properties: { kind, [name]: { type: 'integer' }, [`${name}At`]: {} } },
      ],
    })
    const any = { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind', mapping } }
    const pet = { ...named({ kind: { type: 'string' } }), required: ['id', 'kind'] }
    const schemas = { Pet: pet, Cat: own(cat, 'lives'), Dog: own(dog, 'legs'), Any: any }
    const sent = { type: 'object', properties: { lives: { type: 'integer' } } }
    const item = { patch: { operationId: 'change', requestBody: json(sent), responses: ok(200, ref('Any')) } }
    const mocked = { '/any': { get: { operationId: 'any', responses: ok(200, ref('Any')) } } }
    const sandbox = await serve(
      { ...things(ref('Any'), { item }), ...mocked },
      { openapi: '3.1.0', components: { schemas } },
      { strict: true, seed: 1, generate: 'things=20' },
    )
    const made = (await sandbox.get('/things?limit=100')).json as readonly Record<string, unknown>[]
    expect(new Set(made.map(({ kind }) => kind))).toEqual(new Set(['cat', 'dog']))
    for (const { kind, lives, legs } of made)
      expect([typeof lives, typeof legs]).toEqual(kind === 'cat' ? ['number', 'undefined'] : ['undefined', 'number'])
    expect((await sandbox.get('/any')).json).toMatchObject({ kind: 'cat', lives: expect.any(Number) })
    const { id } = made.find(({ kind }) => kind === 'cat') ?? {}
    const changed = await sandbox.call(`/v1/things/${id}`, { method: 'PATCH', body: { lives: 3 } })
    expect(changed.json).toMatchObject({ id, kind: 'cat', lives: 3 })
  })

  it.each([
    ['additionalProperties', { additionalProperties: { type: 'integer' } }],
    ['patternProperties', { patternProperties: { '^x-': { type: 'integer' } } }],
  ])('keeps what %s allows', async (_what, more) => {
    const sandbox = await serve(things({ ...named(), ...more }), { openapi: '3.1.0' })
    expect((await sandbox.post('/things', { name: 'a', 'x-size': 1 })).json).toEqual({ id: 1, name: 'a', 'x-size': 1 })
    expect((await sandbox.post('/things', { 'x-size': 'big' })).status).toBe(400)
  })

  it('has siblings of references only in OpenAPI 3.1', async () => {
    const schemas = { Money: { type: 'object', properties: { value: { type: 'number' } } } }
    const schema = named({ rate: { ...ref('Money'), type: 'number', nullable: true } })
    const sandbox = await serve(things(schema), { components: { schemas } })
    expect((await sandbox.post('/things', { rate: { value: 2 } })).status).toBe(201)
    expect((await sandbox.post('/things', { rate: null })).status).toBe(201)
    expect((await sandbox.post('/things', { rate: 2 })).status).toBe(400)
    const newer = await serve(things(named({ rate: { ...ref('Money'), required: ['value'] } })), {
      openapi: '3.1.0',
      components: { schemas },
    })
    expect((await newer.post('/things', { rate: {} })).status).toBe(400)
  })

  it('has its instants in the form that the contract describes', async () => {
    const integer = { type: 'integer' }
    const times = {
      created: { ...integer, format: 'unix-time' },
      updated_at: { ...integer, description: 'Milliseconds since the Unix epoch' },
      created_by: integer,
    }
    const sandbox = await serve(things(named(times)), {}, { now: '2026-03-01T12:00:00Z', freeze: true })
    expect((await sandbox.post('/things', {})).json).toEqual({
      id: 1,
      created: 1_772_366_400,
      updated_at: 1_772_366_400_000,
    })
  })

  it('has formats that errors name', async () => {
    const formats = { day: 'date', at: 'date-time', key: 'uuid', link: 'uri' }
    const properties = Object.entries(formats).map(([name, format]) => [name, { type: 'string', format }])
    const sandbox = await serve(things(named(Object.fromEntries(properties))))
    const { text } = await sandbox.post('/things', { day: '2026-13-01', at: 'noon', key: '1', link: 'x y' })
    for (const part of [
      'day must be a date ',
      'at must be a date with time',
      'key must be a UUID',
      'link must be a URI',
    ])
      expect(text).toContain(part)
  })
})

describe('an id', () => {
  const string = { type: 'string', readOnly: true }

  it.each([
    ['an ObjectId', '^[0-9a-f]{24}$'],
    ['a ULID', '^[0-7][0-9A-HJKMNP-TV-Z]{25}$'],
    ['a nanoid with a prefix', '^usr_[A-Za-z0-9_-]{21}$'],
    ['an open text', '^[A-Z]+$'],
  ])('is made by its pattern, for %s', async (_what, pattern) => {
    const schema = { type: 'object', properties: { id: { ...string, pattern }, name: { type: 'string' } } }
    const sandbox = await serve(things(schema, { id: 'string' }), {}, { strict: true })
    const ids = []
    for (const name of ['a', 'b', 'c']) {
      const { json: record } = await sandbox.post('/things', { name })
      const { id } = record as { id: string }
      expect(id).toMatch(new RegExp(pattern))
      expect((await sandbox.get(`/things/${id}`)).json).toEqual({ id, name })
      ids.push(id)
    }
    expect(new Set(ids).size).toBe(3)
  })

  it.each([
    ['/items', 'id', 'itemId'],
    ['/categories', 'id', 'category_id'],
    ['/invoices', 'id', 'InvoiceID'],
    ['/gift_cards', 'gift_card_token', 'token'],
  ])('of %s/{%s} is %s', async (path, name, property) => {
    const schema = {
      type: 'object',
      properties: { card_token: { type: 'string' }, [property]: { ...string, format: 'uuid' } },
    }
    const sandbox = await serve(things(schema, { path, name, id: 'string' }))
    const { json: record } = await sandbox.post(path, { card_token: 'mine' })
    expect(record).toMatchObject({ card_token: 'mine', [property]: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect((await sandbox.get(`${path}/${Reflect.get(Object(record), property)}`)).json).toEqual(record)
  })

  it('that does not exist is created by a PUT that documents a 201', async () => {
    const schema = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } }
    const put = { operationId: 'put', requestBody: json(schema), responses: { ...ok(200, schema), ...ok(201, schema) } }
    const sandbox = await serve(things(schema, { item: { put }, id: 'string' }))
    const send = (name: string) => sandbox.call('/v1/things/mine', { method: 'PUT', body: { name } })
    expect(await send('a')).toMatchObject({ status: 201, json: { id: 'mine', name: 'a' } })
    expect(await send('b')).toMatchObject({ status: 200, json: { id: 'mine', name: 'b' } })
    expect((await sandbox.get('/things')).json).toEqual([{ id: 'mine', name: 'b' }])
  })
})

describe('a list', () => {
  const integer = (more: Part = {}) => ({ type: 'integer', ...more })
  const pages = (properties: Part, items: string) => ({
    responses: ok(200, { type: 'object', properties: { [items]: { type: 'array', items: named() }, ...properties } }),
  })
  const filled = async (list: Part) => {
    const sandbox = await serve(things(named(), { list }))
    for (const name of ['b', 'c', 'a']) await sandbox.post('/things', { name })
    return async (search: string) => {
      const { status, json: body } = await sandbox.get(`/things?${search}`)
      return status === 200 ? body : status
    }
  }
  const names = (value: unknown, key: string) =>
    (Reflect.get(Object(value), key) as { name: string }[]).map(({ name }) => name)

  it('has the pages and the order of Spring', async () => {
    const parameters = [
      query('page', integer({ minimum: 0, default: 0 })),
      query('size', integer({ default: 20 })),
      query('sort', { type: 'array', items: { type: 'string' } }),
    ]
    const boolean = { type: 'boolean' }
    const properties = {
      totalElements: integer(),
      totalPages: integer(),
      size: integer(),
      number: integer(),
      numberOfElements: integer(),
      first: boolean,
      last: boolean,
      empty: boolean,
    }
    const get = await filled({ parameters, ...pages(properties, 'content') })
    const first = await get('page=0&size=2&sort=name,desc')
    expect(first).toMatchObject({
      totalElements: 3,
      totalPages: 2,
      size: 2,
      number: 0,
      numberOfElements: 2,
      first: true,
      last: false,
      empty: false,
    })
    expect(names(first, 'content')).toEqual(['c', 'b'])
    expect(await get('page=1&size=2&sort=name&sort=desc')).toMatchObject({
      number: 1,
      numberOfElements: 1,
      first: false,
      last: true,
    })
    expect(await get('page=2&size=2')).toMatchObject({ content: [], empty: true })
  })

  it('has the pages of JSON:API, as an object or as names', async () => {
    const page = { type: 'object', properties: { number: integer(), size: integer() } }
    for (const parameters of [
      [query('page', page, { style: 'deepObject' })],
      [query('page[number]', integer()), query('page[size]', integer())],
    ]) {
      const get = await filled({ parameters: [...parameters, query('sort', { type: 'string' })], ...pages({}, 'data') })
      expect(names(await get('page[number]=2&page[size]=2&sort=-name'), 'data')).toEqual(['a'])
    }
  })

  it('has skip and take, and refuses a cursor that is not its own', async () => {
    const get = await filled({
      parameters: [query('skip', integer()), query('take', integer())],
      ...pages({}, 'items'),
    })
    expect(names(await get('skip=1&take=1'), 'items')).toEqual(['c'])
    const by = await filled({
      parameters: [query('cursor', { type: 'string' }), query('limit', integer())],
      ...pages({ next_cursor: { type: 'string' } }, 'items'),
    })
    const { next_cursor: next } = (await by('limit=1')) as { next_cursor: string }
    expect(names(await by(`limit=1&cursor=${next}`), 'items')).toEqual(['c'])
    expect([await by('cursor=broken'), names(await by('cursor='), 'items').length]).toEqual([400, 3])
  })

  it('begins and ends with whole records, where its parameters may be fractions', async () => {
    const number = { type: 'number' }
    const get = async (names: readonly string[], search: string) =>
      await (await filled({ parameters: names.map((name) => query(name, number)) }))(search)
    const ids = async (...given: Parameters<typeof get>) => ((await get(...given)) as Part[]).map(({ name }) => name)
    expect([
      await ids(['limit', 'offset'], 'offset=0.5&limit=1.5'),
      await ids(['limit', 'page'], 'page=2.5&limit=1.5'),
      await ids(['limit'], 'limit=2.5'),
    ]).toEqual([['a'], ['c'], ['a', 'c']])
  })

  it('goes on where a record was that its filters do not show any more', async () => {
    const state = { type: 'string', enum: ['open', 'closed'] }
    const text = ['cursor', 'ending_before', 'sort', 'order'].map((name) => query(name, { type: 'string' }))
    const parameters = [...text, query('limit', integer()), query('state', state)]
    const sandbox = await serve(things(named({ state }), { list: { parameters, ...pages({}, 'items') } }))
    for (const name of ['a', 'b', 'c', 'd', 'e']) await sandbox.post('/things', { name, state: 'open' })
    await sandbox.control('PATCH', '/resources/things/3', { state: 'closed' })
    const shown = async (search: string) =>
      names((await sandbox.get(`/things?state=open&${search}`)).json, 'items').join('')
    expect([
      await shown('cursor=3&order=asc'),
      await shown('cursor=3&order=desc'),
      await shown('cursor=3&sort=name'),
      await shown('cursor=3&sort=-name'),
      await shown('ending_before=3&order=asc'),
      await shown('ending_before=3&order=desc'),
      await shown('ending_before=3&sort=-name&limit=1'),
    ]).toEqual(['de', 'ba', 'de', 'ba', 'ab', 'ed', 'd'])
  })

  it('takes a value that no record can have for no filter', async () => {
    const states = { type: 'string', enum: ['open', 'closed'] }
    const parameters = [
      query('state', { ...states, enum: [...states.enum, 'all'], default: 'open' }),
      query('done', { type: 'string' }),
    ]
    const schema = named({ state: states, done: { type: 'boolean' } })
    const sandbox = await serve(things(schema, { list: { parameters } }))
    for (const state of states.enum) await sandbox.post('/things', { state, done: true })
    const count = async (search: string) => ((await sandbox.get(`/things?${search}`)).json as unknown[]).length
    expect([
      await count(''),
      await count('state=closed'),
      await count('state=all'),
      await count('state=all&done=any'),
    ]).toEqual([1, 1, 2, 2])
  })
})

it('records below a removed one are gone on all paths, at any depth', async () => {
  const team = named({ orgId: { type: 'integer' } })
  const post = (id: string, schema: Part) => ({
    post: { operationId: id, requestBody: json(schema), responses: ok(201, schema) },
  })
  const get = (id: string, schema: Part) => ({
    get: { operationId: id, responses: { ...ok(200, schema), ...ok(404) } },
  })
  const org = { type: 'object', properties: { id: { type: 'integer', readOnly: true } } }
  const sandbox = await serve(
    {
      '/orgs': post('addOrg', org),
      '/orgs/{orgId}': {
        parameters: [inPath('orgId', { type: 'integer' })],
        ...get('getOrg', org),
        delete: { operationId: 'removeOrg', responses: ok(204) },
      },
      '/orgs/{orgId}/teams': { parameters: [inPath('orgId', { type: 'integer' })], ...post('addTeam', ref('Team')) },
      '/teams/{teamId}': { parameters: [inPath('teamId', { type: 'integer' })], ...get('getTeam', ref('Team')) },
      '/teams/{teamId}/members': { parameters: [inPath('teamId', { type: 'integer' })], ...post('addMember', named()) },
      '/teams/{teamId}/members/{id}': {
        parameters: [inPath('teamId', { type: 'integer' }), inPath('id', { type: 'integer' })],
        ...get('getMember', named()),
      },
    },
    { components: { schemas: { Team: team } } },
  )
  for (const path of ['/orgs', '/orgs', '/orgs/1/teams', '/orgs/2/teams', '/teams/1/members'])
    await sandbox.post(path, {})
  const paths = ['/teams/1', '/teams/2', '/teams/1/members/1']
  expect(await statuses(sandbox, paths)).toEqual([200, 200, 200])
  await sandbox.call('/v1/orgs/1', { method: 'DELETE' })
  expect(await statuses(sandbox, paths)).toEqual([404, 200, 404])
})

it('of a chain of folders in folders, all below a removed one are gone', async () => {
  const folder = named({ parentId: { type: 'integer' } })
  const parent = inPath('parentId', { type: 'integer' })
  const remove = { delete: { operationId: 'remove', responses: ok(204) } }
  const paths = things(ref('Folder'), { path: '/folders', item: remove })
  const inside = {
    parameters: [parent],
    get: { operationId: 'inside', responses: ok(200, { type: 'array', items: ref('Folder') }) },
  }
  const sandbox = await serve(
    { ...paths, '/folders/{parentId}/folders': inside },
    { components: { schemas: { Folder: folder } } },
    { limits: '100000/min' },
  )
  for (let id = 1; id <= 6000; id++) await sandbox.post('/folders', id === 1 ? {} : { parentId: id - 1 })
  await sandbox.post('/folders', { parentId: 1 })
  expect((await sandbox.call('/v1/folders/2', { method: 'DELETE' })).status).toBe(204)
  expect((await sandbox.get('/folders')).json).toEqual([{ id: 6001, parentId: 1 }, { id: 1 }])
})

describe('a document', () => {
  it('of Swagger 2.0 is served', async () => {
    const item = { type: 'object', properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' } } }
    const schema = { $ref: '#/definitions/Item' }
    const document = {
      swagger: 2.0,
      info: { title: 't', version: 1.0 },
      basePath: '/api',
      consumes: ['application/json'],
      produces: ['application/json'],
      paths: {
        '/items': {
          get: {
            operationId: 'list',
            parameters: [
              { name: 'ids', in: 'query', type: 'array', items: { type: 'integer' }, collectionFormat: 'pipes' },
            ],
            responses: { 200: { description: 'd', schema: { type: 'array', items: schema } } },
          },
          post: {
            operationId: 'create',
            parameters: [{ name: 'body', in: 'body', schema }],
            responses: { 201: { description: 'd', schema } },
          },
        },
        '/items/{id}': {
          get: {
            operationId: 'get',
            parameters: [{ name: 'id', in: 'path', required: true, type: 'integer' }],
            responses: { 200: { description: 'd', schema } },
          },
        },
      },
      definitions: { Item: item },
    }
    const sandbox = await openSandbox({ spec: temporaryFile('swagger.json', JSON.stringify(document)) })
    const call = async (path: string, body?: unknown) =>
      await sandbox.call(`/api${path}`, body === undefined ? {} : { method: 'POST', body })
    expect(await call('/items', { name: 'a' })).toMatchObject({ status: 201, json: { id: 1, name: 'a' } })
    expect([(await call('/items?ids=1%7C2')).status, (await call('/items?ids=x')).status]).toEqual([200, 400])
    expect(sandbox.warnings).toContainEqual(expect.stringContaining('info.version is a number'))
  })

  it('may have a byte order mark, references in extensions and examples, and parts in files beside it', async () => {
    const file = temporaryFile(
      'openapi.yaml',
      `\ufeff${stringify({
        openapi: '3.0.3',
        info: { title: 't', version: '1' },
        paths: {
          '/things': { $ref: 'paths/things.yaml' },
          '/note': {
            get: { responses: ok(200, { type: 'object', 'x-of': { $ref: 'none.yaml' }, example: { $ref: '../x' } }) },
          },
        },
        components: { 'x-policy': { $ref: 'http://localhost/x' }, schemas: { Name: { type: 'string', maxLength: 3 } } },
      })}`,
    )
    mkdirSync(join(dirname(file), 'paths'))
    const { '/things': paths } = things({ $ref: '../schemas.yaml#/Thing' })
    writeFileSync(join(dirname(file), 'paths/things.yaml'), stringify(paths))
    const thing = {
      ...named({
        name: { $ref: 'openapi.yaml#/components/schemas/Name' },
        parts: { type: 'array', items: { $ref: '#/Thing' } },
      }),
    }
    writeFileSync(join(dirname(file), 'schemas.yaml'), stringify({ Thing: thing }))
    const sandbox = await openSandbox({ spec: file })
    expect((await sandbox.post('/things', { name: 'a', parts: [{ name: 'b' }] })).json).toEqual({
      id: 1,
      name: 'a',
      parts: [{ id: 1001, name: 'b' }],
    })
    expect((await sandbox.post('/things', { parts: [{ name: 'long' }] })).status).toBe(400)
    expect((await sandbox.get('/note')).text).toBe('{"$ref":"../x"}')
  })

  it('may have subtypes in files that only the mapping of a discriminator names', async () => {
    const head = { openapi: '3.1.0', info: { title: 't', version: '1' } }
    const file = temporaryFile('openapi.yaml', stringify({ ...head, paths: things({ $ref: 'pet.yaml#/Pet' }) }))
    const mapping = { cat: '#/Cat', dog: './dog.yaml', bird: 'none.yaml', fish: 'https://example.com/fish.json' }
    const base = named({ kind: { type: 'string' } })
    const pet = { ...base, required: ['kind'], discriminator: { propertyName: 'kind', mapping } }
    const of = (reference: string, name: string) => ({
      allOf: [{ $ref: reference }, { type: 'object', required: [name], properties: { [name]: { type: 'integer' } } }],
    })
    writeFileSync(join(dirname(file), 'pet.yaml'), stringify({ Pet: pet, Cat: of('#/Pet', 'lives') }))
    writeFileSync(join(dirname(file), 'dog.yaml'), stringify(of('pet.yaml#/Pet', 'legs')))
    const sandbox = await openSandbox({ spec: file })
    for (const sent of [
      { kind: 'cat', lives: 9 },
      { kind: 'dog', legs: 4 },
    ]) {
      expect((await sandbox.post('/things', sent)).json).toMatchObject(sent)
      expect((await sandbox.post('/things', { kind: sent.kind })).status).toBe(400)
    }
    expect(sandbox.warnings).toEqual([
      expect.stringMatching(/mapping\.bird refers to "none\.yaml", which cannot be read/),
      expect.stringMatching(/mapping\.fish refers to another document/),
    ])
  })
})

describe('the request of a contract, as Nest and Pydantic write it', () => {
  it('has defaults that a new record gets, and none that the request forbids', async () => {
    const number = { type: 'integer' }
    const record = { ...named({ priority: number, level: number }), required: ['id', 'name', 'priority', 'level'] }
    const sent = named({ priority: { ...number, default: 3 }, level: { ...number, minimum: 1 } })
    const sandbox = await serve(things(record, { create: { requestBody: json(sent) } }))
    expect((await sandbox.post('/things', { name: 'a' })).json).toEqual({ id: 1, name: 'a', priority: 3, level: 1 })
  })

  it('has defaults that a new record gets also where a PUT creates it', async () => {
    const role = { type: 'string', enum: ['owner', 'member'] }
    const text = { type: 'string' }
    const member = { type: 'object', required: ['id', 'role'], properties: { id: text, role, note: text } }
    const sent = {
      type: 'object',
      properties: { role: { ...role, default: 'member' }, note: { ...text, default: 'new' } },
    }
    const { '/things': list, '/things/{id}': item } = things(member, { id: 'string' })
    const put = { operationId: 'put', requestBody: json(sent), responses: ok(201, member) }
    const paths = { '/things': { get: Object(list).get }, '/things/{id}': { ...Object(item), put } }
    const sandbox = await serve(paths)
    const { json: created } = await sandbox.call('/v1/things/a', { method: 'PUT', body: {} })
    expect(created).toEqual({ id: 'a', role: 'member', note: 'new' })
  })

  it('is checked by the pattern of a decimal, and by the format of an address', async () => {
    const decimal = { type: 'string', pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$' }
    const sandbox = await serve(things(named({ price: decimal, email: { type: 'string', format: 'email' } })))
    const statusOf = async (body: object) => (await sandbox.post('/things', body)).status
    for (const price of ['1', '-0.50', '.5', '10.'])
      expect(await statusOf({ name: 'a', price, email: 'a@example.com' }), price).toBe(201)
    for (const price of ['abc', '', '-', '+.', '1.2.3', '1 '])
      expect(await statusOf({ name: 'a', price }), price).toBe(400)
    for (const email of ['ab', 'a@', '@b', 'a b@c', 'a@b@c'])
      expect(await statusOf({ name: 'a', email }), email).toBe(400)
  })
})

it('a null in a patch keeps what each record has', async () => {
  const thing = { ...named(), required: ['id', 'name'] }
  const change = { type: 'object', properties: { name: { type: 'string', nullable: true } } }
  const patch = { operationId: 'change', requestBody: json(change), responses: ok(200, thing) }
  const sandbox = await serve(things(thing, { item: { patch } }))
  await sandbox.post('/things', { name: 'Bella' })
  const headers = { 'content-type': 'application/json' }
  const changed = await sandbox.call('/v1/things/1', { method: 'PATCH', body: '{"name":null}', headers })
  expect([changed.status, JSON.parse(changed.text)]).toEqual([200, { id: 1, name: 'Bella' }])
  expect((await sandbox.get('/things/1')).json).toEqual({ id: 1, name: 'Bella' })
})
