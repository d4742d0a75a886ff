import { describe, expect, it } from 'vitest'
import {
  converse,
  crud,
  expectedOf,
  inPath,
  integer,
  list,
  type Node,
  object,
  ok,
  openContract,
  readOnly,
  type Turn,
  takes,
  text,
} from '../support/small-contract.js'

type Row = readonly [what: string, paths: Node, turns: readonly Turn[]]

const task = object({ id: readOnly(integer), name: text, done: { type: 'boolean' } }, ['id', 'name'])
const sent = object({ name: text, done: { type: 'boolean' } }, ['name'])
const change = object({ name: text, done: { type: 'boolean' } })
const gone = { responses: { 204: { description: 'gone' } } }
const id = [inPath('id', integer)]
const ANN = { id: 1, name: 'Ann' }

async function check(paths: Node, turns: readonly Turn[], more?: Node): Promise<void> {
  const sandbox = await openContract(paths, more)
  expect(sandbox.mocked).toEqual({})
  expect(await converse(sandbox, turns)).toEqual(expectedOf(turns))
  expect(sandbox.warnings).toEqual([])
}

describe('a record that its POST makes', () => {
  const cart = object({ id: readOnly(integer), coupon: text }, ['id'])
  it.each<Row>([
    [
      'without a body',
      {
        '/carts': { post: ok(cart, 201), get: ok(list(cart)) },
        '/carts/{id}': { parameters: id, get: ok(cart), patch: { ...takes(object({ coupon: text })), ...ok(cart) } },
      },
      [
        ['POST /carts 201', undefined, { id: 1 }],
        ['PATCH /carts/1 200', { coupon: 'SAVE' }, { id: 1, coupon: 'SAVE' }],
        ['GET /carts 200', undefined, [{ id: 1, coupon: 'SAVE' }]],
        ['GET /carts/2 404'],
      ],
    ],
    [
      'of other things than it has',
      {
        '/exports': { post: { ...takes(object({ format: text })), ...ok(cart, 202) }, get: ok(list(cart)) },
        '/exports/{id}': { parameters: id, get: ok(cart) },
      },
      [
        ['POST /exports 202', { format: 'csv' }, { id: 1 }],
        ['GET /exports/1 200', undefined, { id: 1 }],
      ],
    ],
  ])('%s', async (_what, paths, turns) => {
    await check(paths, turns)
  })
})

describe('verbs in paths', () => {
  it.each<Row>([
    [
      'after the collection and the record',
      {
        '/tasks': { get: ok(list(task)) },
        '/tasks/create': { post: { ...takes(sent), ...ok(task, 201) } },
        '/tasks/{id}': { parameters: id, get: ok(task) },
        '/tasks/{id}/update': { parameters: id, post: { ...takes(change), ...ok(task) } },
        '/tasks/{id}/delete': { parameters: id, post: gone },
      },
      [
        ['POST /tasks/create 201', { name: 'Ann' }, ANN],
        ['GET /tasks 200', undefined, [ANN]],
        ['POST /tasks/1/update 200', { done: true }, { ...ANN, done: true }],
        ['GET /tasks/1 200', undefined, { ...ANN, done: true }],
        ['POST /tasks/1/delete 204'],
        ['POST /tasks/1/delete 404'],
        ['GET /tasks 200', undefined, []],
      ],
    ],
    [
      'before the parameter, with the name of the record',
      {
        '/tasks/list': { get: ok(list(task)) },
        '/tasks/createTask': { post: { ...takes(sent), ...ok(task) } },
        '/tasks/getById/{id}': { parameters: id, get: ok(task) },
        '/tasks/edit/{id}': { parameters: id, put: { ...takes(sent), ...ok(task) } },
        '/tasks/remove/{id}': { parameters: id, delete: gone },
      },
      [
        ['POST /tasks/createTask 200', { name: 'Ann', done: true }, { ...ANN, done: true }],
        ['GET /tasks/list 200', undefined, [{ ...ANN, done: true }]],
        ['PUT /tasks/edit/1 200', { name: 'Bob' }, { id: 1, name: 'Bob' }],
        ['GET /tasks/getById/1 200', undefined, { id: 1, name: 'Bob' }],
        ['DELETE /tasks/remove/1 204'],
        ['GET /tasks/getById/1 404'],
      ],
    ],
    [
      'with the id in the body',
      {
        '/tasks/all': { get: ok(list(task)) },
        '/tasks/add': { post: { ...takes(sent), ...ok(task, 201) } },
        '/tasks/update': { post: { ...takes(object({ ...change.properties, id: integer }, ['id'])), ...ok(task) } },
        '/tasks/delete': { post: { ...takes(object({ id: integer }, ['id'])), ...ok({ type: 'boolean' }) } },
      },
      [
        ['POST /tasks/add 201', { name: 'Ann' }, ANN],
        ['POST /tasks/update 200', { id: 1, done: true }, { ...ANN, done: true }],
        ['POST /tasks/update 404', { id: 2, done: true }],
        ['GET /tasks/all 200', undefined, [{ ...ANN, done: true }]],
        ['POST /tasks/delete 200', { id: 1 }, true],
        ['GET /tasks/all 200', undefined, []],
      ],
    ],
    [
      'with the id in the query',
      {
        '/tasks': { get: ok(list(task)), post: { ...takes(sent), ...ok(task, 201) } },
        '/tasks/remove': {
          delete: { parameters: [{ name: 'id', in: 'query', required: true, schema: integer }], ...gone },
        },
      },
      [
        ['POST /tasks 201', { name: 'Ann' }, ANN],
        ['DELETE /tasks/remove?id=2 404'],
        ['DELETE /tasks/remove?id=1 204'],
        ['GET /tasks 200', undefined, []],
      ],
    ],
  ])('%s', (_what, paths, turns) => check(paths, turns))

  it('are part of the name where nothing else is about the collection', async () => {
    const { mocked } = await openContract({ '/reports/create': { post: { ...takes(sent), ...ok(task, 201) } } })
    expect(Object.keys(mocked)).toEqual(['POST/reports/create'])
  })
})

describe('POST that creates beside POST that updates', () => {
  const collection = { post: { ...takes(sent), ...ok(task, 201) }, get: ok(list(task)) }
  const turns: readonly Turn[] = [
    ['POST /tasks 201', { name: 'Ann' }, ANN],
    ['POST /tasks/1 200', { done: true }, { ...ANN, done: true }],
    ['POST /tasks/2 404', { done: true }],
    ['GET /tasks 200', undefined, [{ ...ANN, done: true }]],
  ]
  const update = { post: { ...takes(change), ...ok(task) } }
  it.each<Row>([
    ['alone', { '/tasks': collection, '/tasks/{id}': { parameters: id, ...update } }, turns],
    [
      'with PUT',
      { '/tasks': collection, '/tasks/{id}': { parameters: id, ...update, put: { ...takes(sent), ...ok(task) } } },
      [...turns, ['PUT /tasks/1 200', { name: 'Bob' }, { id: 1, name: 'Bob' }]],
    ],
    [
      'with a verb beside PATCH',
      {
        '/tasks': collection,
        '/tasks/{id}': { parameters: id, get: ok(task), patch: { ...takes(change), ...ok(task) } },
        '/tasks/{id}/edit': { parameters: id, ...update },
      },
      turns.map(([request, ...bodies]) => [request.replace(/(?<=POST .tasks.\d)(?= )/, '/edit'), ...bodies] as const),
    ],
  ])('%s', (_what, paths, all) => check(paths, all))
})

describe('/task beside /tasks', () => {
  const turns: readonly Turn[] = [
    ['POST /task 201', { name: 'Ann' }, ANN],
    ['GET /tasks 200', undefined, [ANN]],
  ]
  const post = { post: { ...takes(sent), ...ok(task, 201) } }
  const summaries = list(object({ id: integer, name: text }, [], { additionalProperties: false }))
  it.each<Row>([
    [
      'a list of summaries',
      {
        '/task': post,
        '/task/{id}': { parameters: id, get: ok(task), delete: gone },
        '/tasks': { get: ok(summaries) },
      },
      [...turns, ['GET /task/1 200', undefined, ANN], ['DELETE /task/1 204'], ['GET /tasks 200', undefined, []]],
    ],
    [
      'records below the plural',
      { '/task': post, '/tasks': { get: ok(summaries) }, '/tasks/{id}': { parameters: id, get: ok(task) } },
      [...turns, ['GET /tasks/1 200', undefined, ANN]],
    ],
    [
      'with children',
      {
        '/category': { post: post.post },
        '/categories': { get: ok(list(task)) },
        '/category/{id}': { parameters: id, get: ok(task) },
        '/category/{id}/notes': { parameters: id, post: post.post, get: ok(list(task)) },
      },
      [
        ['POST /category 201', { name: 'Ann' }, ANN],
        ['GET /categories 200', undefined, [ANN]],
        ['POST /category/1/notes 201', { name: 'Bob' }, { id: 1, name: 'Bob' }],
        ['GET /category/1/notes 200', undefined, [{ id: 1, name: 'Bob' }]],
        ['GET /category/2/notes 404'],
      ],
    ],
  ])('%s', (_what, paths, all) => check(paths, all))

  it('are two resources if the singular is one of its own', async () => {
    const me = object({ id: integer, name: text, email: text }, ['id', 'name'])
    await check(
      {
        '/user': { get: ok(me), patch: { ...takes(object({ email: text })), ...ok(me) } },
        '/users': { get: ok(list(task)), post: { ...takes(sent), ...ok(task, 201) } },
        '/users/{id}': { parameters: id, get: ok(task) },
      },
      [
        ['POST /users 201', { name: 'Ann' }, ANN],
        ['PATCH /user 200', { email: 'a@b.c' }, { id: 0, name: 'string', email: 'a@b.c' }],
        ['GET /users 200', undefined, [ANN]],
      ],
    )
  })
})

