import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

const [, [, openSandbox]] = transports as [unknown, (typeof transports)[number]]

type Part = Readonly<Record<string, unknown>>

const json = (schema: Part, mediaType = 'application/json') => ({ content: { [mediaType]: { schema } } })
const response = (schema: Part, mediaType?: string) => ({ description: 'd', ...json(schema, mediaType) })
const object = (properties: Part, required: readonly string[] = []) => ({ type: 'object', properties, required })
const list = (items: Part) => ({ type: 'array', items })
const query = (name: string, schema: Part = { type: 'string' }) => ({ name, in: 'query', schema })
const inPath = (name: string, schema: Part = { type: 'string' }) => ({ name, in: 'path', required: true, schema })

async function serve(paths: Part): Promise<TestSandbox> {
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, servers: [{ url: '/v1' }], paths }
  return await openSandbox({ spec: temporaryFile('openapi.yaml', stringify(document)), limits: '1000/min' })
}

const THING = object({ id: { type: 'integer', readOnly: true }, name: { type: 'string' }, rank: { type: 'integer' } })

/** A list with parameters, in an envelope, and a create operation; the records are c, b and a, newest first. */
async function serveList(parameters: readonly Part[], body: Part = list(THING)): Promise<TestSandbox> {
  const sandbox = await serve({
    '/things': {
      get: { operationId: 'list', parameters, responses: { 200: response(body) } },
      post: { operationId: 'create', requestBody: json(THING), responses: { 201: response(THING) } },
    },
  })
  for (const [name, rank] of [
    ['a', 2],
    ['b', 2],
    ['c', 1],
  ] as const)
    expect((await sandbox.post('/things', { name, rank })).status).toBe(201)
  return sandbox
}

async function names(sandbox: TestSandbox, search: string): Promise<string> {
  const { json: body } = await sandbox.get(`/things?${search}`)
  return (body as { name: string }[]).map(({ name }) => name).join('')
}

