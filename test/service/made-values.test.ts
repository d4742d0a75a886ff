import { expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const [[, openSandbox]] = transports as [(typeof transports)[number]]

type Part = Readonly<Record<string, unknown>>
type Body = Readonly<Record<string, unknown>>

const text = { type: 'string' }
const uuid = { type: 'string', format: 'uuid' }
const integer = { type: 'integer' }
const list = (items: Part) => ({ type: 'array', items })
const object = (properties: Part, required = Object.keys(properties)) => ({ type: 'object', required, properties })
const json = (schema: Part) => ({ content: { 'application/json': { schema } } })
const ok = (status: number, schema: Part) => ({ [status]: { description: '', ...json(schema) } })

/** A collection whose records have other schemas in requests than in responses. */
function collection(path: string, sent: Part, record: Part, more: Part = {}): Part {
  const { type } = Object(record.properties).id ?? integer
  const named = path.replaceAll('/', '')
  return {
    [path]: {
      get: { operationId: `${named}List`, responses: ok(200, list(record)) },
      post: { operationId: `${named}Add`, requestBody: json(sent), responses: { ...ok(201, record), ...more } },
    },
    [`${path}/{id}`]: {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type } }],
      get: { operationId: `${named}Get`, responses: ok(200, record) },
      patch: {
        operationId: `${named}Change`,
        requestBody: json({ ...sent, required: [] }),
        responses: ok(200, record),
      },
    },
  }
}

async function serve(paths: Part, components: Part = {}) {
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, components }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), strict: true })
  const add = async (path: string, body: Body) => (await sandbox.post(path, body)).json as Body
  const change = async (path: string, body: Body) => (await sandbox.call(path, { method: 'PATCH', body })).json as Body
  return { sandbox, add, change }
}

const row = object({ what: text })

it.each([
  ['UUIDs', uuid, uuid],
  ['integers', integer, integer],
  ['integers of records with UUIDs', integer, uuid],
  ['texts of a pattern', { type: 'string', pattern: '^ln_[0-9a-f]{12}$' }, integer],
])('each row of a record has an id of its own, %s', async (_what, rowId, id) => {
  const record = object({ id, lines: list(object({ id: rowId, what: text })) })
  const paths = collection('/orders', object({ lines: list(row) }), record)
  const [one, other] = [await serve(paths), await serve(paths)]
  const bodies = [{ lines: [{ what: 'a' }, { what: 'b' }] }, { lines: [{ what: 'c' }, { what: 'd' }] }]
  const rowsOf = ({ lines }: Body) => lines as readonly Body[]
  const made: Body[] = []
  for (const body of bodies) made.push(await one.add('/orders', body))
  const changed = await one.change(`/orders/${made[0]?.id}`, { lines: [{ what: 'e' }, { what: 'f' }, { what: 'g' }] })
  const ids = [...made, changed].flatMap(rowsOf).map((item) => item.id)
  expect(new Set(ids).size).toBe(7)
  expect(rowsOf(made[1] ?? {}).map(({ what }) => what)).toEqual(['c', 'd'])
  expect(await other.add('/orders', bodies[0] as Body)).toEqual(made[0])
})

it('each row of a record has an id of its own, also where the id of the record is as large as integers are', async () => {
  const record = object({ id: { ...integer, format: 'int64' }, lines: list(object({ id: integer, what: text })) })
  const paths = collection('/orders', object({ lines: list(row) }), record)
  const put = { operationId: 'put', requestBody: json(object({ lines: list(row) })), responses: ok(201, record) }
  const { sandbox } = await serve({ ...paths, '/orders/{id}': { ...Object(paths['/orders/{id}']), put } })
  const lines = [{ what: 'a' }, { what: 'b' }]
  for (const method of ['PUT', 'PATCH']) {
    const made = await sandbox.call('/orders/9223372036854775807', { method, body: { lines } })
    const ids = [...made.text.matchAll(/"id":(\d+),"what"/g)].map(([, id]) => Number(id))
    expect([method, new Set(ids).size, ids.every(Number.isSafeInteger)]).toEqual([method, 2, true])
  }
})