describe('a path with one record', () => {
  const settings = object({ theme: { ...text, default: 'light' }, size: { ...integer, minimum: 8 } }, ['theme', 'size'])
  const some = object({ theme: text, size: integer })
  it.each<Row>([
    [
      'is there from the start: GET, PUT and PATCH',
      {
        '/settings': {
          get: ok(settings),
          put: { ...takes(settings), ...ok(settings) },
          patch: { ...takes(some), ...ok(settings) },
        },
      },
      [
        ['GET /settings 200', undefined, { theme: 'light', size: 8 }],
        ['PATCH /settings 200', { size: 9 }, { theme: 'light', size: 9 }],
        ['PUT /settings 200', { theme: 'dark', size: 10 }, { theme: 'dark', size: 10 }],
        ['GET /settings 200', undefined, { theme: 'dark', size: 10 }],
      ],
    ],
    [
      'in an envelope, with lists, changed by POST',
      {
        '/preferences': {
          get: ok(object({ preferences: object({ tags: list(text), mail: { type: 'boolean' } }) })),
          put: { ...takes(object({ tags: list(text), mail: { type: 'boolean' } })), ...ok(undefined, 204) },
        },
      },
      [
        ['PUT /preferences 204', { tags: ['a'], mail: true }],
        ['GET /preferences 200', undefined, { preferences: { tags: ['a'], mail: true } }],
      ],
    ],
    [
      'below another record, for each of them',
      {
        '/tasks': { post: { ...takes(sent), ...ok(task, 201) }, get: ok(list(task)) },
        '/tasks/{id}/settings': { parameters: id, get: ok(settings), put: { ...takes(settings), ...ok(settings) } },
      },
      [
        ['GET /tasks/1/settings 404'],
        ['POST /tasks 201', { name: 'Ann' }],
        ['POST /tasks 201', { name: 'Bob' }],
        ['PUT /tasks/1/settings 200', { theme: 'dark', size: 10 }],
        ['GET /tasks/1/settings 200', undefined, { theme: 'dark', size: 10 }],
        ['GET /tasks/2/settings 200', undefined, { theme: 'light', size: 8 }],
      ],
    ],
    [
      'and the ids of its path in its properties',
      {
        '/tasks': { post: { ...takes(sent), ...ok(task, 201) }, get: ok(list(task)) },
        '/tasks/{taskId}/settings': {
          parameters: [inPath('taskId', integer)],
          get: ok(object({ taskId: integer, size: integer }, ['taskId', 'size'])),
          patch: { ...takes(some), ...ok(object({ taskId: integer, size: integer }, ['taskId', 'size'])) },
        },
        '/lines/{order}/{line}': {
          parameters: [inPath('order', integer), inPath('line', integer)],
          get: ok(object({ order: integer, line: integer, amount: integer })),
          put: {
            ...takes(object({ amount: integer })),
            ...ok(object({ order: integer, line: integer, amount: integer })),
          },
        },
      },
      [
        ['POST /tasks 201', { name: 'Ann' }],
        ['GET /tasks/1/settings 200', undefined, { taskId: 1, size: 0 }],
        ['PATCH /tasks/1/settings 200', { size: 9 }, { taskId: 1, size: 9 }],
        ['GET /lines/1/2 200', undefined, { order: 1, line: 2, amount: 0 }],
        ['PUT /lines/1/2 200', { amount: 4 }, { order: 1, line: 2, amount: 4 }],
        ['GET /lines/1/2 200', undefined, { order: 1, line: 2, amount: 4 }],
      ],
    ],
    [
      'that may be missing',
      {
        '/profile': {
          get: { responses: { ...ok(settings).responses, 404: { description: 'none' } } },
          put: { ...takes(settings), ...ok(settings, 201) },
          delete: gone,
        },
      },
      [
        ['GET /profile 404'],
        ['PUT /profile 201', { theme: 'dark', size: 10 }],
        ['GET /profile 200', undefined, { theme: 'dark', size: 10 }],
        ['DELETE /profile 204'],
        ['GET /profile 404'],
      ],
    ],
  ])('%s', (_what, paths, turns) => check(paths, turns))

  it('is no view of a collection whose records have its schema, before it or after it', async () => {
    const user = { $ref: '#/components/schemas/User' }
    const me = { get: ok(user), patch: { ...takes(change), ...ok(user) } }
    const users = crud('/users', '/users/{id}', user, id, change)
    const more = { components: { schemas: { User: object({ id: integer, name: text }, ['id', 'name']) } } }
    const below = {
      '/users/me/photo': { post: { ...takes(object({ file: text })), ...ok(user) } },
      '/users/me/password': { patch: { ...takes(object({ password: text })), ...ok(object({ message: text })) } },
    }
    for (const paths of [
      { '/users/me': me, ...users },
      { ...users, '/users/me': me },
    ])
      await check(
        paths,
        [
          ['GET /users/me 200', undefined, { id: 0, name: 'string' }],
          ['PATCH /users/me 200', { name: 'Ann' }],
          ['POST /users 201', { name: 'Bob' }, { id: 1, name: 'Bob' }],
          ['GET /users/me 200', undefined, { id: 0, name: 'Ann' }],
          ['GET /users 200', undefined, [{ id: 1, name: 'Bob' }]],
        ],
        more,
      )
    const all = { ...below, '/users/found': { get: ok(list(user)) }, '/users/me': me, ...users }
    const sandbox = await openContract(all, more)
    expect(Object.keys(sandbox.mocked)).toEqual(['POST/users/me/photo', 'PATCH/users/me/password'])
    const password = await sandbox.call('/v1/users/me/password', { method: 'PATCH', body: { password: 'secret' } })
    expect(password.status).toBe(200)
  })
})

describe('a POST of a list', () => {
  const [bob, eve] = [
    { id: 1, name: 'Bob' },
    { id: 2, name: 'Eve' },
  ]
  const both = [{ name: 'Bob' }, { name: 'Eve' }]
  const email = { ...text, 'x-unique': true }
  const many = (schema: object, response: Node) => ({ post: { ...takes(schema), ...response } })
  it.each<Row>([
    [
      'creates its records',
      { '/tasks': { ...many(list(sent), ok(list(task), 201)), get: ok(list(task)) } },
      [
        ['POST /tasks 201', both, [bob, eve]],
        ['POST /tasks 400', [{ name: 'Bob' }, { done: true }]],
        ['GET /tasks 200', undefined, [eve, bob]],
      ],
    ],
    [
      'with no value twice that must be unique',
      {
        '/users': {
          ...many(list(object({ email })), {
            responses: {
              ...ok(list(object({ id: readOnly(integer), email })), 201).responses,
              409: { description: 'taken' },
            },
          }),
          get: ok(list(object({ id: readOnly(integer), email }))),
        },
      },
      [
        [
          'POST /users 201',
          [{ email: 'a' }, { email: 'b' }],
          [
            { id: 1, email: 'a' },
            { id: 2, email: 'b' },
          ],
        ],
        ['POST /users 409', [{ email: 'c' }, { email: 'c' }]],
        ['POST /users 409', [{ email: 'c' }, { email: 'a' }]],
        [
          'GET /users 200',
          undefined,
          [
            { id: 2, email: 'b' },
            { id: 1, email: 'a' },
          ],
        ],
      ],
    ],
    [
      'in an envelope, below a path for it',
      {
        '/tasks': { post: { ...takes(sent), ...ok(task, 201) }, get: ok(list(task)) },
        '/tasks/bulk': many(object({ tasks: list(sent) }, ['tasks']), ok(object({ tasks: list(task) }), 201)),
      },
      [
        ['POST /tasks/bulk 201', { tasks: both }, { tasks: [bob, eve] }],
        ['POST /tasks 201', { name: 'Zoe' }, { id: 3, name: 'Zoe' }],
        ['GET /tasks 200', undefined, [{ id: 3, name: 'Zoe' }, eve, bob]],
      ],
    ],
    [
      'in an envelope, with more around them',
      {
        '/tasks': { post: { ...takes(sent), ...ok(task, 201) }, get: ok(list(task)) },
        '/tasks/bulk-create': many(
          object({ records: list(sent), dryRun: { type: 'boolean' } }, ['records']),
          ok(object({ created: integer, data: list(task) }, ['created', 'data']), 201),
        ),
      },
      [
        ['POST /tasks/bulk-create 201', { records: both }, { created: 2, data: [bob, eve] }],
        ['GET /tasks 200', undefined, [eve, bob]],
      ],
    ],
    [
      'in an envelope, with their number in the response',
      {
        '/tasks': { post: { ...takes(sent), ...ok(task, 201) }, get: ok(list(task)) },
        '/tasks/bulk': many(object({ items: list(sent) }, ['items']), ok(object({ total: integer }, ['total']), 201)),
      },
      [
        ['POST /tasks/bulk 201', { items: both }, { total: 2 }],
        ['GET /tasks 200', undefined, [eve, bob]],
      ],
    ],
    [
      'in an envelope, with their ids in the response, or nothing',
      {
        '/tasks': { get: ok(list(task)), post: many(object({ tasks: list(sent) }), ok(undefined, 204)).post },
        '/tasks/batch': many(object({ items: list(sent) }), ok(object({ ids: list(integer) }), 201)),
      },
      [
        ['POST /tasks 204', { tasks: both }],
        ['POST /tasks/batch 201', { items: both }, { ids: [3, 4] }],
        ['GET /tasks 200', undefined, [{ ...eve, id: 4 }, { ...bob, id: 3 }, eve, bob]],
      ],
    ],
    [
      'without a body in the response, and with ids of the client',
      {
        '/labels': {
          ...many(list(object({ code: text, name: text }, ['code'])), ok(undefined, 204)),
          get: ok(list(object({ code: text, name: text }))),
        },
        '/labels/{code}': { parameters: [inPath('code')], get: ok(object({ code: text, name: text })) },
      },
      [
        ['POST /labels 204', [{ code: 'a' }, { code: 'b' }]],
        ['GET /labels/b 200', undefined, { code: 'b' }],
        ['POST /labels 409', [{ code: 'c' }, { code: 'c' }]],
        ['GET /labels/c 404'],
      ],
    ],
  ])('%s', (_what, paths, turns) => check(paths, turns))
})