describe('a list', () => {
  it.each([
    ['sort=rank,name', 'cab'],
    ['sort=rank,desc&sort=name,desc', 'bac'],
    ['sort=-rank,-name', 'bac'],
    ['sort=rank:desc,name:asc', 'abc'],
  ])('is sorted by several properties: %s', async (search, expected) => {
    const sandbox = await serveList([query('sort', list({ type: 'string' }))])
    expect(await names(sandbox, search)).toBe(expected)
  })

  it('is sorted by decimal texts as by numbers', async () => {
    const schema = object({ ...THING.properties, price: { type: 'string', format: 'decimal' } })
    const sandbox = await serve({
      '/things': {
        get: { parameters: [query('sort')], responses: { 200: response(list(schema)) } },
        post: { requestBody: json(schema), responses: { 201: response(schema) } },
      },
    })
    await sandbox.post('/things', { name: 'a' })
    for (const [name, price] of [
      ['d', '100.00'],
      ['e', '9.99'],
      ['f', '20.00'],
      ['g', '-3.50'],
    ])
      await sandbox.post('/things', { name, price })
    expect(await names(sandbox, 'sort=-price')).toBe('dfega')
    await sandbox.post('/things', { name: 'h', price: 'on request' })
    expect(await names(sandbox, 'sort=price')).toBe('gdfeha')
  })

  it('refuses to be sorted by what no record has, unless the contract has such a name', async () => {
    const free = await serveList([query('sort')])
    const { status, json: body } = await free.get('/things?sort=nope')
    expect([status, Object(body).message]).toEqual([
      400,
      expect.stringContaining('sort must name properties of the records'),
    ])
    const listed = await serveList([query('sort', { type: 'string', enum: ['name', 'best-match'] })])
    expect(await names(listed, 'sort=best-match')).toBe('cba')
    expect(await names(listed, 'sort=name')).toBe('abc')
  })

  it('takes the properties of an exploded object as parameters', async () => {
    const pageable = object({
      page: { type: 'integer', minimum: 0 },
      size: { type: 'integer' },
      sort: list({ type: 'string' }),
    })
    const sandbox = await serveList([{ ...query('pageable', pageable), required: true }])
    expect(await names(sandbox, '')).toBe('cba')
    expect(await names(sandbox, 'page=1&size=2&sort=name')).toBe('c')
    expect((await sandbox.get('/things?page=-1')).status).toBe(400)
  })

  it('is filtered by the same name in another case, by filter[name], and by name[]', async () => {
    const several = query('name[]', list({ type: 'string' }))
    const sandbox = await serveList([query('Name'), query('filter[rank]', { type: 'integer' }), several])
    expect(await names(sandbox, 'Name=a')).toBe('a')
    expect(await names(sandbox, 'name[]=a&name[]=c')).toBe('ca')
    expect(await names(sandbox, 'filter[rank]=2')).toBe('ba')
  })

  it('is filtered by a parameter of another type than the property', async () => {
    const schema = object({
      id: { type: 'integer', readOnly: true },
      name: { type: 'string' },
      rank: { type: 'integer' },
      score: { type: 'number' },
      open: { type: 'boolean' },
      late: { type: ['boolean', 'null'] },
      code: { type: 'string' },
    })
    const parameters = [
      ...['rank', 'score', 'late'].map((name) => query(name)),
      query('open', { enum: ['true', 'false'] }),
      query('code', { type: 'integer' }),
    ]
    const sandbox = await serve({
      '/things': {
        get: { parameters, responses: { 200: response(list(schema)) } },
        post: { requestBody: json(schema), responses: { 201: response(schema) } },
      },
    })
    await sandbox.post('/things', { name: 'a', rank: 5, score: 1.5, open: true, late: true, code: '7' })
    await sandbox.post('/things', { name: 'b', rank: 50, score: 15, code: 'x' })
    await sandbox.post('/things', { name: 'c', rank: 5, score: 0, open: false, code: '07' })
    const shown = 'rank=5 rank=x score=1.50 open=true open=false open=false&rank=5 code=7 late=true'.split(' ')
    const found = await Promise.all(shown.map((search) => names(sandbox, search)))
    expect(found.join()).toBe('ca,,a,a,cb,c,a,a')
  })

  it('is filtered by null: records whose property is null or absent', async () => {
    const integer = { type: 'integer' }
    const instant = { type: ['string', 'null'], format: 'date-time' }
    const owner = { anyOf: [object({ id: integer }), { type: 'null' }] }
    const orNull = (type: string, more: Part = {}) => ({ type: [type, 'null'], ...more })
    const kind = orNull('string', { enum: ['x', null] })
    const schema = object({
      ...{ id: { type: 'integer', readOnly: true }, name: { type: 'string' }, doneAt: instant, owner, kind },
      ...{ parentId: orNull('integer'), tag: orNull('string'), rank: orNull('integer') },
    })
    const parameters = [
      query('parentId', orNull('integer')),
      query('rank', orNull('integer', { default: null })),
      ...['kind', 'tag', 'doneAt', 'owner.id'].map((name) => query(name)),
    ]
    const sandbox = await serve({
      '/things': {
        get: { parameters, responses: { 200: response(list(schema)) } },
        post: { requestBody: json(schema), responses: { 201: response(schema) } },
      },
    })
    const doneAt = '2030-01-01T00:00:00Z'
    await sandbox.post('/things', { name: 'a' })
    await sandbox.post('/things', { name: 'b', parentId: null, tag: null, doneAt: null, owner: null, kind: null })
    await sandbox.post('/things', { name: 'c', parentId: 1, tag: 'x', doneAt, owner: { id: 1 }, kind: 'x', rank: 1 })
    for (const name of ['parentId', 'tag', 'doneAt', 'owner.id', 'kind', 'rank'])
      expect([name, await names(sandbox, `${name}=null`)]).toEqual([name, 'ba'])
    for (const nothing of ['', 'parentId=']) expect(await names(sandbox, nothing)).toBe('cba')
    expect(await names(sandbox, 'tag=x')).toBe('c')
    await sandbox.post('/things', { name: 'd', parentId: 1 })
    expect(await names(sandbox, 'tag=null&parentId=')).toBe('dba')
  })

  it('is filtered by the id of a record that its records show', async () => {
    const team = object({ id: { type: 'integer' }, title: { type: 'string' } })
    const sent = object({
      name: { type: 'string' },
      team_id: { type: 'integer' },
      tag_ids: list({ type: 'integer' }),
      lead: object({ id: { type: 'integer' } }),
    })
    const shown = object({ id: { type: 'integer' }, name: { type: 'string' }, team, tags: list(team), lead: team })
    const parameters = ['team', 'team_id', 'teamId', 'tag_ids', 'tagId', 'lead.id', 'lead[id]']
    const sandbox = await serve({
      '/things': {
        get: {
          parameters: parameters.map((name) => query(name, { type: 'integer' })),
          responses: { 200: response(list(shown)) },
        },
        post: { requestBody: json(sent), responses: { 201: response(shown) } },
      },
    })
    await sandbox.post('/things', { name: 'a', team_id: 1, tag_ids: [1, 2], lead: { id: 4, title: 'x' } })
    await sandbox.post('/things', { name: 'b', team_id: 2, tag_ids: [2] })
    const searches = [
      ...parameters.slice(0, 3).map((name) => `${name}=1`),
      'tag_ids=2',
      'tagId=1',
      'lead.id=4',
      'team=7',
    ]
    const found = await Promise.all([...searches, 'lead[id]=4'].map((search) => names(sandbox, search)))
    expect(found.join()).toBe('a,a,a,ba,a,a,,a')
  })

  it('tells the previous page as it does the next', async () => {
    const body = object({
      next: { type: ['string', 'null'] },
      previous: { type: ['string', 'null'] },
      has_previous: { type: 'boolean' },
      results: list(THING),
    })
    const sandbox = await serveList([query('limit', { type: 'integer' }), query('offset', { type: 'integer' })], body)
    const first = (await sandbox.get('/things?limit=2')).json
    expect(first).toMatchObject({
      next: expect.stringContaining('limit=2&offset=2'),
      previous: null,
      has_previous: false,
    })
    const second = (await sandbox.get('/things?limit=2&offset=2')).json
    expect(second).toMatchObject({ next: null, previous: expect.stringContaining('offset=0'), has_previous: true })
  })

  it('of HAL is embedded', async () => {
    const body = object({
      _embedded: object({ things: list(THING) }),
      page: object({ totalElements: { type: 'integer' } }),
    })
    const sandbox = await serveList([query('page', { type: 'integer' }), query('size', { type: 'integer' })], body)
    const read = (await sandbox.get('/things?size=1')).json
    expect(read).toEqual({ page: { totalElements: 3 }, _embedded: { things: [{ id: 3, name: 'c', rank: 1 }] } })
  })
})

