import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import {
  crud,
  inPath,
  inQuery,
  integer,
  list,
  type Node,
  object,
  ok,
  openContract as open,
  readOnly,
  takes,
  text,
} from '../support/small-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

describe('the id of a record', () => {
  const named = (properties: Node) => object({ ...properties, name: text }, ['name'])
  const uuid = { type: 'string', format: 'uuid' }
  it.each<[string, Node, string, string]>([
    [
      'is pk, in DRF',
      crud('/parts/', '/parts/{id}/', named({ pk: readOnly(integer) }), [inPath('id', integer)]),
      'pk',
      '/parts/ID/',
    ],
    [
      'is uuid, beside a counted id that is not in the path',
      crud('/jobs', '/jobs/{id}', named({ id: readOnly(integer), uuid: readOnly(uuid) }), [inPath('id', uuid)]),
      'uuid',
      '/jobs/ID',
    ],
    [
      'is sid, below a parameter with a suffix',
      crud('/Calls.json', '/Calls/{Sid}.json', named({ sid: { ...text, pattern: '^CA[0-9a-f]{32}$' } }), [
        inPath('Sid', { ...text, pattern: '^CA[0-9a-f]{32}$' }),
      ]),
      'sid',
      '/Calls/ID.json',
    ],
    [
      'is the key in parentheses, in OData',
      crud('/Products', '/Products({key})', named({ ID: integer }), [inPath('key', integer)], named({})),
      'ID',
      '/Products(ID)',
    ],
    [
      'is the quoted key in parentheses',
      crud('/Airlines', "/Airlines('{AirlineCode}')", named({ AirlineCode: text }), [inPath('AirlineCode')], named({})),
      'AirlineCode',
      "/Airlines('ID')",
    ],
    [
      'is the key that has its name in parentheses',
      crud('/Items', '/Items(ID={id})', named({ ID: uuid }), [inPath('id', uuid)], named({})),
      'ID',
      '/Items(ID=ID)',
    ],
    [
      'is code, although the parameter is called id',
      crud('/coupons', '/coupons/{id}', named({ code: readOnly(text) }), [inPath('id')]),
      'code',
      '/coupons/ID',
    ],
    [
      'is the only UUID',
      crud('/boxes', '/boxes/{box}', named({ tracking: readOnly(uuid) }), [inPath('box', uuid)]),
      'tracking',
      '/boxes/ID',
    ],
    [
      'is what a description calls the identifier',
      crud(
        '/nodes',
        '/nodes/{nodeRef}',
        named({ locator: { ...integer, description: 'The unique identifier of the node.' } }),
        [inPath('nodeRef', integer)],
        named({}),
      ),
      'locator',
      '/nodes/ID',
    ],
    [
      'is the only read-only number',
      crud('/lots', '/lots/{lot}', named({ serial: readOnly(integer), created_at: readOnly({ type: 'string' }) }), [
        inPath('lot', integer),
      ]),
      'serial',
      '/lots/ID',
    ],
    [
      'is the first property, as it is called an id',
      crud(
        '/Timesheet',
        '/Timesheet/{id}',
        named({ EntryID: integer, UserID: integer }),
        [inPath('id', integer)],
        named({ UserID: integer }),
      ),
      'EntryID',
      '/Timesheet/ID',
    ],
  ])('%s', async (_what, paths, property, path) => {
    const sandbox = await open(paths)
    expect(sandbox.mocked).toEqual({})
    const [collection = ''] = Object.keys(paths)
    const one = (await sandbox.post(collection, { name: 'one' })).json as Node
    const other = (await sandbox.post(collection, { name: 'other' })).json as Node
    expect(one[property]).not.toBe(other[property])
    const own = path.replace(/ID(?=[^=]*$)/, String(one[property]))
    expect((await sandbox.get(own)).json).toEqual(one)
    expect((await sandbox.call(`/v1${own}`, { method: 'DELETE' })).status).toBe(204)
    expect((await sandbox.get(own)).status).toBe(404)
    expect((await sandbox.get(collection)).json).toEqual([other])
  })

  it.each<[string, Node, (made: Node) => unknown]>([
    ['url, in hyperlinked DRF', { url: readOnly(text) }, ({ url }) => url],
    [
      '_links, in Spring Data REST',
      { _links: object({ self: object({ href: text }) }) },
      ({ _links }) => Object(_links).self.href,
    ],
    [
      'links, in Spring HATEOAS',
      { links: list(object({ rel: text, href: text }, ['href'])) },
      ({ links }) => Object(links)[0].href,
    ],
  ])('is in the address of the record: %s', async (_what, properties, addressIn) => {
    const record = named(properties)
    const sandbox = await open(crud('/parts/', '/parts/{id}/', record, [inPath('id', integer)], named({})))
    expect(sandbox.mocked).toEqual({})
    await sandbox.post('/parts/', { name: 'Nut' })
    const { json: made } = await sandbox.post('/parts/', { name: 'Bolt' })
    const address = String(addressIn(made as Node))
    expect(address).toMatch(/\/v1\/parts\/2\/$/)
    expect((await sandbox.get('/parts/2')).json).toMatchObject({
      message: expect.stringContaining('Did you mean /v1/parts/2/?'),
    })
    expect((await sandbox.get('/parts/2/')).json).toEqual(made)
    expect(((await sandbox.get('/parts/')).json as Node[]).map(addressIn)).toEqual([
      address,
      address.replace('2/', '1/'),
    ])
  })

  it.each([
    ['/exports/', '/exports/{id}'],
    ['/exports', '/exports/{id}/'],
    ['/Exports', '/Exports({id})'],
    ['/exports', '/export/{id}'],
  ])('is in an address of the form of its path: %s and %s', async (collection, item) => {
    const paths = crud(collection, item, named({ url: readOnly(text) }), [inPath('id', integer)], named({}))
    const sandbox = await open(paths)
    const { json: made } = await sandbox.post(collection, { name: 'Nut' })
    const { pathname } = new URL((made as { url: string }).url, 'http://localhost')
    expect(pathname).toBe(`/v1${item.replace('{id}', '1')}`)
    expect((await sandbox.call(pathname)).json).toEqual(made)
    expect((await sandbox.get(collection)).json).toEqual([made])
  })

  // @source google.aip.dev/133, "User-specified IDs"
  it.each([
    ['id', {}],
    ['name', { example: 'shelves/a' }],
  ])('is in the query of its POST: %s', async (property, more) => {
    const shelf = object({ [property]: { ...text, ...more }, theme: text }, [property])
    const sandbox = await open({
      '/shelves': {
        post: { parameters: [inQuery('shelfId', text)], ...takes(object({ theme: text })), ...ok(shelf) },
        get: ok(list(shelf)),
      },
      '/shelves/{shelf}': { parameters: [inPath('shelf')], get: ok(shelf) },
    })
    const id = property === 'name' ? 'shelves/mine' : 'mine'
    const { json: made } = await sandbox.post('/shelves?shelfId=mine', { theme: 'art' })
    expect(made).toEqual({ [property]: id, theme: 'art' })
    expect((await sandbox.get('/shelves/mine')).json).toEqual(made)
    expect((await sandbox.post('/shelves?shelfId=mine', {})).status).toBe(409)
    expect((await sandbox.post('/shelves', {})).status).toBe(200)
    expect(sandbox.warnings).toEqual([])
  })

  it('is its name, which the client chooses, if the parameter has the name of the collection', async () => {
    const bucket = named({ size: integer })
    const sandbox = await open(crud('/buckets', '/buckets/{bucket}', bucket, [inPath('bucket')]))
    expect(sandbox.mocked).toEqual({})
    expect((await sandbox.post('/buckets', { name: 'logs', size: 1 })).status).toBe(201)
    expect((await sandbox.post('/buckets', { name: 'logs' })).status).toBe(409)
    expect((await sandbox.get('/buckets/logs')).json).toEqual({ name: 'logs', size: 1 })
  })

  it.each<[string, object]>([
    ['read-only', { name: readOnly(text), title: text }],
    ['described', { name: { ...text, description: 'Format: `shelves/{shelf}`' }, title: text }],
    ['with an example', { name: { ...text, example: 'shelves/1' }, title: text }],
  ])('is the path of the record, in gRPC: %s', async (_what, properties) => {
    const shelf = object(properties as Node)
    const book = object(JSON.parse(JSON.stringify(properties).replace(/shelves\/[^"`]*/, '$&/books/1')))
    const sandbox = await open({
      ...crud('/shelves', '/shelves/{shelf}', shelf, [inPath('shelf')]),
      ...Object.fromEntries(
        Object.entries(crud('/shelves/{shelf}/books', '/shelves/{shelf}/books/{book}', book, [inPath('book')])).map(
          ([path, item]) => [path, { parameters: [inPath('shelf'), inPath('book')], ...Object(item) }],
        ),
      ),
    })
    expect(sandbox.mocked).toEqual({})
    const { name: parent } = (await sandbox.post('/shelves', { title: 'A' })).json as Node
    expect(parent).toMatch(/^shelves\/[^/]+$/)
    const { json: made } = await sandbox.post(`/${parent}/books`, { title: 'B' })
    const { name } = made as Node
    expect(name).toMatch(new RegExp(`^${parent}/books/[^/]+$`))
    expect((await sandbox.get(`/${name}`)).json).toEqual(made)
    expect((await sandbox.post('/shelves/none/books', { title: 'B' })).status).toBe(404)
    expect((await sandbox.call(`/v1/${parent}`, { method: 'DELETE' })).status).toBe(204)
    expect((await sandbox.get(`/${name}`)).status).toBe(404)
  })
})

describe('a list', () => {
  const film = object({ id: integer, title: text, plot: text }, ['id', 'title', 'plot'])
  const closed = { additionalProperties: false }
  const summary = object({ id: integer, title: text }, ['id', 'title'])
  it.each<[string, object, unknown]>([
    ['of closed summaries', list({ ...summary, ...closed }), [{ id: 1, title: 'Alien' }]],
    ['of open summaries', list(summary), [{ id: 1, title: 'Alien' }]],
    [
      'of items with a computed property',
      list(
        object({ id: integer, title: text, plot: text, votes: integer, link: { type: 'string', format: 'uri' } }, [
          'id',
          'votes',
          'link',
        ]),
      ),
      [{ id: 1, title: 'Alien', plot: 'ship', votes: 0, link: 'https://example.com/' }],
    ],
    [
      'of items with a property of another type',
      list(object({ id: integer, title: text, plot: object({ text }, ['text']) }, ['id', 'plot'])),
      [{ id: 1, title: 'Alien', plot: { text: '' } }],
    ],
    [
      'two levels down',
      object({ data: object({ items: list(film) }) }),
      { data: { items: [{ id: 1, title: 'Alien', plot: 'ship' }] } },
    ],
    [
      'two levels down, with its total, beside whether it succeeded and errors',
      object(
        {
          success: { type: 'boolean' },
          errors: list(object({ text })),
          result: object({ rows: list(summary), total: integer }),
        },
        ['success'],
      ),
      { success: true, result: { total: 1, rows: [{ id: 1, title: 'Alien' }] } },
    ],
    [
      'of summaries with the id under another name',
      list(object({ filmId: integer, title: text }, ['filmId', 'title'])),
      [{ filmId: 1, title: 'Alien' }],
    ],
    ['or a page of it', { oneOf: [list(summary), object({ items: list(summary) })] }, [{ id: 1, title: 'Alien' }]],
    ['of ids', list(integer), [1]],
    ['of ids in an envelope', object({ ids: list(integer), total: integer }), { total: 1, ids: [1] }],
    ['of anything', list({}), [{ id: 1, title: 'Alien', plot: 'ship' }]],
    ['without a type', {}, [{ id: 1, title: 'Alien', plot: 'ship' }]],
  ])('%s shows what was created', async (_what, schema, expected) => {
    const sent = object({ title: text, plot: text }, ['title', 'plot'])
    const sandbox = await open({
      '/films': { post: { ...takes(sent), ...ok({ ...film, ...closed }, 201) }, get: ok(schema) },
      '/films/{id}': { parameters: [inPath('id', integer)], get: ok({ ...film, ...closed }) },
    })
    expect(sandbox.mocked).toEqual({})
    const { json: made } = await sandbox.post('/films', { title: 'Alien', plot: 'ship' })
    expect(made).toEqual({ id: 1, title: 'Alien', plot: 'ship' })
    expect((await sandbox.get('/films')).json).toEqual(expected)
    expect((await sandbox.get('/films/1')).json).toEqual(made)
    expect(sandbox.warnings).toEqual([])
  })

  it('that cannot be served from the records is named at the start, with the place of the reason', async () => {
    const sandbox = await open({
      '/films': { post: { ...takes(film), ...ok(film, 201) }, get: ok(list(object({ when: text }))) },
      '/films/{id}': { parameters: [inPath('id', integer)], get: ok(film) },
    })
    const place = 'paths./films.get.responses.200.content.application/json.schema.items'
    const reason = `the response is not a record (${place})`
    expect(sandbox.mocked).toEqual({ 'GET/films': reason })
    expect(sandbox.warnings).toContain(`POST /films is stored, but GET /films is mocked: ${reason}.`)
  })

  it('of alternatives that overlap is mocked, and records are stored', async () => {
    const either = { oneOf: [film, object({ id: integer, series: text }, ['id'])] }
    const sandbox = await open({
      '/films': { post: { ...takes(object({ title: text })), ...ok(film, 201) }, get: ok(list(either)) },
      '/films/{id}': { parameters: [inPath('id', integer)], get: ok(film) },
    })
    expect(Object.values(sandbox.mocked)).toEqual([expect.stringMatching(/^a record matches none .* several \(/)])
    expect((await sandbox.post('/films', { title: 'Alien' })).status).toBe(201)
  })
})

describe('a response without a schema', () => {
  const dog = object({ name: text, tag: { type: ['string', 'null'] } }, ['name'])
  it.each<[string, Node]>([
    ['as FastAPI writes it', ok({})],
    ['with a title', ok({ title: 'Response Create Dog' })],
    ['without content', ok()],
  ])('has the record of the request: %s', async (_what, any) => {
    const sandbox = await open({
      '/dogs': { post: { ...takes(dog), ...any }, get: any },
      '/dogs/{dog_id}': {
        parameters: [inPath('dog_id', integer)],
        get: any,
        put: { ...takes(dog), ...any },
        delete: any,
      },
    })
    expect(sandbox.mocked).toEqual({})
    expect((await sandbox.post('/dogs', { name: 'Rex' })).json).toEqual({ id: 1, name: 'Rex' })
    expect((await sandbox.get('/dogs')).json).toEqual([{ id: 1, name: 'Rex' }])
    await sandbox.call('/v1/dogs/1', { method: 'PUT', body: { name: 'Max' } })
    expect((await sandbox.get('/dogs/1')).json).toEqual({ id: 1, name: 'Max' })
  })
})

it('records that no response describes are generated as requests describe them', async () => {
  const dog = object({ name: text, age: { ...integer, minimum: 1, maximum: 9 } }, ['name', 'age'])
  const paths = { '/dogs': { post: { ...takes(dog), ...ok({}) }, get: ok({}) } }
  const document = { openapi: '3.1.0', info: { title: 'Dogs', version: '1' }, paths }
  const spec = temporaryFile('dogs.json', JSON.stringify(document))
  await using sandbox = await createSandbox({ spec, generate: ['dogs=2'] })
  const records = (await (await sandbox.fetch(`${sandbox.baseUrl}/dogs`)).json()) as Node[]
  expect(records).toEqual(Array(2).fill({ id: expect.any(Number), name: expect.any(String), age: expect.any(Number) }))
})

describe('a POST that does not return the record stores it', () => {
  const note = object({ id: integer, text }, ['id', 'text'])
  it.each<[string, Node, unknown]>([
    ['and returns the id in an object', ok(object({ id: integer }, ['id']), 201), { id: 1 }],
    ['and returns the id', ok(integer, 201), 1],
    ['and returns the id in an envelope', ok(object({ data: object({ id: integer }) }), 201), { data: { id: 1 } }],
    [
      'and returns the id with whether it succeeded',
      ok(object({ id: integer, created: { type: 'boolean' } }, ['id', 'created']), 201),
      { id: 1, created: true },
    ],
    ['and returns nothing', ok(undefined, 201), undefined],
    ['and returns nothing, as a 204', ok(undefined, 204), undefined],
    [
      'and returns a message',
      ok(object({ message: text, success: { type: 'boolean' } }, ['message']), 201),
      { message: '', success: true },
    ],
  ])('%s', async (_what, response, expected) => {
    const sandbox = await open({
      '/notes': { post: { ...takes(object({ text }, ['text'])), ...response }, get: ok(list(note)) },
      '/notes/{id}': { parameters: [inPath('id', integer)], get: ok(note) },
    })
    expect(sandbox.mocked).toEqual({})
    expect((await sandbox.post('/notes', { text: 'hi' })).json).toEqual(expected)
    expect((await sandbox.get('/notes')).json).toEqual([{ id: 1, text: 'hi' }])
    expect((await sandbox.get('/notes/1')).json).toEqual({ id: 1, text: 'hi' })
  })
})

describe('a request that differs from the response', () => {
  const uri = { type: 'string', format: 'uri' }
  const tag = object({ id: integer, label: text }, ['id', 'label'])
  it.each<[string, object, object, unknown, unknown]>([
    ['a read-only value that the request has', integer, readOnly({ ...integer, example: 5 }), 6, 6],
    ['a file that becomes a URI', { type: 'string', format: 'binary' }, uri, 'PNG', 'https://example.com/'],
    [
      'a file in Base64 that becomes a URI or null',
      { type: 'string', format: 'byte' },
      { ...uri, type: ['string', 'null'] },
      'AAAA',
      'https://example.com/',
    ],
    ['a text that becomes a URI, and is one', text, uri, 'https://example.org/a', 'https://example.org/a'],
    [
      'a date that becomes an instant',
      { type: 'string', format: 'date' },
      { type: 'string', format: 'date-time' },
      '2026-03-01',
      '2026-03-01T00:00:00Z',
    ],
    [
      'an instant that becomes a date',
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
      '2026-03-01T10:00:00Z',
      '2026-03-01',
    ],
    ['an id that becomes an object', integer, tag, 7, { id: 7, label: '' }],
    [
      'ids that become objects',
      list(integer),
      list(tag),
      [7, 8],
      [
        { id: 7, label: '' },
        { id: 8, label: '' },
      ],
    ],
    ['an object that becomes an id', tag, integer, { id: 7, label: 'x' }, 7],
    [
      'names that become objects, beside objects',
      list({ oneOf: [text, object({ name: text })] }),
      list(object({ id: integer, name: text, color: text }, ['name', 'color'])),
      ['bug', { name: 'docs' }],
      [
        { name: 'bug', color: '' },
        { name: 'docs', color: '' },
      ],
    ],
    [
      'values that cannot become objects',
      list({ oneOf: [text, tag] }),
      list(tag),
      ['x', { id: 7, label: 'y' }],
      [{ id: 7, label: 'y' }],
    ],
    ['a number that becomes a text', integer, text, 7, '7'],
    [
      'a number that becomes a text in a row',
      list(object({ name: text, amount: { anyOf: [{ type: 'number' }, text] } }, ['amount'])),
      list(object({ id: integer, name: text, amount: text }, ['amount'])),
      [{ name: 'salt', amount: 1.5 }, { amount: '2' }],
      [{ name: 'salt', amount: '1.5' }, { amount: '2' }],
    ],
    [
      'a text that becomes a number in an object',
      object({ width: text, unit: text }),
      object({ width: integer, unit: text }),
      { width: '7', unit: 'cm' },
      { width: 7, unit: 'cm' },
    ],
    ['a text that becomes a number', text, integer, '7', 7],
    ['a text that becomes a number, and is none', text, integer, 'seven', 0],
    [
      'seconds that become an instant',
      integer,
      { ...text, format: 'date-time' },
      1767225600,
      '2026-01-01T00:00:00.000Z',
    ],
    ['milliseconds that become a date', integer, { ...text, format: 'date' }, 1767225600000, '2026-01-01'],
    ['an instant that becomes seconds', { ...text, format: 'date-time' }, integer, '2026-01-01T00:00:00Z', 1767225600],
    ['a number that becomes one of several texts', integer, { ...text, enum: ['low', 'high'] }, 2, 'low'],
    ['a number that is one of several texts', integer, { ...text, enum: ['1', '2'] }, 2, '2'],
  ])('%s', async (_what, from, to, sent, expected) => {
    const record = object({ id: readOnly(integer), value: to }, ['id', 'value'])
    const request = object({ value: from }, ['value'])
    const sandbox = await open({
      '/things': { post: { ...takes(request), ...ok(record, 201) }, get: ok(list(record)) },
      '/things/{id}': {
        parameters: [inPath('id', integer)],
        get: ok(record),
        patch: { ...takes(request), ...ok(record) },
      },
    })
    expect(sandbox.mocked).toEqual({})
    expect((await sandbox.post('/things', { value: sent })).json).toEqual({ id: 1, value: expected })
    const patch = { method: 'PATCH', body: { value: sent } }
    expect((await sandbox.call('/v1/things/1', patch)).json).toEqual({ id: 1, value: expected })
    expect((await sandbox.get('/things')).json).toEqual([{ id: 1, value: expected }])
  })

  it('by name: ids become objects, and a password is in no response', async () => {
    const tags = list(tag)
    const record = object({ id: integer, owner: tag, tags }, ['id', 'owner', 'tags'], { additionalProperties: true })
    const request = object({
      ownerId: integer,
      tag_ids: list(integer),
      password: { type: 'string', format: 'password' },
    })
    const sandbox = await open({
      '/things': { post: { ...takes(request), ...ok(record, 201) }, get: ok(list(record)) },
    })
    const { json: made } = await sandbox.post('/things', { ownerId: 3, tag_ids: [4], password: 'secret' })
    expect(made).toEqual({ id: 1, owner: { id: 3, label: '' }, tags: [{ id: 4, label: '' }] })
    expect((await sandbox.get('/things')).json).toEqual([made])
  })

  it('that names the record in its body keeps what it cannot have', async () => {
    const thing = object({ id: integer, name: text, plan: text })
    const change = object({ id: integer, name: text }, ['id'])
    const sandbox = await open({
      '/things': {
        get: ok(list(thing)),
        post: { ...takes(object({ name: text, plan: text })), ...ok(thing, 201) },
        put: { ...takes(change), ...ok(thing) },
      },
      '/things/{id}': { parameters: [inPath('id', integer)], get: ok(thing) },
    })
    await sandbox.post('/things', { name: 'Ann', plan: 'free' })
    const { json } = await sandbox.call('/v1/things', { method: 'PUT', body: { id: 1, name: 'Bob' } })
    expect(json).toEqual({ id: 1, name: 'Bob', plan: 'free' })
  })

  it('that leaves out what each record must have keeps it, and restores a default', async () => {
    const item = object({ id: integer, title: text, price: text, size: { ...text, default: 'm' } }, ['title', 'price'])
    const title = { type: ['string', 'null'] }
    const sandbox = await open({
      ...crud('/items', '/items/{id}', item, [inPath('id', integer)]),
      '/items/{id}': {
        parameters: [inPath('id', integer)],
        get: ok(item),
        put: { ...takes(object({ title, price: text, size: text })), ...ok(item) },
      },
    })
    await sandbox.post('/items', { title: 'Nut', price: '3', size: 'l' })
    const { json } = await sandbox.call('/v1/items/1', { method: 'PUT', body: { title: null } })
    expect(json).toEqual({ id: 1, title: 'Nut', price: '3', size: 'm' })
  })

  it('keeps what is read-only in one request and not in another', async () => {
    const record = object({ id: readOnly(integer), owner: readOnly(text), title: text }, ['id', 'owner'])
    const sandbox = await open({
      '/things': {
        post: { ...takes(object({ owner: text, title: text }, ['owner'])), ...ok(record, 201) },
        get: ok(list(record)),
      },
      '/things/{id}': { parameters: [inPath('id', integer)], put: { ...takes(record), ...ok(record) } },
    })
    await sandbox.post('/things', { owner: 'Ann', title: 'A' })
    const body = { owner: 'Bob', title: 'B' }
    const { json: changed } = await sandbox.call('/v1/things/1', { method: 'PUT', body })
    expect(changed).toEqual({ id: 1, owner: 'Ann', title: 'B' })
  })
})

it('null inside an object is kept by PUT, as by POST', async () => {
  const place = object({ note: { type: ['string', 'null'] }, city: text })
  const thing = object({ id: readOnly(integer), place }, ['id'])
  const item = { parameters: [inPath('id', integer)], get: ok(thing), put: { ...takes(thing), ...ok(thing) } }
  const sandbox = await open({ '/things': { post: { ...takes(thing), ...ok(thing, 201) } }, '/things/{id}': item })
  const sent = { place: { note: null, city: 'Bonn' } }
  expect((await sandbox.post('/things', sent)).json).toEqual({ id: 1, ...sent })
  expect((await sandbox.call('/v1/things/1', { method: 'PUT', body: sent })).json).toEqual({ id: 1, ...sent })
})

it('defaults inside objects and rows are filled in', async () => {
  const level = { ...integer, default: 2 }
  const inner = object({ name: text, level }, ['name'])
  const thing = object({ id: readOnly(integer), attributes: inner, rows: list(inner) }, ['id'])
  const sandbox = await open({
    '/things': { post: { ...takes(thing), ...ok(thing, 201) }, get: ok(list(thing)) },
    '/things/{id}': { parameters: [inPath('id', integer)], get: ok(thing), put: { ...takes(thing), ...ok(thing) } },
  })
  const sent = { attributes: { name: 'a' }, rows: [{ name: 'b' }, { name: 'c', level: 3 }] }
  const stored = {
    id: 1,
    attributes: { name: 'a', level: 2 },
    rows: [
      { name: 'b', level: 2 },
      { name: 'c', level: 3 },
    ],
  }
  expect((await sandbox.post('/things', sent)).json).toEqual(stored)
  const body = { attributes: { name: 'a' } }
  expect((await sandbox.call('/v1/things/1', { method: 'PUT', body })).json).toEqual({
    id: 1,
    attributes: stored.attributes,
  })
  expect((await sandbox.post('/things', {})).json).toEqual({ id: 2 })
})

it('instants that only the service sets are those of the clock, also without a format', async () => {
  const thing = object(
    {
      id: readOnly(integer),
      name: text,
      created_at: text,
      createdOnUtc: text,
      updated_at: { ...text, example: '2020-01-01T00:00:00+02:00' },
      created_on: { ...text, example: '2020-01-01' },
      created: { ...integer, example: 1577836800 },
      updatedAt: { ...integer, example: 1577836800000 },
      added: integer,
      inserted: { ...integer, examples: { one: 1 } },
      changed: { ...text, example: '2 days ago' },
      modified: { ...text, maxLength: 5 },
    },
    ['id', 'name'],
  )
  const sandbox = await open(crud('/things', '/things/{id}', thing, [inPath('id', integer)], object({ name: text })))
  const instant = '2026-03-01T12:00:00.000Z'
  const seconds = Date.parse(instant) / 1000
  const stored = {
    ...{ id: 1, name: 'a', created_at: instant, createdOnUtc: instant, updated_at: instant, created_on: '2026-03-01' },
    ...{ created: seconds, updatedAt: seconds * 1000 },
  }
  expect((await sandbox.post('/things', { name: 'a' })).json).toEqual(stored)
})

describe('an id that is not in the path', () => {
  it.each<[string, string, object]>([
    ['a UUID', 'id', { type: 'string', format: 'uuid' }],
    ['a number', 'id', integer],
    ['a number that may be a fraction', 'id', { type: 'number' }],
    ['a text of a pattern', 'id', { ...text, pattern: '^usr_[a-z0-9]{12}$' }],
    ['named after the collection', 'user_id', integer],
    ['read-only', 'uuid', readOnly({ type: 'string', format: 'uuid' })],
  ])('is another one for each record: %s', async (_what, name, schema) => {
    const user = object({ [name]: schema, username: text }, [name, 'username'])
    const sent = object({ username: text }, ['username'])
    const sandbox = await open({
      '/users': { post: { ...takes(sent), ...ok(user, 201) }, get: ok(list(user)) },
      '/users/{username}': { parameters: [inPath('username')], get: ok(user), put: { ...takes(sent), ...ok(user) } },
    })
    expect(sandbox.mocked).toEqual({})
    const ann = (await sandbox.post('/users', { username: 'ann' })).json as Node
    const bob = (await sandbox.post('/users', { username: 'bob' })).json as Node
    expect(ann[name]).toBeDefined()
    expect(bob[name]).not.toEqual(ann[name])
    await sandbox.call('/v1/users/ann', { method: 'PUT', body: { username: 'ann' } })
    expect((await sandbox.get('/users/ann')).json).toEqual(ann)
  })
})

describe('pages', () => {
  const bug = object({ id: integer, title: text }, ['id', 'title'])
  const page = (properties: Node) => ok(object({ ...properties, values: list(bug) }))
  it.each<[string, readonly object[], Node, string, string, Node]>([
    [
      'of Jira: startAt and maxResults',
      [inQuery('startAt'), inQuery('maxResults')],
      page({ startAt: integer, maxResults: integer, total: integer, isLast: { type: 'boolean' } }),
      'startAt=0&maxResults=2',
      'startAt=2&maxResults=2',
      { startAt: 2, maxResults: 2, total: 3, isLast: true },
    ],
    [
      'with start and count',
      [inQuery('start'), inQuery('count')],
      page({ start: integer, total: integer }),
      'start=0&count=2',
      'start=2&count=2',
      { start: 2, total: 3 },
    ],
    [
      'of SCIM: startIndex begins with 1',
      [inQuery('startIndex', { ...integer, minimum: 1 }), inQuery('count')],
      page({ startIndex: integer, itemsPerPage: integer, totalResults: integer }),
      'startIndex=1&count=2',
      'startIndex=3&count=2',
      { startIndex: 3, itemsPerPage: 2, totalResults: 3 },
    ],
    [
      'of Laravel: from, to, first_page_url, last_page',
      [inQuery('page'), inQuery('per_page')],
      page({
        current_page: integer,
        from: integer,
        to: integer,
        last_page: integer,
        per_page: integer,
        total: integer,
        path: text,
        prev_page_url: text,
      }),
      'page=1&per_page=2',
      'page=2&per_page=2',
      {
        current_page: 2,
        from: 3,
        to: 3,
        last_page: 2,
        per_page: 2,
        total: 3,
        path: expect.stringMatching(/\/v1\/bugs$/),
        prev_page_url: expect.stringContaining('page=1'),
      },
    ],
    [
      'of Laravel: links and meta',
      [inQuery('page'), inQuery('per_page')],
      page({
        links: object({ first: text, last: text, next: { type: ['string', 'null'] } }),
        meta: object({ from: integer, to: integer }),
      }),
      'page=1&per_page=2',
      'page=2&per_page=2',
      {
        links: { first: expect.stringContaining('page=1'), last: expect.stringContaining('page=2'), next: null },
        meta: { from: 3, to: 3 },
      },
    ],
  ])('%s', async (_what, parameters, response, first, second, expected) => {
    const sandbox = await open({
      '/bugs': {
        post: { ...takes(object({ title: text }, ['title'])), ...ok(bug, 201) },
        get: { parameters, ...response },
      },
    })
    for (const title of ['a', 'b', 'c']) await sandbox.post('/bugs', { title })
    const titles = ({ json: body }: { json: unknown }) => (Object(body).values as Node[]).map(({ title }) => title)
    expect(titles(await sandbox.get(`/bugs?${first}`))).toEqual(['c', 'b'])
    const last = await sandbox.get(`/bugs?${second}`)
    expect(titles(last)).toEqual(['a'])
    const { values: _, ...rest } = last.json as Node
    expect(rest).toEqual(expected)
  })

  it('before a record', async () => {
    const parameters = [inQuery('limit'), inQuery('starting_after', text), inQuery('ending_before', text)]
    const sandbox = await open({
      '/bugs': {
        post: { ...takes(object({ title: text }, ['title'])), ...ok(bug, 201) },
        get: { parameters, ...ok(list(bug)) },
      },
    })
    for (const title of ['a', 'b', 'c', 'd']) await sandbox.post('/bugs', { title })
    const ids = async (query: string) => ((await sandbox.get(`/bugs?${query}`)).json as Node[]).map(({ id }) => id)
    expect(await ids('limit=2&starting_after=4')).toEqual([3, 2])
    expect(await ids('limit=2&ending_before=1')).toEqual([3, 2])
    expect(await ids('limit=2&ending_before=3')).toEqual([4])
  })

  it('are the whole list if its start is not known', async () => {
    const parameters = [inQuery('limit'), inQuery('window_start', text)]
    const sandbox = await open({
      '/bugs': {
        post: { ...takes(object({ title: text }, ['title'])), ...ok(bug, 201) },
        get: { parameters, ...ok(list(bug)) },
      },
    })
    for (const title of ['a', 'b', 'c']) await sandbox.post('/bugs', { title })
    expect((await sandbox.get('/bugs?limit=2')).json).toHaveLength(3)
  })
})

describe('a document of entities that hold each other', () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

  it('is read in time although the ways from one to another are too many to follow', async () => {
    const names = Array.from({ length: 24 }, (_, index) => `Entity${index}`)
    const schemas = Object.fromEntries(
      names.map((name) => [name, object(Object.fromEntries(names.map((other) => [other.toLowerCase(), ref(other)])))]),
    )
    const paths = {
      ...crud('/things', '/things/{id}', object({ id: readOnly(integer), name: text }), [inPath('id', integer)]),
      '/things/{id}/close': { parameters: [inPath('id', integer)], post: ok(ref('Entity0')) },
      '/things/{id}': {
        parameters: [inPath('id', integer)],
        get: ok(object({ id: readOnly(integer), name: text })),
        delete: ok(ref('Entity0')),
      },
    }
    await open(paths, { components: { schemas } })
  })

  it('is read although its envelopes form a ring', async () => {
    const schemas = {
      Page: object({ content: ref('Content') }),
      Content: object({ body: ref('Body') }),
      Body: object({ page: ref('Page') }),
    }
    const { mocked } = await open({ '/home': { get: ok(ref('Page')) } }, { components: { schemas } })
    expect(Object.keys(mocked)).toHaveLength(1)
  })
})