describe('a record that is one of several', () => {
  const kind = (name: string, properties: Node) =>
    object({ id: readOnly(integer), kind: { ...text, enum: [name] }, ...properties }, [
      'id',
      'kind',
      ...Object.keys(properties),
    ])
  const without = ({ properties: { id: _, ...others }, required, ...schema }: ReturnType<typeof kind>) => ({
    ...schema,
    properties: others,
    required: required?.filter((name) => name !== 'id'),
  })
  const [card, bank] = [kind('card', { number: text }), kind('bank', { iban: text })]
  const turns: readonly Turn[] = [
    ['POST /payments 201', { kind: 'card', number: '42' }, { id: 1, kind: 'card', number: '42' }],
    ['POST /payments 201', { kind: 'bank', iban: 'CH1' }, { id: 2, kind: 'bank', iban: 'CH1' }],
    ['GET /payments/1 200', undefined, { id: 1, kind: 'card', number: '42' }],
    [
      'GET /payments 200',
      undefined,
      [
        { id: 2, kind: 'bank', iban: 'CH1' },
        { id: 1, kind: 'card', number: '42' },
      ],
    ],
    ['POST /payments 400', { kind: 'card', iban: 'CH1' }],
  ]
  const of = (record: object, request: object): Node => ({
    '/payments': { post: { ...takes(request), ...ok(record, 201) }, get: ok(list(record)) },
    '/payments/{id}': { parameters: id, get: ok(record) },
  })
  it.each<Row>([
    ['oneOf', of({ oneOf: [card, bank] }, { oneOf: [without(card), without(bank)] }), turns],
    ['anyOf', of({ anyOf: [card, bank] }, { anyOf: [without(card), without(bank)] }), turns],
    [
      'oneOf in allOf, with common properties beside it',
      of(
        { allOf: [object({ note: text }), { oneOf: [card, bank] }] },
        { allOf: [object({ note: text }), { oneOf: [without(card), without(bank)] }] },
      ),
      turns,
    ],
  ])('%s', (_what, paths, all) => check(paths, all))
})

// As in Stripe's contract.
describe('a record, or what is left of it', () => {
  const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const customer = object({ id: text, name: text, created: integer }, ['id', 'created'])
  const deleted = object({ id: text, deleted: { type: 'boolean', enum: [true] } }, ['id', 'deleted'])
  const components = { schemas: { customer, deleted } }
  const both = [schema('deleted'), schema('customer')]
  it.each([
    ['anyOf', { anyOf: both }],
    ['oneOf', { oneOf: both }],
    ['inline schemas', { anyOf: [customer, deleted] }],
  ])('is the one that the list has: %s', async (_what, record) => {
    const sandbox = await openContract(
      {
        '/customers': {
          post: { ...takes(object({ name: text })), ...ok(schema('customer')) },
          get: ok(object({ data: list(schema('customer')), has_more: { type: 'boolean' } }, ['data', 'has_more'])),
        },
        '/customers/{customer}': {
          parameters: [inPath('customer')],
          get: ok(record),
          delete: ok(schema('deleted')),
        },
      },
      { components },
    )
    expect(sandbox.mocked).toEqual({})
    const { json: made } = await sandbox.post('/customers', { name: 'Ann' })
    expect(made).toEqual({ id: expect.any(String), name: 'Ann', created: expect.any(Number) })
    const path = `/customers/${Object(made).id}`
    expect((await sandbox.get(path)).json).toEqual(made)
    expect((await sandbox.get('/customers')).json).toEqual({ data: [made], has_more: false })
    const removed = await sandbox.call(`/v1${path}`, { method: 'DELETE' })
    expect(removed.json).toEqual({ id: Object(made).id, deleted: true })
    expect((await sandbox.get(path)).status).toBe(404)
    expect(sandbox.warnings).toEqual([])
  })
})

describe('an id that the record does not have', () => {
  const note = object({ text }, ['text'], { additionalProperties: false })
  const one = { parameters: [inPath('ref')], get: ok(note), delete: gone }
  const created = (response: Node) => ({
    '/notes': { post: { ...takes(note), ...response }, get: ok(list(note)) },
    '/notes/{ref}': one,
  })
  const location = { Location: { schema: { ...text, format: 'uri-reference' } } }
  it.each<[string, Node, (response: { headers: Headers; json: unknown }) => unknown]>([
    [
      'is in Location',
      created({ responses: { 201: { description: 'ok', headers: location } } }),
      ({ headers }) => headers.get('location')?.split('/').at(-1),
    ],
    [
      'is a property of the response to POST',
      created(ok(object({ ref: text }, ['ref']), 201)),
      ({ json }) => Object(json).ref,
    ],
    ['is the response to POST', created(ok({ ...text, format: 'uuid' }, 201)), ({ json }) => json],
  ])('%s', async (_what, paths, idOf) => {
    const sandbox = await openContract(paths)
    expect(sandbox.mocked).toEqual({})
    const first = String(idOf(await sandbox.post('/notes', { text: 'one' })))
    const other = String(idOf(await sandbox.post('/notes', { text: 'other' })))
    const turns: readonly Turn[] = [
      [`GET /notes/${first} 200`, undefined, { text: 'one' }],
      [`DELETE /notes/${first} 204`],
      [`GET /notes/${first} 404`],
      [`GET /notes/${other} 200`, undefined, { text: 'other' }],
      ['GET /notes 200', undefined, [{ text: 'other' }]],
    ]
    expect(await converse(sandbox, turns)).toEqual(expectedOf(turns))
    expect(sandbox.warnings).toEqual([])
  })

  it('is in the path of a PUT that creates it, or in the items of the list', async () => {
    await check({ '/notes/{ref}': { ...one, put: { ...takes(note), ...ok(note, 201) } } }, [
      ['PUT /notes/a 201', { text: 'one' }, { text: 'one' }],
      ['GET /notes/a 200', undefined, { text: 'one' }],
    ])
    const items = list(object({ ref: integer, text }, ['ref']))
    await check(
      {
        '/notes': { post: { ...takes(note), ...ok(note, 201) }, get: ok(items) },
        '/notes/{ref}': { parameters: [inPath('ref', integer)], get: ok(note) },
      },
      [
        ['POST /notes 201', { text: 'one' }, { text: 'one' }],
        ['GET /notes 200', undefined, [{ ref: 1, text: 'one' }]],
        ['GET /notes/1 200', undefined, { text: 'one' }],
      ],
    )
  })

  it('is named by a link', async () => {
    const links = { one: { operationId: 'get', parameters: { shelf: '$response.body#/place' } } }
    const shelf = object({ place: readOnly(integer), size: integer })
    const response = { 201: { ...ok(shelf, 201).responses[201], links } }
    await check(
      {
        '/shelves': { post: { ...takes(object({ size: integer })), responses: response }, get: ok(list(shelf)) },
        '/shelves/{shelf}': { parameters: [inPath('shelf', integer)], get: { operationId: 'get', ...ok(shelf) } },
      },
      [
        ['POST /shelves 201', { size: 3 }, { place: 1, size: 3 }],
        ['GET /shelves/1 200', undefined, { place: 1, size: 3 }],
      ],
    )
  })
})