it('an integer key that a create request requires is the one that the client sends', async () => {
  const integer = { type: 'integer' }
  const member = object({ userId: integer, role: { type: 'string' } }, ['userId', 'role'])
  const sandbox = await serve({
    '/members': {
      get: { responses: { 200: response(list(member)) } },
      post: { requestBody: json(member), responses: { 201: response(member), 409: { description: 'taken' } } },
    },
    '/members/{userId}': { get: { parameters: [inPath('userId', integer)], responses: { 200: response(member) } } },
  })
  const sent = { userId: 42, role: 'a' }
  expect((await sandbox.post('/members', sent)).json).toEqual(sent)
  expect((await sandbox.get('/members/42')).json).toEqual(sent)
  expect((await sandbox.post('/members', sent)).status).toBe(409)
  const large = '{"userId":9007199254740993,"role":"b"}'
  expect((await sandbox.post('/members', large)).text).toBe(large)
})

it('a UUID that names another kind of record and is required in a request is the id of the record', async () => {
  const uuid = { type: 'string', format: 'uuid' }
  const member = object({ user_id: uuid, role: { type: 'string' } }, ['user_id', 'role'])
  const sandbox = await serve({
    '/members': {
      get: { responses: { 200: response(list(member)) } },
      post: { requestBody: json(member), responses: { 201: response(member), 409: { description: 'taken' } } },
    },
    '/members/{user_id}': { get: { parameters: [inPath('user_id', uuid)], responses: { 200: response(member) } } },
  })
  const sent = { user_id: '0b8f0e5c-7d5c-4c1c-8a45-3f7c9f2a1b10', role: 'owner' }
  expect((await sandbox.post('/members', sent)).json).toEqual(sent)
  expect((await sandbox.get(`/members/${sent.user_id}`)).json).toEqual(sent)
  expect((await sandbox.post('/members', sent)).status).toBe(409)
})

describe('a property of several types', () => {
  it('is kept in the types of the record: numbers become texts, other values are left out', async () => {
    const sent = object({
      price: { anyOf: [{ type: 'number' }, { type: 'string' }] },
      place: { anyOf: [object({ city: { type: 'string' } }), { enum: [''] }] },
    })
    const kept = object({
      id: { type: 'integer' },
      price: { type: ['string', 'null'] },
      place: object({ city: { type: 'string' } }),
    })
    const sandbox = await serve({
      '/things': {
        get: { responses: { 200: response(list(kept)) } },
        post: { requestBody: json(sent), responses: { 201: response(kept) } },
      },
    })
    const post = async (body: Part) => (await sandbox.post('/things', body)).json
    expect(await post({ price: 1.5, place: { city: 'Bern' } })).toEqual({
      id: 1,
      price: '1.5',
      place: { city: 'Bern' },
    })
    expect(await post({ price: '2', place: '' })).toEqual({ id: 2, price: '2' })
  })
})