it('ids whose form leaves few texts are not given twice, and end when there are no more', async () => {
  const id = { type: 'string', pattern: '^[A-B][0-9]$' }
  const record = object({ id, lines: list(object({ id, what: text })) })
  const { sandbox, add } = await serve(collection('/orders', object({ lines: list(row) }), record))
  const lines = Array.from({ length: 21 }, () => ({ what: 'a' }))
  const made: Body[] = []
  for (let n = 0; n < 20; n++) made.push(await add('/orders', { lines }))
  expect(new Set(made.map((order) => order.id)).size).toBe(20)
  expect(new Set(made.flatMap((order) => order.lines as readonly Body[]).map((line) => line.id)).size).toBe(20)
  expect(await sandbox.post('/orders', { lines })).toMatchObject({ status: 409, code: 'conflict' })
})

it('very many rows, records with unique values, or values of a filter take no longer than other requests of their length', async () => {
  const record = object({ id: integer, lines: list(object({ id: integer, what: text })) })
  const user = object({ id: integer, email: { ...text, 'x-unique': true } })
  const tagged = object({ tags: list(integer) })
  const paths = collection('/things', tagged, object({ id: integer, tags: list(integer) }))
  const tags = { name: 'tags', in: 'query', schema: list(text) }
  Object.assign(Object(paths['/things']).get, { parameters: [tags] })
  const { sandbox } = await serve({
    ...paths,
    ...collection('/orders', object({ lines: list(row) }), record),
    '/users': {
      get: { operationId: 'users', responses: ok(200, list(user)) },
      post: {
        operationId: 'addUsers',
        requestBody: json(list(object({ email: text }))),
        responses: { ...ok(201, list(user)), 409: { description: 'taken' } },
      },
    },
  })
  const started = process.cpuUsage()
  const lines = Array.from({ length: 40_000 }, () => ({ what: 'a' }))
  const users = Array.from({ length: 20_000 }, (_, n) => ({ email: `${n}@a.example` }))
  expect((await sandbox.post('/orders', { lines })).status).toBe(201)
  expect((await sandbox.call('/users', { method: 'POST', body: users })).status).toBe(201)
  await sandbox.post('/things', { tags: Array.from({ length: 100_000 }, (_, n) => n) })
  expect((await sandbox.get(`/things?${'tags=b&'.repeat(2000)}`)).json).toEqual([])
  // In microseconds. If each is compared with all others, they take minutes.
  expect(process.cpuUsage(started).user).toBeLessThan(20e6)
})

it('a row keeps the id that the client sends, and read-only ids are made where requests have the same schema', async () => {
  const line = object({ id: { ...integer, readOnly: true }, what: text })
  const sent = object({ lines: list(object({ id: integer, what: text }, ['what'])) })
  const { add } = await serve({
    ...collection('/orders', sent, object({ id: integer, lines: list(line) })),
    ...collection('/drafts', object({ lines: list(line) }), object({ id: integer, lines: list(line) })),
  })
  expect(await add('/orders', { lines: [{ id: 1001, what: 'a' }, { what: 'b' }] })).toEqual({
    id: 1,
    lines: [
      { id: 1001, what: 'a' },
      { id: 1002, what: 'b' },
    ],
  })
  expect((await add('/drafts', { lines: [{ what: 'a' }] })).lines).toEqual([{ id: 1001, what: 'a' }])
})

it.each([
  ['3.1', { type: ['string', 'null'], format: 'date', examples: ['2026-01-31'] }],
  [
    'an alternative',
    { anyOf: [{ type: 'string', format: 'date-time', example: '2026-01-31T00:00:00Z' }, { type: 'null' }] },
  ],
  ['an enum', { type: ['string', 'null'], enum: ['a', null] }],
])('an omitted property that may be null is null, required or not: %s', async (_what, schema) => {
  const record = object({ id: integer, name: text, due: schema, issued_at: schema, note: schema }, [
    'id',
    'name',
    'due',
  ])
  const { add, change } = await serve(collection('/tasks', object({ name: text, due: schema }, ['name']), record))
  const value = Array.isArray(Object(schema).enum) ? 'a' : 'anyOf' in schema ? '2026-02-28T00:00:00Z' : '2026-02-28'
  const empty = { id: 1, name: 'a', due: null, issued_at: null, note: null }
  expect(await add('/tasks', { name: 'a' })).toEqual(empty)
  expect(await change('/tasks/1', { due: value })).toEqual({ ...empty, due: value })
  expect(await change('/tasks/1', { due: null })).toEqual(empty)
})