it('a PUT creates no record where a POST below another one creates them', async () => {
  const comment = { $ref: '#/components/schemas/Comment' }
  const body = takes(object({ text }))
  await check(
    {
      ...crud('/tasks', '/tasks/{id}', task, id, sent),
      '/tasks/{taskId}/comments': {
        parameters: [inPath('taskId', integer)],
        get: ok(list(comment)),
        post: { ...body, ...ok(comment, 201) },
      },
      '/comments/{id}': { parameters: id, get: ok(comment), put: { ...body, ...ok(comment) } },
    },
    [
      ['POST /tasks 201', { name: 'Ann' }],
      ['PUT /comments/50 404', { text: 'new' }],
      ['POST /tasks/1/comments 201', { text: 'first' }, { id: 1, text: 'first', taskId: 1 }],
      ['PUT /comments/1 200', { text: 'other' }, { id: 1, text: 'other', taskId: 1 }],
    ],
    { components: { schemas: { Comment: object({ id: integer, text, taskId: integer }) } } },
  )
})

describe('a composite key', () => {
  const line = object({ order: integer, line: text, amount: integer }, ['order', 'line'])
  const row = (path: string, [first, second]: readonly [string, string], own: string): Row => [
    path,
    {
      '/Lines': { post: { ...takes(line), ...ok(line, 201) }, get: ok(list(line)) },
      [path]: {
        parameters: [inPath(first, integer), inPath(second)],
        get: ok(line),
        patch: { ...takes(object({ amount: integer })), ...ok(line) },
        delete: gone,
      },
    },
    [
      ['POST /Lines 201', { order: 1, line: 'a' }, { order: 1, line: 'a' }],
      ['POST /Lines 201', { order: 1, line: 'b' }],
      ['POST /Lines 409', { order: 1, line: 'b' }],
      [`GET ${own} 200`, undefined, { order: 1, line: 'a' }],
      [`PATCH ${own} 200`, { amount: 2 }, { order: 1, line: 'a', amount: 2 }],
      [`DELETE ${own} 204`],
      ['GET /Lines 200', undefined, [{ order: 1, line: 'b' }]],
    ],
  ]
  it.each<Row>([
    row('/Lines(Order={Order},Line={Line})', ['Order', 'Line'], "/Lines(Order=1,Line='a')"),
    row("/Lines(order={order},line='{line}')", ['order', 'line'], "/Lines(order=1,line='a')"),
    row('/Lines({order},{line})', ['order', 'line'], '/Lines(1,a)'),
  ])('%s', (_what, paths, turns) => check(paths, turns))
})

describe('a list whose path ends in a parameter', () => {
  const Stock = object({ warehouse: text, sku: text, count: integer }, ['sku', 'count'])
  const stock = { $ref: '#/components/schemas/Stock' }
  const X = { warehouse: 'a', sku: 'x', count: 1 }
  const paths = (listed: object) => ({
    '/stock/{warehouse}': {
      parameters: [inPath('warehouse')],
      get: ok(listed),
      post: { ...takes(stock), ...ok(stock, 201) },
    },
    '/stock/{warehouse}/{sku}': {
      parameters: [inPath('warehouse'), inPath('sku')],
      get: ok(stock),
      put: { ...takes(object({ count: integer })), ...ok(stock) },
      patch: { ...takes(object({ count: integer })), ...ok(stock) },
      delete: gone,
    },
  })
  const turns = (all: (...records: readonly Node[]) => unknown): readonly Turn[] => [
    ['POST /stock/a 201', { sku: 'x', count: 1 }, X],
    ['POST /stock/a 409', { sku: 'x', count: 1 }],
    ['GET /stock/a 200', undefined, all(X)],
    ['GET /stock/b 200', undefined, all()],
    ['GET /stock/a/x 200', undefined, X],
    ['GET /stock/b/x 404'],
    ['PUT /stock/a/x 200', { count: 2 }, { ...X, count: 2 }],
    ['PATCH /stock/a/x 200', { count: 3 }, { ...X, count: 3 }],
    ['DELETE /stock/a/x 204'],
    ['GET /stock/a/x 404'],
  ]
  const moves = crud(
    '/stock/{warehouse}/{sku}/moves',
    '/stock/{warehouse}/{sku}/moves/{id}',
    object({ id: readOnly(integer), count: integer }, ['id']),
    [inPath('warehouse'), inPath('sku'), inPath('id', integer)],
    object({ count: integer }),
  )
  const everywhere = { '/stock': { get: ok(list(stock)), post: { ...takes(stock), ...ok(stock, 201) } } }
  it.each<Row>([
    ['an array', paths(list(stock)), turns((...records) => records)],
    ['an object', paths(object({ items: list(stock) })), turns((...items) => ({ items }))],
    [
      'with records below its own',
      { ...paths(list(stock)), ...moves },
      [
        ['POST /stock/a/x/moves 404', { count: 1 }],
        ['POST /stock/a 201', { sku: 'x', count: 1 }],
        ['POST /stock/a/x/moves 201', { count: 1 }, { id: 1, count: 1 }],
        ['GET /stock/b/x/moves 404'],
      ],
    ],
    ['beside the list of all', { ...paths(list(stock)), ...everywhere }, turns((...records) => records)],
  ])('%s', (_what, given, all) => check(given, all, { components: { schemas: { Stock } } }))
})

describe('a list below the record that its own name', () => {
  const User = object({ id: readOnly(integer), name: text }, ['id', 'name'])
  const user = { $ref: '#/components/schemas/User' }
  const post = { $ref: '#/components/schemas/Post' }
  const row = (property: string, schema: object, name: unknown, path = '/users'): readonly [...Row, Node] => {
    const Post = object({ id: readOnly(integer), title: text, [property]: schema }, ['id', 'title'])
    const record = { id: 1, title: 'a', [property]: name }
    return [
      `${property} of ${path}: ${JSON.stringify(name)}`,
      {
        ...crud(path, `${path}/{id}`, user, id),
        ...crud('/posts', '/posts/{id}', post, id),
        [`${path}/{id}/posts`]: { parameters: id, get: ok(list(post)) },
      },
      [
        [`POST ${path} 201`, { name: 'Ann' }],
        [`POST ${path} 201`, { name: 'Ben' }],
        ['POST /posts 201', { title: 'a', [property]: name }, record],
        ['POST /posts 201', { title: 'b' }],
        [`GET ${path}/1/posts 200`, undefined, [record]],
        [`GET ${path}/2/posts 200`, undefined, []],
        [`GET ${path}/3/posts 404`],
        [`DELETE ${path}/1 204`],
        ['GET /posts 200', undefined, [{ id: 2, title: 'b' }]],
      ],
      { User, Post },
    ]
  }
  it.each([
    row('author', integer, 1, '/authors'),
    row('user', object({ id: integer }), { id: 1 }),
    row('writer', user, { id: 1, name: 'Ann' }),
  ])('%s', (_what, paths, turns, schemas) => check(paths, turns, { components: { schemas } }))
})

it('records that a POST below another record creates have the defaults and the names of its request', async () => {
  const project = object({ id: readOnly(integer), name: text }, ['id', 'name'])
  const level = { enum: ['low', 'high'] }
  const todo = object(
    { id: readOnly(integer), projectId: integer, title: text, level, labels: list(object({ id: integer }, ['id'])) },
    ['id', 'projectId', 'title', 'level', 'labels'],
  )
  const request = object({ title: text, level: { ...level, default: 'high' }, labelIds: list(integer) }, ['title'])
  await check(
    {
      ...crud('/projects', '/projects/{id}', project, [inPath('id', integer)], object({ name: text }, ['name'])),
      '/projects/{projectId}/todos': {
        parameters: [inPath('projectId', integer)],
        get: ok(list(todo)),
        post: { ...takes(request), ...ok(todo, 201) },
      },
      '/todos/{id}': { parameters: id, get: ok(todo), patch: { ...takes(object({ title: text })), ...ok(todo) } },
    },
    [
      ['POST /projects 201', { name: 'p' }],
      [
        'POST /projects/1/todos 201',
        { title: 'a', labelIds: [7] },
        { id: 1, projectId: 1, title: 'a', level: 'high', labels: [{ id: 7 }] },
      ],
    ],
  )
})