describe('a record', () => {
  it('is changed by POST where the contract has no PATCH and no PUT', async () => {
    const sandbox = await serve({
      '/things': {
        get: { responses: { 200: response(list(THING)) } },
        post: { requestBody: json(THING), responses: { 200: response(THING) } },
      },
      '/things/{id}': {
        post: { parameters: [inPath('id')], requestBody: json(THING), responses: { 200: response(THING) } },
      },
    })
    await sandbox.post('/things', { name: 'a', rank: 1 })
    expect((await sandbox.post('/things/1', { rank: 2 })).json).toEqual({ id: 1, name: 'a', rank: 2 })
  })

  it('keeps what the body of a PUT cannot have', async () => {
    const put = { requestBody: json(object({ name: { type: 'string' } })), responses: { 200: response(THING) } }
    const sandbox = await serve({
      '/things': {
        get: { responses: { 200: response(list(THING)) } },
        post: { requestBody: json(THING), responses: { 201: response(THING) } },
      },
      '/things/{id}': { put: { ...put, parameters: [inPath('id')] } },
    })
    await sandbox.post('/things', { name: 'a', rank: 1 })
    expect((await sandbox.call('/v1/things/1', { method: 'PUT', body: { name: 'b' } })).json).toEqual({
      id: 1,
      name: 'b',
      rank: 1,
    })
  })

  it('may be in a list of one, and be created by PUT', async () => {
    const account = object({ AccountID: { type: 'string', format: 'uuid' }, Name: { type: 'string' } })
    const accounts = object({ Accounts: list(account) })
    const one = { parameters: [inPath('AccountID', { type: 'string', format: 'uuid' })] }
    const sandbox = await serve({
      '/Accounts': {
        get: { responses: { 200: response(accounts) } },
        put: { requestBody: json(account), responses: { 200: response(accounts) } },
      },
      '/Accounts/{AccountID}': {
        get: { ...one, responses: { 200: response(accounts) } },
        post: { ...one, requestBody: json(accounts), responses: { 200: response(accounts) } },
      },
    })
    const created = (await sandbox.call('/v1/Accounts', { method: 'PUT', body: { Name: 'Sales' } })).json as {
      Accounts: { AccountID: string }[]
    }
    const path = `/Accounts/${created.Accounts[0]?.AccountID}`
    expect((await sandbox.get(path)).json).toMatchObject({ Accounts: [{ Name: 'Sales' }] })
    expect((await sandbox.post(path, { Accounts: [{ Name: 'Rent' }] })).json).toMatchObject({
      Accounts: [{ Name: 'Rent' }],
    })
    const two = await sandbox.post(path, { Accounts: [{ Name: 'a' }, { Name: 'b' }] })
    expect([two.status, Object(two.json).message]).toEqual([
      400,
      expect.stringContaining('Accounts must have one record'),
    ])
  })

  it.each([
    [{ minLength: 21, maxLength: 21, pattern: '^[A-Za-z0-9_-]+$' }, /^[\w-]{21}$/],
    [{ minLength: 8, maxLength: 8 }, /^.{8}$/],
    [{ pattern: '\\A[0-9a-f]{24}\\z' }, /^[0-9a-f]{24}$/],
  ])('has an id of the length and pattern of %j', async (form, expected) => {
    const record = object({ id: { type: 'string', ...form }, name: { type: 'string' } }, ['id'])
    const sandbox = await serve({
      '/things': {
        get: { responses: { 200: response(list(record)) } },
        post: { requestBody: json(object({ name: { type: 'string' } })), responses: { 201: response(record) } },
      },
    })
    const [one, other] = [await sandbox.post('/things', { name: 'a' }), await sandbox.post('/things', { name: 'b' })]
    expect(Object(one.json).id).toMatch(expected)
    expect(Object(other.json).id).not.toBe(Object(one.json).id)
  })

  it('is identified by the last word of the parameter: {issue_number}', async () => {
    const issue = object({ id: { type: 'integer' }, number: { type: 'integer' }, title: { type: 'string' } }, [
      'id',
      'number',
    ])
    const sandbox = await serve({
      '/issues': {
        get: { responses: { 200: response(list(issue)) } },
        post: { requestBody: json(object({ title: { type: 'string' } })), responses: { 201: response(issue) } },
      },
      '/issues/{issue_number}': {
        get: { parameters: [inPath('issue_number', { type: 'integer' })], responses: { 200: response(issue) } },
      },
    })
    await sandbox.post('/issues', { title: 'a' })
    expect((await sandbox.post('/issues', { title: 'b' })).json).toMatchObject({ number: 2 })
    expect((await sandbox.get('/issues/2')).json).toMatchObject({ title: 'b' })
  })
})