it('the default of a property goes before null', async () => {
  const schema = { type: ['string', 'null'], default: 'low' }
  const record = object({ id: integer, name: text, priority: schema })
  const { add } = await serve(collection('/tasks', object({ name: text }), record))
  expect(await add('/tasks', { name: 'a' })).toMatchObject({ priority: 'low' })
})

it('null is not taken, where a value must be unique', async () => {
  const code = { type: ['string', 'null'], 'x-unique': true }
  const conflict = { 409: { description: '' } }
  const paths = collection('/tasks', object({ code }, []), object({ id: integer, code }), conflict)
  const { sandbox } = await serve(paths)
  const statuses = [{}, {}, { code: 'a' }, { code: 'a' }].map(
    async (body) => (await sandbox.post('/tasks', body)).status,
  )
  expect((await Promise.all(statuses)).sort()).toEqual([201, 201, 201, 409])
})

it.each([
  ['number', { type: 'string', example: 'INV-2026-0001' }, ['INV-2026-0001', 'INV-2026-0002', 'INV-2026-0003']],
  ['number', { type: 'string', example: 'INV-0099' }, ['INV-0099', 'INV-0100', 'INV-0101']],
  ['ticket', { type: 'string', examples: ['T0041'] }, ['T0041', 'T0042', 'T0043']],
  ['slug', { type: 'string', example: 'first' }, ['first', 'first-2', 'first-3']],
  ['invoiceNo', { type: 'string' }, ['invoiceNo-1', 'invoiceNo-2', 'invoiceNo-3']],
  ['number', { type: 'integer', example: 1001 }, [1001, 1002, 1003]],
  ['number', { type: 'integer', format: 'int64', minimum: 1000 }, [1000, 1001, 1002]],
  ['number', { type: 'string', pattern: '^R-\\d{4}$' }, ['R-0000', 'R-0001', 'R-0002']],
  ['api_version', { type: 'string', example: '1.0.100' }, ['1.0.100', '1.0.100', '1.0.100']],
  ['since', { type: 'string', example: '2026-01-100' }, ['2026-01-100', '2026-01-100', '2026-01-100']],
  ['currency', { type: 'string', example: 'EUR' }, ['EUR', 'EUR', 'EUR']],
  ['number', { type: 'string', example: 'N1', maxLength: 2 }, ['N1', 'N1', 'N1']],
])(
  'what only the service sets is counted on from its example, if it looks unique: %s %j',
  async (name, schema, expected) => {
    const record = object({ id: uuid, title: text, [name]: schema })
    const { add, change } = await serve(collection('/invoices', object({ title: text }), record))
    const made: Body[] = []
    for (const title of ['a', 'b', 'c']) made.push(await add('/invoices', { title }))
    expect(made.map((item) => item[name])).toEqual(expected)
    expect((await change(`/invoices/${made[1]?.id}`, { title: 'x' }))[name]).toEqual(expected[1])
  },
)

it('an optional text with an example that is counted on is set by the service, and another one is not', async () => {
  const number = { type: 'string', example: 'ORD-0001' }
  const record = object({ id: integer, title: text, number, carrierNumber: text }, ['id'])
  const { add } = await serve(collection('/orders', object({ title: text }), record))
  await add('/orders', { title: 'a' })
  expect(await add('/orders', { title: 'b' })).toEqual({ id: 2, title: 'b', number: 'ORD-0002' })
})

const author = object({ id: integer, name: text, motto: { type: ['string', 'null'] } })
const tag = object({ id: integer, name: text })
const AUTHOR = { $ref: '#/components/schemas/Author' }
const AUTHORS = {
  ...collection('/authors', object({ name: text }), AUTHOR),
  ...collection('/tags', object({ name: text }), tag),
}
const components = { schemas: { Author: author } }