it('a list of another name below a record is its own', async () => {
  const [User, Post] = [
    object({ id: readOnly(integer) }, ['id']),
    object({ id: readOnly(integer), author: integer }, ['id']),
  ]
  const [user, post] = ['User', 'Post'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
  const record = { ...Post, properties: { ...Post.properties, author: user } }
  await check(
    {
      ...crud('/users', '/users/{id}', user ?? {}, id),
      ...crud('/posts', '/posts/{id}', post ?? {}, id),
      '/users/{id}/favorites': { parameters: id, get: ok(list(post ?? {})) },
    },
    [
      ['POST /users 201', {}],
      ['POST /posts 201', { author: { id: 1 } }],
      ['GET /users/1/favorites 200', undefined, []],
      ['DELETE /users/1 204'],
      ['GET /posts/1 200'],
    ],
    { components: { schemas: { User, Post: record } } },
  )
})

it('a parameter may have another property of the parent than its id', async () => {
  const user = object({ id: readOnly(integer), username: text }, ['id', 'username'])
  const role = object({ id: readOnly(integer), name: text }, ['id'])
  const userId = inPath('userId', integer)
  const named = object({ name: text })
  await check(
    {
      ...crud('/users', '/users/{username}', user, [inPath('username')], object({ username: text }, ['username'])),
      ...crud('/users/{userId}/roles', '/users/{userId}/roles/{id}', role, [userId, ...id], named),
    },
    [
      ['POST /users 201', { username: 'ann' }, { id: 1, username: 'ann' }],
      ['POST /users/1/roles 201', { name: 'admin' }, { id: 1, name: 'admin' }],
      ['GET /users/1/roles 200', undefined, [{ id: 1, name: 'admin' }]],
      ['GET /users/2/roles 404'],
      ['DELETE /users/ann 204'],
      ['POST /users 201', { username: 'ben' }, { id: 2, username: 'ben' }],
      ['GET /users/2/roles 200', undefined, []],
      ['GET /users/1/roles 404'],
    ],
  )
})

it.each([
  ['below it', '/users/1/roles', '/users/2/roles'],
  ['shown below it', '/roles', '/roles'],
])('a record whose name is the id of another has no records of that one: %s', async (_what, ofOne, ofTwo) => {
  const user = object({ id: readOnly(integer), username: text }, ['id', 'username'])
  const role = object({ id: readOnly(integer), userId: integer }, ['id'])
  const userId = inPath('userId', integer)
  const below = { parameters: [userId], get: ok(list(role)) }
  const view = { ...crud('/roles', '/roles/{id}', role, id), '/users/{userId}/roles': below }
  const nested = { '/users/{userId}/roles': { ...below, post: { ...takes(role), ...ok(role, 201) } } }
  await check(
    {
      ...crud('/users', '/users/{username}', user, [inPath('username')], object({ username: text }, ['username'])),
      ...(ofOne === ofTwo ? view : nested),
    },
    [
      ['POST /users 201', { username: 'ann' }],
      ['POST /users 201', { username: '1' }],
      [`POST ${ofOne} 201`, { userId: 1 }],
      [`POST ${ofTwo} 201`, { userId: 2 }],
      ['GET /users/1 200', undefined, { id: 2, username: '1' }],
      ['DELETE /users/1 204'],
      ['GET /users/1/roles 200', undefined, [{ id: 1, userId: 1 }]],
      ['GET /users/2/roles 404'],
      ['DELETE /users/ann 204'],
      ['POST /users 201', { username: '1' }],
      ['GET /users/1/roles 404'],
    ],
  )
})

describe('links of HAL beside an id', () => {
  const link = object({ href: text }, ['href'])
  const self = { href: expect.stringMatching(/^http:.*\/v1\/parts\/1$/) }
  it.each<[string, object, unknown]>([
    ['with a documented href', object({ self: link, owner: link }), { self }],
    ['without one', object({ self: object({}), owner: {} }), { self }],
    ['of any name', { type: 'object', additionalProperties: link }, { self }],
    ['that are required', object({ self: link, owner: link }, ['self', 'owner']), { self, owner: { href: '' } }],
    ['that are texts', object({ self: text }), {}],
    [
      'that cannot have a self',
      object({ owner: link }, ['owner'], { additionalProperties: false }),
      { owner: { href: '' } },
    ],
  ])('have the address of the record as self: %s', async (_what, links, expected) => {
    const part = object({ id: readOnly(integer), _links: readOnly(links) }, ['id', '_links'])
    const painted = { '/parts/{id}/paint': { parameters: id, post: ok(part) } }
    const sandbox = await openContract({ ...crud('/parts', '/parts/{id}', part, id), ...painted })
    const headers = { host: 'localhost' }
    const turns = ['POST /parts', 'GET /parts/1', 'GET /parts', 'POST /parts/1/paint']
    for (const turn of turns) {
      const [method = '', path] = turn.split(' ')
      const { json: body } = await sandbox.call(`/v1${path}`, {
        method,
        headers,
        ...(method === 'POST' && { body: {} }),
      })
      expect([turn, body].flat()).toEqual([turn, { id: 1, _links: expected }])
    }
  })
})

describe('a JSON Patch', () => {
  const note = object({ id: readOnly(integer), title: text, tags: list(text), at: readOnly(text) }, ['id', 'title'])
  const operation = object({ op: text, path: text, from: text, value: {} }, ['op', 'path'])
  const sent = object({ title: text, tags: list(text) }, ['title'])
  const patch = 'application/json-patch+json'
  const notes = (content: Node) => ({
    '/notes': { post: { ...takes(sent), ...ok(note, 201) }, get: ok(list(note)) },
    '/notes/{id}': { parameters: id, get: ok(note), patch: { requestBody: { content }, ...ok(note) } },
  })
  const open = async (...types: readonly string[]) => {
    const schema = list(operation)
    const sandbox = await openContract(notes(Object.fromEntries(types.map((type) => [type, { schema }]))))
    expect(sandbox.mocked).toEqual({})
    await sandbox.post('/notes', { title: 'a', tags: ['x', 'y'] })
    const send = async (body: unknown, contentType = types[0] ?? '') =>
      await sandbox.call('/v1/notes/1', { method: 'PATCH', body, headers: { 'content-type': contentType } })
    return { sandbox, send }
  }

  it('changes the record, also as JSON where the contract has that beside it', async () => {
    const { sandbox, send } = await open(patch, 'application/json')
    const operations = [
      { op: 'test', path: '/title', value: 'a' },
      { op: 'add', path: '/tags/-', value: 'z' },
      { op: 'replace', path: '/title', value: 'b' },
      { op: 'move', from: '/tags/0', path: '/tags/2' },
      { op: 'copy', from: '/title', path: '/tags/0' },
      { op: 'remove', path: '/tags/1' },
      { op: 'replace', path: '/id', value: 7 },
    ]
    const stored = { id: 1, title: 'b', tags: ['b', 'z', 'x'] }
    expect(await send(operations)).toMatchObject({ status: 200, json: stored })
    expect((await sandbox.get('/notes/1')).json).toEqual(stored)
    const one = [{ op: 'replace', path: '/tags', value: [] }]
    expect(await send(one, 'application/json')).toMatchObject({ status: 200, json: { ...stored, tags: [] } })
  })

  it.each<[string, unknown, RegExp]>([
    ['test', [{ op: 'test', path: '/title', value: 'b' }], /operation 1 fails/],
    ['missing', [{ op: 'remove', path: '/tags/2' }], /operation 1 names a place that is not there/],
    ['prototype', [{ op: 'add', path: '/__proto__/a', value: 1 }], /not there/],
    ['itself', [{ op: 'move', from: '/tags', path: '/tags/0' }], /into itself/],
    ['unknown', [{ op: 'swap', path: '/tags' }], /an unknown op \(it is "swap"\)/],
    ['pointer', [{ op: 'remove', path: 'title' }], /no usable path/],
    ['type', [{ op: 'replace', path: '/title', value: 1 }], /title/],
    ['array', [{ op: 'replace', path: '', value: [] }], /must leave an object/],
    ['nothing', [{ op: 'remove', path: '' }], /must leave an object/],
    ['value', [{ op: 'add', path: '/title' }], /operation 1 has no value/],
    ['required', [{ op: 'remove', path: '/title' }], /removes title, which is required/],
    ['schema', [{ path: '/title' }], /op is required/],
    ['object', { title: 'b' }, /must be a list/],
    ['doubling', Array.from({ length: 40 }, () => ({ op: 'copy', from: '', path: '/tags/0' })), /copies|levels/],
    ['long', Array.from({ length: 1001 }, () => ({ op: 'add', path: '/title', value: 'b' })), /at most 1000/],
  ])('that cannot be applied is a 400, and changes nothing: %s', async (_what, body, message) => {
    const { sandbox, send } = await open(patch)
    const { status, json } = await send(body)
    expect([status, Object(json).message]).toEqual([400, expect.stringMatching(message)])
    expect((await sandbox.get('/notes/1')).json).toEqual({ id: 1, title: 'a', tags: ['x', 'y'] })
  })

  it('is refused beside a merge patch, with the type that is read', async () => {
    const merge = 'application/merge-patch+json'
    const sandbox = await openContract(
      notes({ [patch]: { schema: { ...list(operation), type: ['array', 'null'] } }, [merge]: { schema: sent } }),
    )
    await sandbox.post('/notes', { title: 'a' })
    const send = (body: unknown, type: string) =>
      sandbox.call('/v1/notes/1', { method: 'PATCH', body, headers: { 'content-type': type } })
    expect(await send({ title: 'b' }, merge)).toMatchObject({ status: 200, json: { title: 'b' } })
    const refused = await send([], patch)
    expect([refused.status, Object(refused.json).message]).toEqual([415, expect.stringContaining(merge)])
  })
})

describe('envelopes', () => {
  const item = object({ id: readOnly(integer), name: text }, ['name'])
  it.each<Row>([
    [
      'of each item of a list',
      {
        '/products.json': {
          post: { ...takes(object({ product: sent })), ...ok(object({ product: item }), 201) },
          get: ok(list(object({ product: item }))),
        },
        '/products/{id}.json': { parameters: id, get: ok(object({ product: item })) },
      },
      [
        ['POST /products.json 201', { product: { name: 'Ann' } }, { product: ANN }],
        ['GET /products.json 200', undefined, [{ product: ANN }]],
        ['GET /products/1.json 200', undefined, { product: ANN }],
      ],
    ],
    [
      'two levels deep for one record',
      {
        '/budgets': {
          post: { ...takes(object({ budget: sent })), ...ok(object({ data: object({ budget: item }) }), 201) },
          get: ok(object({ data: object({ budgets: list(item) }) })),
        },
        '/budgets/{id}': { parameters: id, get: ok(object({ data: object({ budget: item }) })) },
      },
      [
        ['POST /budgets 201', { budget: { name: 'Ann' } }, { data: { budget: ANN } }],
        ['GET /budgets 200', undefined, { data: { budgets: [ANN] } }],
        ['GET /budgets/1 200', undefined, { data: { budget: ANN } }],
      ],
    ],
    [
      'of any name, and a list of one record',
      {
        '/taxes': {
          post: { ...takes(object({ field: sent })), ...ok(object({ field: item }), 201) },
          get: ok(list(object({ field: item }))),
        },
        '/taxes/{id}': { parameters: id, get: ok(list(item)), delete: ok({ type: 'boolean' }) },
      },
      [
        ['POST /taxes 201', { field: { name: 'Ann' } }, { field: ANN }],
        ['GET /taxes 200', undefined, [{ field: ANN }]],
        ['GET /taxes/1 200', undefined, [ANN]],
        ['DELETE /taxes/1 200', undefined, true],
      ],
    ],
  ])('%s', (_what, paths, turns) => check(paths, turns))
})

describe('names that differ in case', () => {
  it.each(['FriendlyName', 'friendlyName', 'friendly-name'])(
    '%s in requests is friendly_name in records',
    async (name) => {
      const room = object({ sid: readOnly(text), friendly_name: text }, ['sid', 'friendly_name'])
      await check(
        {
          '/Rooms': {
            post: { ...takes(object({ [name]: text }, [name])), ...ok(room, 201) },
            get: ok(list(object({ friendly_name: text }))),
          },
          '/Rooms/{Sid}': {
            parameters: [inPath('Sid')],
            get: ok(room),
            post: { ...takes(object({ [name]: text })), ...ok(room) },
          },
        },
        [
          ['POST /Rooms 201', { [name]: 'Ann' }],
          ['GET /Rooms 200', undefined, [{ friendly_name: 'Ann' }]],
        ],
      )
    },
  )
})

describe('what documents get wrong', () => {
  it('true and 1 among the choices of a text are texts', async () => {
    const parameter = { name: 'name', in: 'query', schema: { type: 'string', enum: [true, 1] } }
    await check(
      { '/tasks': { get: { parameters: [parameter], ...ok(list(task)) }, post: { ...takes(sent), ...ok(task, 201) } } },
      [
        ['POST /tasks 201', { name: 'true' }],
        ['GET /tasks?name=true 200', undefined, [{ id: 1, name: 'true' }]],
        ['GET /tasks?name=1 200', undefined, []],
        ['GET /tasks?name=2 400'],
      ],
    )
  })

  it('a required parameter without a schema must be there', async () => {
    const parameters = [
      { name: 'x-age', in: 'header', required: true },
      { name: 'q', in: 'query', required: true },
    ]
    const sandbox = await openContract({ '/ping': { get: { parameters, ...ok(text) } } })
    expect((await sandbox.get('/ping?q=1')).status).toBe(400)
    expect((await sandbox.call('/v1/ping', { headers: { 'x-age': '1' } })).status).toBe(400)
    expect((await sandbox.call('/v1/ping?q=1', { headers: { 'x-age': '1' } })).status).toBe(200)
  })

  it('a list that hides some records by default shows new ones', async () => {
    const state = { type: 'string', enum: ['closed', 'open'] }
    const parameter = { name: 'state', in: 'query', schema: { ...state, default: 'open' } }
    const issue = object({ id: integer, name: text, state }, ['id'])
    await check(
      {
        '/issues': {
          get: { parameters: [parameter], ...ok(list(issue)) },
          post: { ...takes(sent), ...ok(issue, 201) },
        },
      },
      [
        ['POST /issues 201', { name: 'Ann' }, { id: 1, name: 'Ann', state: 'open' }],
        ['GET /issues 200', undefined, [{ id: 1, name: 'Ann', state: 'open' }]],
        ['GET /issues?state=closed 200', undefined, []],
      ],
    )
  })

  it('a filter with the schema of the property has no default: it is that of new records', async () => {
    const state = { type: 'string', enum: ['open', 'closed'], default: 'open' }
    const shared = { $ref: '#/components/schemas/State' }
    const issue = object({ id: integer, state: shared }, ['id', 'state'])
    const paths = {
      '/issues': {
        get: { parameters: [{ name: 'state', in: 'query', schema: shared }], ...ok(list(issue)) },
        post: { ...takes(object({ state: shared })), ...ok(issue, 201) },
      },
    }
    const sandbox = await openContract(paths, { components: { schemas: { State: state } } })
    expect((await sandbox.post('/issues', { state: 'closed' })).json).toEqual({ id: 1, state: 'closed' })
    expect((await sandbox.post('/issues', {})).json).toEqual({ id: 2, state: 'open' })
    expect((await sandbox.get('/issues')).json).toHaveLength(2)
    expect((await sandbox.get('/issues?state=open')).json).toEqual([{ id: 2, state: 'open' }])
  })

  it.each<[string, Node, Node]>([
    ['that has them all', { id: integer, body: text }, { get: true, put: true, delete: true }],
    ['without GET', { id: integer, post_id: integer, body: text }, { put: true, delete: true }],
    ['with DELETE alone', { id: integer, body: text }, { delete: true }],
  ])('a path of a record without its parents is of the record below them: %s', async (_what, properties, methods) => {
    const comment = object(properties, ['id', 'body'])
    const takesBody = takes(object({ body: text }, ['body']))
    const all = { get: ok(comment), put: { ...takesBody, ...ok(comment) }, delete: ok(undefined, 204) }
    const item = Object.fromEntries(Object.entries(all).filter(([method]) => method in methods))
    const sandbox = await openContract({
      '/posts': { post: { ...takes(object({})), ...ok(object({ id: integer }), 201) } },
      '/posts/{post_id}': { parameters: [inPath('post_id', integer)], get: ok(object({ id: integer })) },
      '/posts/{post_id}/comments': {
        parameters: [inPath('post_id', integer)],
        get: ok(list(comment)),
        post: { ...takesBody, ...ok(comment, 201) },
      },
      '/comments/{id}': { parameters: [inPath('id')], ...item },
    })
    expect(sandbox.mocked).toEqual({})
    for (const path of ['/posts', '/posts', '/posts/1/comments', '/posts/2/comments'])
      await sandbox.post(path, { body: 'a' })
    const stored = { id: 2, ...('post_id' in properties && { post_id: 2 }), body: 'a' }
    expect((await sandbox.get('/posts/2/comments')).json).toEqual([stored])
    if ('get' in methods) expect((await sandbox.get('/comments/2')).json).toEqual(stored)
    if ('put' in methods) {
      const put = { method: 'PUT', body: '{"body":"b"}', headers: { 'content-type': 'application/json' } }
      const changed = { ...stored, body: 'b' }
      expect((await sandbox.call('/v1/comments/2', put)).json).toEqual(changed)
      expect((await sandbox.get('/posts/2/comments')).json).toEqual([changed])
      expect((await sandbox.call('/v1/comments/3', put)).status).toBe(404)
    }
    expect((await sandbox.call('/v1/comments/2', { method: 'DELETE' })).status).toBe(204)
    expect((await sandbox.get('/posts/2/comments')).json).toEqual([])
    expect((await sandbox.get('/posts/1/comments')).json).toHaveLength(1)
    expect((await sandbox.call('/v1/comments/2', { method: 'DELETE' })).status).toBe(404)
  })

  it.each(['/users/signup', '/users/sign-up', '/auth/register', '/signup'])('POST %s creates a user', async (path) => {
    const user = { $ref: '#/components/schemas/User' }
    const login = { email: text, password: text }
    const paths = {
      '/users': { get: ok(list(user)) },
      '/users/{id}': { parameters: [inPath('id', integer)], get: ok(user) },
      [path]: { post: { ...takes(object(login, ['email', 'password'])), ...ok(user, 201) } },
    }
    const schemas = { User: object({ id: integer, email: text }, ['id', 'email']) }
    const sandbox = await openContract(paths, { components: { schemas } })
    const made = { id: 1, email: 'ann@example.com' }
    expect(sandbox.mocked).toEqual({})
    expect((await sandbox.post(path, { email: 'ann@example.com', password: 'x' })).json).toEqual(made)
    expect((await sandbox.get('/users/1')).json).toEqual(made)
    expect((await sandbox.get('/users')).json).toEqual([made])
  })

  it('a request that may have any value is converted to the type of the response', async () => {
    const page = object({ id: integer, url: text, size: integer }, ['id', 'url'])
    await check(
      { '/pages': { get: ok(list(page)), post: { ...takes(object({ url: {}, size: {} })), ...ok(page, 201) } } },
      [
        ['POST /pages 201', { url: null, size: 3 }, { id: 1, url: '', size: 3 }],
        ['POST /pages 201', { url: 7, size: 'x' }, { id: 2, url: '7' }],
      ],
    )
  })

  it('an id that the client may send as a text is made by the sandbox if the path takes a number', async () => {
    const order = object({ Id: text, name: text })
    await check(
      {
        '/orders': { get: ok(list(order)), post: { ...takes(order), ...ok(order, 201) } },
        '/orders/{id}': { parameters: id, get: ok(order) },
      },
      [['POST /orders 201', { Id: 'x', name: 'Ann' }], ['GET /orders/x 404']],
    )
  })
})

describe('a path parameter that holds a whole path, as in gRPC', () => {
  const card = object({ name: readOnly(text), title: text })
  const title = takes(object({ title: text }))
  const one = (parameters: readonly object[], record: object = card): Node => ({
    parameters,
    get: ok(record),
    patch: { ...title, ...ok(record) },
    delete: gone,
  })
  const named = (pattern: string) => inPath('name', { ...text, pattern })
  it.each<[string, Node, string]>([
    [
      'with a pattern',
      { '/cards': { post: { ...title, ...ok(card) } }, '/{name}': one([named('cards/[^/]+')]) },
      '/cards',
    ],
    [
      'without one, beside the only collection',
      {
        '/cards': { post: { ...title, ...ok(card) }, get: ok(object({ cards: list(card) })) },
        '/{name}': one([inPath('name')]),
      },
      '/cards',
    ],
    [
      'with its parent',
      {
        '/decks': { post: { ...title, ...ok(card) }, get: ok(object({ decks: list(card) })) },
        '/{name}': one([named('^decks/[^/]+$')]),
        '/{parent}/cards': {
          parameters: [inPath('parent', { ...text, pattern: '^decks/[^/]+$' })],
          post: { ...title, ...ok(card) },
          get: ok(object({ cards: list(card) })),
        },
        '/{card.name}': one([inPath('card.name', { ...text, pattern: '^decks/[^/]+/cards/[^/]+$' })]),
      },
      '/decks/ID/cards',
    ],
  ])('%s', async (_what, paths, collection) => {
    const sandbox = await openContract(paths)
    expect(sandbox.mocked).toEqual({})
    const { name: parent = '' } = collection.includes('ID')
      ? Object((await sandbox.post('/decks', { title: 'D' })).json)
      : {}
    const path = collection.replace('/decks/ID', `/${parent}`)
    const made = (await sandbox.post(path, { title: 'A' })).json as { readonly name: string }
    expect(made.name).toMatch(new RegExp(`^${path.slice(1)}/[^/]+$`))
    const turns: readonly Turn[] = [
      [`GET /${made.name} 200`, undefined, { name: made.name, title: 'A' }],
      [`GET /${encodeURIComponent(made.name)} 200`, undefined, { name: made.name, title: 'A' }],
      [`PATCH /${made.name} 200`, { title: 'B' }, { name: made.name, title: 'B' }],
      [`DELETE /${made.name} 204`],
      [`GET /${made.name} 404`],
      [`GET ${path.replace(/[^/]+$/, 'none')}/1 404`],
    ]
    expect(await converse(sandbox, turns)).toEqual(expectedOf(turns))
    expect(sandbox.warnings).toEqual([])
  })
})

describe('records below others, as generators of inline schemas write them', () => {
  const user = () => object({ id: integer, name: text }, ['id', 'name'])
  const order = (userId: object = integer) => object({ id: integer, userId, total: integer }, ['id', 'userId', 'total'])
  const named = takes(object({ name: text }, ['name']))
  const total = takes(object({ total: integer }, ['total']))
  const one = { id: 1, userId: 1, total: 5 }
  const users = { '/users': { get: ok(list(user())), post: { ...named, ...ok(user(), 201) } } }

  it('are one resource: the list of a user and the path of one have equal schemas', async () => {
    const paths = {
      ...users,
      '/users/{userId}': { parameters: [inPath('userId', integer)], get: ok(user()) },
      '/users/{userId}/orders': {
        parameters: [inPath('userId', integer)],
        get: ok(list({ ...order(), description: 'Newest first.' })),
        post: { ...total, ...ok(order(), 201) },
      },
      '/orders/{orderId}': { parameters: [inPath('orderId', integer)], get: ok(order()), delete: gone },
    }
    await check(paths, [
      ['POST /users 201', { name: 'Ann' }],
      ['POST /users/1/orders 201', { total: 5 }, one],
      ['GET /orders/1 200', undefined, one],
      ['GET /users/1/orders 200', undefined, [one]],
      ['DELETE /orders/1 204'],
      ['GET /users/1/orders 200', undefined, []],
    ])
  })

  it('are not the same resource as equal schemas of another name', async () => {
    const paths = { ...users, '/teams': { get: ok(list(user())), post: { ...named, ...ok(user(), 201) } } }
    await check(paths, [
      ['POST /users 201', { name: 'Ann' }],
      ['GET /teams 200', undefined, []],
    ])
  })

  it.each([
    ['a text for a number', text, integer, 1],
    ['a number for a text', integer, text, '1'],
  ])("have the parent's id in the type of their property: %s in the path", async (_what, inUrl, property, userId) => {
    const paths = {
      ...users,
      '/users/{userId}': { parameters: [inPath('userId', inUrl)], get: ok(user()) },
      '/users/{userId}/orders': {
        parameters: [inPath('userId', inUrl)],
        get: ok(list(order(property))),
        post: { ...total, ...ok(order(property), 201) },
      },
    }
    await check(paths, [
      ['POST /users 201', { name: 'Ann' }],
      ['POST /users/1/orders 201', { total: 5 }, { ...one, userId }],
      ['GET /users/1/orders 200', undefined, [{ ...one, userId }]],
    ])
  })

  it('are made by a PUT with the id in the type of the record', async () => {
    const thing = object({ id: integer, name: text }, ['id', 'name'])
    const paths = {
      '/things': { get: ok(list(thing)) },
      '/things/{id}': { parameters: [inPath('id', text)], get: ok(thing), put: { ...named, ...ok(thing, 201) } },
    }
    await check(paths, [
      ['PUT /things/7 201', { name: 'a' }, { id: 7, name: 'a' }],
      ['GET /things/7 200', undefined, { id: 7, name: 'a' }],
    ])
  })
})

describe('a list below two records', () => {
  const ids = (...names: string[]) => names.map((name) => inPath(name, integer))
  const order = object({ id: readOnly(integer), customerId: integer, name: text }, ['id', 'name'])
  const ofCustomer = '/tenants/{tenant}/customers/{customer}'
  const paths = {
    ...crud('/tenants', '/tenants/{tenant}', task, ids('tenant'), sent),
    [ofCustomer.replace('/{customer}', '')]: { parameters: ids('tenant'), post: { ...takes(sent), ...ok(task, 201) } },
    [ofCustomer]: { parameters: ids('tenant', 'customer'), get: ok(task) },
    [`${ofCustomer}/orders`]: {
      parameters: ids('tenant', 'customer'),
      ...{ post: { ...takes(sent), ...ok(order, 201) }, get: ok(list(order)) },
    },
    '/tenants/{tenant}/orders': { parameters: ids('tenant'), get: ok(list(order)) },
    '/tenants/{tenant}/orders/{order}': { parameters: ids('tenant', 'order'), get: ok(order), delete: gone },
  }
  const first = { id: 1, name: 'x', customerId: 1 }

  it('has the records of a list below the outer one', async () => {
    await check(paths, [
      ['POST /tenants 201', { name: 'T' }],
      ['POST /tenants 201', { name: 'U' }],
      ['POST /tenants/1/customers 201', { name: 'Ann' }],
      ['POST /tenants/1/customers 201', { name: 'Bob' }],
      ['POST /tenants/1/customers/1/orders 201', { name: 'x' }, first],
      ['POST /tenants/1/customers/2/orders 201', { name: 'y' }, { id: 2, name: 'y', customerId: 2 }],
      ['POST /tenants/2/customers/1/orders 404', { name: 'z' }],
      ['GET /tenants/1/orders/1 200', undefined, first],
      ['GET /tenants/2/orders/1 404'],
      ['GET /tenants/1/customers/1/orders 200', undefined, [first]],
      ['GET /tenants/1/orders 200', undefined, [{ id: 2, name: 'y', customerId: 2 }, first]],
      ['GET /tenants/2/orders 200', undefined, []],
      ['DELETE /tenants/1/orders/1 204'],
      ['GET /tenants/1/customers/1/orders 200', undefined, []],
    ])
  })

  it('loses the records of a removed one, and not those of another with its id', async () => {
    const customer = object({ code: text, name: text }, ['code'])
    const owned = object({ id: readOnly(integer), customerCode: text, name: text }, ['id', 'name'])
    const below = '/tenants/{tenant}/customers/{customerCode}'
    const parameters = [...ids('tenant'), inPath('customerCode')]
    const orders = { ...takes(sent), ...ok(owned, 201) }
    const own = {
      '/tenants': { post: { ...takes(sent), ...ok(task, 201) }, get: ok(list(task)) },
      '/tenants/{tenant}/customers': { parameters: ids('tenant'), post: { ...takes(customer), ...ok(customer, 201) } },
      [below]: { parameters, get: ok(customer), delete: gone },
      [`${below}/orders`]: { parameters, post: orders, get: ok(list(owned)) },
      '/tenants/{tenant}/orders/{order}': { parameters: ids('tenant', 'order'), get: ok(owned) },
    }
    await check({ ...own, '/tenants/{tenant}': { parameters: ids('tenant'), get: ok(task) } }, [
      ...['T', 'U'].map((name) => ['POST /tenants 201', { name }] as const),
      ...[1, 2].map((tenant) => [`POST /tenants/${tenant}/customers 201`, { code: 'ann' }] as const),
      ...[1, 2].map((tenant) => [`POST /tenants/${tenant}/customers/ann/orders 201`, { name: 'x' }] as const),
      ['DELETE /tenants/1/customers/ann 204'],
      ['GET /tenants/1/orders/1 404'],
      ['GET /tenants/2/orders/2 200', undefined, { id: 2, name: 'x', customerCode: 'ann' }],
    ])
  })
})

describe('responses around a record', () => {
  const title = object({ title: text }, ['title'])
  const post = object({ id: integer, title: text }, ['id', 'title'])
  const one = { id: 1, title: 'a' }

  it('have the cursor of each edge, and what an edge must have', async () => {
    const edge = object({ node: post, cursor: text, rank: integer }, ['node', 'cursor', 'rank'])
    const paths = {
      '/posts': { get: ok(object({ edges: list(edge) })), post: { ...takes(title), ...ok(post, 201) } },
      '/posts/{id}': { parameters: id, get: ok(post) },
    }
    await check(paths, [
      ['POST /posts 201', { title: 'a' }, one],
      ['GET /posts 200', undefined, { edges: [{ cursor: '1', rank: 0, node: one }] }],
    ])
  })

  it('hold it as "doc", and say what each success says', async () => {
    const said = { ...text, example: 'ok' }
    const wrapped = object({ code: { ...integer, example: 0 }, message: said, state: { const: 'done' }, doc: post })
    const paths = {
      '/posts': { get: ok(object({ docs: list(post) })), post: { ...takes(title), ...ok(wrapped, 201) } },
      '/posts/{id}': { parameters: id, get: ok(post) },
    }
    await check(paths, [['POST /posts 201', { title: 'a' }, { code: 0, message: 'ok', state: 'done', doc: one }]])
  })

  it('are the record if they have its id, also with an object named like an envelope', async () => {
    const result = object({ url: text })
    const job = object({ jobId: integer, status: text, result }, ['jobId', 'status'])
    const paths = {
      '/jobs': { get: ok(list(job)), post: { ...takes(object({ status: text, result })), ...ok(job, 201) } },
      '/jobs/{jobId}': { parameters: [inPath('jobId', integer)], get: ok(job) },
    }
    const made = { jobId: 1, status: 'new', result: { url: 'u' } }
    await check(paths, [
      ['POST /jobs 201', { status: 'new', result: { url: 'u' } }, made],
      ['GET /jobs/1 200', undefined, made],
    ])
  })

  it('say of a mocked success that it is one', async () => {
    const sandbox = await openContract({ '/mails/send': { post: ok(object({ ok: { type: 'boolean' }, id: text })) } })
    expect((await sandbox.post('/mails/send', {})).json).toMatchObject({ ok: true })
  })
})

describe('a PUT without a body', () => {
  const user = object({ id: readOnly(integer), name: text }, ['id', 'name'])
  const seat = object({ userId: integer, role: { ...text, enum: ['guest', 'host'] } }, ['userId', 'role'])
  const named = object({ name: text }, ['name'])
  const done = { responses: { 204: { description: 'done' }, 404: { description: 'no such project' } } }
  const members = (record: object, more: object = {}): Node => ({
    ...crud('/users', '/users/{id}', user, [inPath('id', integer)], named),
    ...crud('/projects', '/projects/{id}', user, [inPath('id', integer)], named),
    '/projects/{id}/members': { parameters: [inPath('id', integer)], get: ok(list(record)), ...more },
    '/projects/{id}/members/{userId}': {
      parameters: [inPath('id', integer), inPath('userId', integer)],
      put: done,
      delete: done,
    },
  })

  it('adds a record, once, and DELETE removes it', async () => {
    const sandbox = await openContract(members(seat))
    const turns: readonly Turn[] = [
      ['POST /projects 201', { name: 'a' }],
      ['PUT /projects/1/members/7 204'],
      ['PUT /projects/1/members/7 204'],
      ['GET /projects/1/members 200', undefined, [{ userId: 7, role: 'guest' }]],
      ['PUT /projects/2/members/7 404'],
      ['DELETE /projects/1/members/7 204'],
      ['GET /projects/1/members 200', undefined, []],
    ]
    expect(await converse(sandbox, turns)).toEqual(expectedOf(turns))
  })

  it('adds the record of another resource to a list of its records, as it is then and later', async () => {
    const sandbox = await openContract(members(user))
    const turns: readonly Turn[] = [
      ['POST /projects 201', { name: 'a' }],
      ['POST /users 201', { name: 'Ann' }],
      ['POST /users 201', { name: 'Bob' }],
      ['PUT /projects/1/members/2 204'],
      ['GET /projects/1/members 200', undefined, [{ id: 2, name: 'Bob' }]],
      ['DELETE /projects/1/members/2 204'],
      ['GET /users/2 200', undefined, { id: 2, name: 'Bob' }],
    ]
    expect(await converse(sandbox, turns)).toEqual(expectedOf(turns))
  })

  it('is mocked where a POST adds records, nothing removes them, or they are below no other record', async () => {
    const add = { post: { ...takes(seat), ...ok(seat, 201) } }
    const { '/projects/{id}/members/{userId}': item, ...others } = members(seat)
    const { delete: _, ...onlyPut } = Object(item)
    const notices = {
      '/notices': { get: ok(list(user)) },
      '/notices/{id}': { parameters: [inPath('id', integer)], put: done, delete: done },
    }
    for (const paths of [members(seat, add), { ...others, '/projects/{id}/members/{userId}': onlyPut }, notices])
      expect(Object.values((await openContract(paths)).mocked)).toEqual([
        expect.stringMatching(/the request has no JSON object .*\.put/),
      ])
  })
})

describe('the record of a path of its own that has the id of a record of a collection', () => {
  const user = object({ id: readOnly({ ...integer, minimum: 1 }), name: text }, ['id', 'name'])
  const profile = object({ ...user.properties, theme: text }, ['id'])
  const named = object({ name: text })
  const patch = (record: object, sent: object = named) => ({ patch: { ...takes(sent), ...ok(record) } })
  const { '/users/{id}': item, ...users } = crud('/users', '/users/{id}', user, [inPath('id', integer)], named)

  it.each([
    ['/users/me', profile],
    ['/me', user],
  ])('is that record: %s', async (path, record) => {
    const paths = {
      ...users,
      [path]: { get: ok(record), ...patch(record) },
      '/users/{id}': { ...Object(item), ...patch(user) },
    }
    await check(paths, [
      ['POST /users 201', { name: 'Ann' }, { id: 1, name: 'Ann' }],
      ['POST /users 201', { name: 'Bob' }],
      [`GET ${path} 200`, undefined, expect.objectContaining({ id: 1, name: 'Ann' })],
      [`PATCH ${path} 200`, { name: 'Bea' }, expect.objectContaining({ id: 1, name: 'Bea' })],
      ['GET /users/1 200', undefined, { id: 1, name: 'Bea' }],
      ['PATCH /users/2 200', { name: 'Cid' }],
      ['PATCH /users/1 200', { name: 'Dan' }],
      [`GET ${path} 200`, undefined, expect.objectContaining({ id: 1, name: 'Dan' })],
      ['GET /users/2 200', undefined, { id: 2, name: 'Cid' }],
    ])
  })
})
