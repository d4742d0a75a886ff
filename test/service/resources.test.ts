import { copyFileSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

/** The packaged contract with PATCH and DELETE of pets, and with categories. */
const GROWN = fileURLToPath(new URL('../contract/specs/grown.yaml', import.meta.url))
/** Requests and responses with different schemas. */
const UNLIKE = fileURLToPath(new URL('../contract/specs/unlike.yaml', import.meta.url))
/** The list of categories with another parameter. */
function grownWith(parameter: string, type: string): string {
  const sort = '        - { name: sort, in: query'
  const added = `        - { name: ${parameter}, in: query, schema: { type: ${type} } }\n`
  return temporaryFile('openapi.yaml', readFileSync(GROWN, 'utf8').replace(sort, added + sort))
}
const EMPTY = { total: 0, has_more: false, items: [] }

describe.each(transports)('operations that were added to the contract, %s', (_name, openSandbox) => {
  const open = (options = {}) => openSandbox({ spec: GROWN, strict: true, freeze: true, ...options })

  it('create, read, list, replace and remove records', async () => {
    const sandbox = await open()
    expect((await sandbox.get('/categories')).json).toEqual(EMPTY)
    const created = await sandbox.post('/categories', { name: 'dogs', id: 77, createdAt: 'never' })
    expect(created.status).toBe(201)
    const { createdAt } = created.json as { createdAt: string }
    const dogs = { id: 1, name: 'dogs', kind: 'small', createdAt, updatedAt: createdAt }
    expect(created.json).toEqual(dogs)
    expect(created.headers.get('location')).toMatch(/\/v1\/categories\/1$/)
    expect((await sandbox.get('/categories/1')).json).toEqual(dogs)

    await sandbox.post('/categories', { name: 'cats', kind: 'big' })
    await sandbox.advance('1m')
    const replaced = await sandbox.call('/v1/categories/1', { method: 'PUT', body: { name: 'birds' } })
    const updatedAt = new Date(Date.parse(createdAt) + 60_000).toISOString()
    expect(replaced.json).toEqual({ ...dogs, name: 'birds', updatedAt })
    const list = await sandbox.get('/categories?sort=name')
    expect(list.json).toMatchObject({ total: 2, has_more: false, items: [{ name: 'birds' }, { name: 'cats' }] })
    expect(list.headers.get('x-total-count')).toBe('2')

    expect((await sandbox.call('/v1/categories/1', { method: 'DELETE' })).status).toBe(204)
    expect((await sandbox.get('/categories/1')).status).toBe(404)
    expect((await sandbox.post('/categories', { name: 'fish' })).json).toMatchObject({ id: 3 })
  })

  it('fit sent values to the schema of the record, and refuse those that do not fit', async () => {
    const sandbox = await open({ spec: UNLIKE, basePath: '/v1' })
    const letter = { to: 'ann', folder: { id: 'f1' }, site: 'https://example.com/', sentAt: 'now', note: null }
    const created = await sandbox.post('/letters', letter)
    expect(created.status).toBe(201)
    const { id, ...rest } = created.json as { id: string }
    expect(rest).toEqual({ to: ['ann'], folder: { id: 'f1', type: 'folder' }, site: letter.site, sentAt: 1 })
    expect(id).toMatch(/^[1-9]\d{17}$/)
    expect((await sandbox.get(`/letters/${id}`)).json).toEqual(created.json)
    const refused = await sandbox.post('/letters', { ...letter, site: 'here' })
    const message = expect.stringContaining('site must be a URI')
    expect(refused.json).toMatchObject({ status: 400, message })
    expect((await sandbox.get('/letters')).json).toHaveLength(1)
    const stamp = expect.stringMatching(/^st_[0-9a-f]{32}$/)
    expect((await sandbox.post('/stamps', { value: 3 })).json).toEqual({ id: stamp, value: 3 })
    expect(sandbox.warnings.join()).toContain('/letters: the type of sentAt in requests differs')
  })

  it('filter and page a list', async () => {
    const sandbox = await open({ spec: grownWith('after', 'string') })
    for (const name of ['a', 'b', 'c', 'd'])
      await sandbox.post('/categories', { name, kind: name === 'c' ? 'big' : 'small' })
    const names = async (query: string) => {
      const { items, total, has_more } = Object((await sandbox.get(`/categories?${query}`)).json)
      return [items.map(({ name }: { name: string }) => name).join(''), total, has_more]
    }
    expect(await names('')).toEqual(['dcba', 4, false])
    expect(await names('limit=2')).toEqual(['dc', 4, true])
    expect(await names('limit=2&offset=2')).toEqual(['ba', 4, false])
    expect(await names('kind=big')).toEqual(['c', 1, false])
    expect(await names('sort=-name&limit=1')).toEqual(['d', 4, true])
    // From the record with this id on, in the order of the list.
    expect(await names('after=3&limit=1')).toEqual(['b', 4, true])
    expect(await names('sort=name&after=3&limit=2')).toEqual(['d', 4, false])
  })

  it('report a query parameter that they check and then ignore, without blaming the client', async () => {
    const sandbox = await open({ spec: grownWith('near', 'integer') })
    expect(sandbox.warnings).toContain('listCategories ignores the query parameter "near".')
    expect((await sandbox.get('/categories?near=x')).status).toBe(400)
    expect((await sandbox.get('/categories?near=1&limit=1&sort=name')).status).toBe(200)
    const { json } = await sandbox.control('GET', '/conduct')
    expect(json.warnings).toEqual([])
    expect(json.notes).toMatchObject([
      { rule: 'ignored-parameter', message: 'The sandbox does not apply the query parameter "near"; it is ignored.' },
    ])
  })

  it('refuse what the contract refuses, and a value that must be unique', async () => {
    const sandbox = await open()
    const refusal = { code: 'invalid_request', message: 'createCategory: name is required.' }
    expect((await sandbox.post('/categories', {})).json).toMatchObject(refusal)
    await sandbox.post('/categories', { name: 'dogs' })
    expect((await sandbox.post('/categories', { name: 'dogs' })).status).toBe(409)
    await sandbox.post('/categories', { name: 'cats' })
    const replace = (name: string) => sandbox.call('/v1/categories/1', { method: 'PUT', body: { name } })
    expect([(await replace('dogs')).status, (await replace('cats')).status]).toEqual([200, 409])
    expect((await sandbox.get('/categories/x')).status).toBe(404)
  })

  it('keep their records by space and in snapshots, and start again with a reset', async () => {
    const sandbox = await open()
    const listed = async (key?: string) => (await sandbox.get('/categories', key)).json
    const dogs = { total: 1, items: [{ id: 1, name: 'dogs' }] }
    await sandbox.post('/categories', { name: 'dogs' }, 'sandbox~a')
    expect(await listed()).toEqual(EMPTY)
    await sandbox.control('PUT', '/snapshots/one?space=a')
    await sandbox.control('POST', '/reset?space=a')
    expect(await listed('sandbox~a')).toEqual(EMPTY)
    await sandbox.control('POST', '/undo?space=a')
    expect(await listed('sandbox~a')).toMatchObject(dogs)
    await sandbox.call('/v1/categories/1', { method: 'DELETE', key: 'sandbox~a' })
    await sandbox.post('/categories', { name: 'cats' }, 'sandbox~a')
    await sandbox.control('POST', '/snapshots/one/restore?space=a')
    expect(await listed('sandbox~a')).toMatchObject(dogs)
  })
})

describe('records in a store', () => {
  it('survive a restart, with their order and the ids that were given', async () => {
    const [[, openSandbox]] = transports as [(typeof transports)[number]]
    const options = { spec: GROWN, store: join(temporaryFolder(), 'store.json') }
    const before = await openSandbox(options)
    for (const name of ['a', 'b', 'c']) await before.post('/categories', { name })
    await before.call('/v1/categories/3', { method: 'DELETE' })
    await before.call('/v1/categories/1', { method: 'PUT', body: { name: 'z' } })
    const list = (await before.get('/categories')).text
    await before.core.close()
    const after = await openSandbox(options)
    expect((await after.get('/categories')).text).toBe(list)
    expect((await after.post('/categories', { name: 'd' })).json).toMatchObject({ id: 4 })
    await after.core.close()
    const again = await openSandbox(options)
    expect((await again.get('/categories')).json).toMatchObject({ total: 3, items: [{ id: 4 }, { id: 2 }, { id: 1 }] })
  })
})

it('records that were added after a snapshot was restored outlive a crash and a start with another contract', async () => {
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const store = join(temporaryFolder(), 'store.json')
  const first = await openSandbox({ spec: GROWN, store })
  await first.post('/categories', { name: 'first' })
  await first.control('PUT', '/snapshots/one')
  await first.core.close()
  const before = await openSandbox({ spec: GROWN, store })
  await before.control('POST', '/snapshots/one/restore')
  await before.post('/categories', { name: 'kept' })
  // As a killed process leaves them.
  const copy = join(temporaryFolder(), 'store.json')
  for (const suffix of ['', '.journal']) copyFileSync(`${store}${suffix}`, `${copy}${suffix}`)
  const other = await openSandbox({ store: copy })
  await other.core.close()
  const again = await openSandbox({ spec: GROWN, store: copy })
  expect((await again.get('/categories')).json).toMatchObject({
    total: 2,
    items: [{ name: 'kept' }, { name: 'first' }],
  })
})

describe('the records that a space starts with', () => {
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const fixturesOf = (text: string) => dirname(temporaryFile('categories.json', text))
  const DOGS = '{ "name": "dogs", "createdAt": "2026-01-01T00:00:00Z" }'

  it('come from the file of the resource', async () => {
    const fixtures = fixturesOf(`[${DOGS}, { "id": 9, "name": "cats", "createdAt": "2026-01-01T00:00:00Z" }]`)
    const sandbox = await openSandbox({ spec: GROWN, fixtures })
    expect((await sandbox.get('/categories')).json).toMatchObject({ total: 2, items: [{ id: 9 }, { id: 1 }] })
    expect((await sandbox.post('/categories', { name: 'fish' })).json).toMatchObject({ id: 10 })
  })

  it.each([
    ['{}', 'must be an array of objects'],
    ['[1]', '[0] must be an object'],
    ['[', 'is not valid JSON'],
    [`[${DOGS}, { "id": 2 }]`, '[1] breaks the contract: name is required'],
    [`[${DOGS}, ${DOGS.replace('{', '{ "id": 1,')}]`, '[1].id appears twice'],
  ])('are refused if the file is %s', async (text, problem) => {
    const refusal = { code: 'FIXTURES_INVALID', message: expect.stringContaining(problem) }
    await expect(openSandbox({ spec: GROWN, fixtures: fixturesOf(text) })).rejects.toMatchObject(refusal)
  })

  it('from an example survive a restart with their changes', async () => {
    const towns = `{ type: array, items: { $ref: '#/components/schemas/Town' } }, example: [{ id: 1, name: Bern }, { id: 2, name: Basel }]`
    const spec = temporaryFile(
      'openapi.yaml',
      `openapi: 3.1.0
info: { title: t, version: '1' }
servers: [{ url: /v1 }]
paths:
  /towns:
    get: { operationId: listTowns, responses: { '200': { description: ok, content: { application/json: { schema: ${towns} } } } } }
  /towns/{townId}:
    delete:
      operationId: removeTown
      parameters: [{ name: townId, in: path, required: true, schema: { type: integer } }]
      responses: { '204': { description: gone } }
components:
  schemas:
    Town: { type: object, required: [id], properties: { id: { type: integer }, name: { type: string } } }
`,
    )
    const options = { spec, store: join(temporaryFolder(), 'store.json') }
    const before = await openSandbox(options)
    await before.call('/v1/towns/1', { method: 'DELETE' })
    await before.core.close()
    expect((await (await openSandbox(options)).get('/towns')).json).toEqual([{ id: 2, name: 'Basel' }])
  })
})