it.each([
  ['with the same schema', 'writer', AUTHOR, 'writerId'],
  ['with a part of it, by its name', 'author', object({ id: integer, name: text }), 'author_id'],
  ['as an alternative to null', 'author', { anyOf: [AUTHOR, { type: 'null' }] }, 'authorId'],
])('the record that an id refers to is shown as it is now, %s', async (_what, name, shown, sentName) => {
  const record = object({ id: integer, [name]: shown })
  const books = collection('/books', object({ [sentName]: integer }), record)
  const { sandbox, add, change } = await serve({ ...AUTHORS, ...books }, components)
  await add('/authors', { name: 'Ann' })
  await add('/authors', { name: 'Bob' })
  const made = await add('/books', { [sentName]: 2 })
  expect(made[name]).toMatchObject({ id: 2, name: 'Bob' })
  await change('/authors/2', { name: 'Rob' })
  expect((await sandbox.get('/books')).json).toMatchObject([{ id: 1, [name]: { id: 2, name: 'Rob' } }])
  expect((await change('/books/1', { [sentName]: 1 }))[name]).toMatchObject({ id: 1, name: 'Ann' })
})

it('a list of ids is shown as a list of the records', async () => {
  const paths = collection('/books', object({ tag_ids: list(integer) }), object({ id: integer, tags: list(tag) }))
  const { add } = await serve({ ...AUTHORS, ...paths }, components)
  await add('/tags', { name: 'new' })
  await add('/tags', { name: 'old' })
  expect(await add('/books', { tag_ids: [2, 1] })).toEqual({
    id: 1,
    tags: [
      { id: 2, name: 'old' },
      { id: 1, name: 'new' },
    ],
  })
})

it('an unknown id is a documented 404 of the operation that creates, and else a record with that id', async () => {
  const record = object({ id: integer, author })
  const missing = { 404: { description: '' } }
  const books = collection('/books', object({ author_id: integer }), record)
  const papers = collection('/papers', object({ author_id: integer }), record, missing)
  const { sandbox, add } = await serve({ ...AUTHORS, ...books, ...papers }, components)
  expect((await sandbox.post('/papers', { author_id: 7 })).status).toBe(201)
  await add('/authors', { name: 'Ann' })
  expect(await add('/books', { author_id: 7 })).toMatchObject({ author: { id: 7 } })
  const refused = await sandbox.post('/papers', { author_id: 7 })
  expect([refused.status, refused.text]).toEqual([
    404,
    expect.stringContaining('authors has no record \\"7\\" (author_id).'),
  ])
  expect((await sandbox.post('/papers', { author_id: 1 })).json).toMatchObject({ author: { id: 1, name: 'Ann' } })
})

it('an unknown id of a record of another resource is a documented 404 of the operation that creates', async () => {
  const missing = { 404: { description: '' } }
  const sent = { room_id: integer, doorId: text, hallId: integer, partner_id: { type: ['integer', 'null'] } }
  const booking = (more: Part = {}) =>
    collection('/bookings', object(sent, []), object({ id: integer, ...sent }, ['id']), more)
  const named = object({ name: text })
  const kept = object({ id: integer, name: text })
  const others = Object.fromEntries(
    ['/rooms', '/doors', '/partners'].flatMap((path) => Object.entries(collection(path, named, kept))),
  )
  // Clients cannot add any: the sandbox has made one up.
  const halls = { '/halls': { get: { responses: ok(200, list(kept)) } } }
  const { sandbox, add } = await serve({ ...others, ...halls, ...booking(missing) })
  const status = async (body: Part) => (await sandbox.post('/bookings', body)).status
  expect(await status({ room_id: 7 })).toBe(201)
  for (const path of ['/rooms', '/doors', '/partners']) await add(path, { name: 'a' })
  expect(await status({ room_id: 1, doorId: 'of another service', hallId: 7, partner_id: null })).toBe(201)
  const refused = await sandbox.post('/bookings', { room_id: 7 })
  expect([refused.status, refused.text]).toEqual([
    404,
    expect.stringContaining('rooms has no record \\"7\\" (room_id).'),
  ])
  const free = await serve({ ...others, ...booking() })
  await free.add('/rooms', { name: 'a' })
  expect(await free.add('/bookings', { room_id: 7 })).toMatchObject({ room_id: 7 })
})