it('a documented error has its status as a text too, and its sentence in a union', async () => {
  const error = object({
    statusCode: { type: 'number', example: 400 },
    message: { oneOf: [{ type: 'string' }, list({ type: 'string' })] },
    errors: list(object({ status: { type: 'string' }, detail: { type: 'string' } })),
  })
  const sandbox = await serve({
    '/things': {
      get: {
        parameters: [query('n', { type: 'integer' })],
        responses: { 200: response(list(THING)), 400: response(error) },
      },
    },
  })
  const message = expect.stringContaining('n must be a whole number')
  expect((await sandbox.get('/things?n=x')).json).toEqual({
    statusCode: 400,
    message,
    errors: [{ status: '400', detail: message }],
  })
})

it('a body may have a type of a documented range such as application/*+json', async () => {
  const sandbox = await serve({
    '/things': { post: { requestBody: json(THING, 'application/*+json'), responses: { 201: response(THING) } } },
  })
  const send = async (type: string) =>
    (await sandbox.call('/v1/things', { method: 'POST', headers: { 'content-type': type }, body: '{"name":"a"}' }))
      .status
  expect([await send('application/vnd.x+json'), await send('text/plain')]).toEqual([201, 415])
})

it.each([
  ['a list of texts', json(list({ type: 'string' })), () => ['n must be true or false (it is "x")']],
  ['plain text', json({ type: 'string' }, 'text/plain'), undefined],
  [
    'one of several forms',
    json({ oneOf: [object({ kind: { const: 'bad' }, reason: { type: 'string' } }, ['kind'])] }),
    (reason: string) => ({ kind: 'bad', reason }),
  ],
])('a documented error may be %s', async (_, content, expected) => {
  const sandbox = await serve({
    '/things': {
      get: {
        operationId: 'find',
        parameters: [query('n', { type: 'boolean' })],
        responses: { 200: response(list(THING)), 400: { description: 'd', ...content } },
      },
    },
  })
  const { text, json: body } = await sandbox.get('/things?n=x')
  const message = 'find: n must be true or false (it is "x").'
  expect(expected === undefined ? text : body).toEqual(expected?.(message) ?? message)
})

it('a record without a flag is listed where the flag is to be false', async () => {
  const flagged = object({ id: { type: 'integer' }, archived: { type: 'boolean' } })
  const sandbox = await serve({
    '/things': {
      get: {
        parameters: [query('archived', { type: 'boolean', default: false })],
        responses: { 200: response(list(flagged)) },
      },
      post: { requestBody: json(flagged), responses: { 201: response(flagged) } },
    },
  })
  await sandbox.post('/things', {})
  await sandbox.post('/things', { archived: true })
  expect((await sandbox.get('/things')).json).toEqual([{ id: 1 }])
  expect((await sandbox.get('/things?archived=true')).json).toEqual([{ id: 2, archived: true }])
})

it('a list of OData has its count and its next link', async () => {
  const body = object({
    '@odata.count': { type: 'integer' },
    '@odata.nextLink': { type: 'string' },
    value: list(THING),
  })
  const sandbox = await serveList([query('$top', { type: 'integer' }), query('$skip', { type: 'integer' })], body)
  expect((await sandbox.get('/things?$top=1')).json).toMatchObject({
    '@odata.count': 3,
    '@odata.nextLink': expect.stringContaining('skip=1'),
    value: [{ name: 'c' }],
  })
})

it('HTTP Basic is read beside a key in Authorization', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    servers: [{ url: '/v1' }],
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'Authorization' },
        basic: { type: 'http', scheme: 'basic' },
      },
    },
    paths: {
      '/things': { get: { security: [{ token: [] }, { basic: [] }], responses: { 200: response(list(THING)) } } },
    },
  }
  const sandbox = await openSandbox({ spec: temporaryFile('openapi.yaml', stringify(document)) })
  const status = async (authorization: string) =>
    (await sandbox.call('/v1/things', { key: null, headers: { authorization } })).status
  expect([await status(`Basic ${btoa('user:sandbox')}`), await status('Token sandbox')]).toEqual([200, 200])
})
