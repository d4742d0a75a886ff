import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const [[, openSandbox]] = transports as [(typeof transports)[number]]

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const record = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } }
const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
const collection = (name: string, parameters: readonly object[] = []) => ({
  parameters,
  get: {
    operationId: `list-${name}`,
    responses: { 200: { description: 'ok', ...json({ type: 'array', items: record }) } },
  },
  post: {
    operationId: `add-${name}`,
    requestBody: json(record),
    responses: { 201: { description: 'ok', ...json(record) } },
  },
})

/** Toys of owners, and toys of shops. */
function nestedContract(): string {
  const paths = {
    '/v2/owners': collection('owners'),
    '/v2/owners/{id}/toys': collection('toys', [id]),
    '/v2/shops/toys': collection('shop-toys'),
  }
  return temporaryFile('openapi.json', JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths }))
}

function fixtures(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries({ 'owners.json': '[{ "id": 1 }]', ...files })) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

it.each(['owners/toys.json', 'v2/owners/toys.json'])(
  'nested records come from %s, with the ids of their parents',
  async (file) => {
    const spec = nestedContract()
    const toys = '[{ "id": 5, "ownerId": 1, "name": "a" }]'
    const sandbox = await openSandbox({ spec, fixtures: fixtures({ [file]: toys }), basePath: '/v1' })
    expect((await sandbox.get('/v2/owners/1/toys')).json).toEqual([{ id: 5, name: 'a' }])
    const { json: listed } = await sandbox.control('GET', '/resources/owners%2Ftoys')
    expect(listed).toEqual([{ ownerId: 1, id: 5, name: 'a' }])
  },
)

it('the owner may add a record whose id a record of another parent has, as clients may', async () => {
  const sandbox = await openSandbox({
    spec: nestedContract(),
    fixtures: fixtures({ 'owners.json': '[{ "id": 1 }, { "id": 2 }]' }),
    basePath: '/v1',
  })
  const add = (ownerId: number) => sandbox.control('POST', '/resources/owners%2Ftoys', { ownerId, id: 5 })
  expect((await add(1)).status).toBe(200)
  expect((await add(2)).status).toBe(200)
  expect((await add(2)).status).toBe(409)
  expect((await add(3)).status).toBe(404)
  expect((await sandbox.get('/v2/owners/2/toys')).json).toEqual([{ id: 5 }])
})

it.each([
  ['two files for a resource', { 'owners/toys.json': '[]', 'v2/owners/toys.json': '[]' }, 'for the same resource'],
  ['a record without its parent', { 'owners/toys.json': '[{ "id": 5 }]' }, '[0].ownerId is missing'],
])('fixtures with %s are refused', async (_what, files, problem) => {
  await expect(openSandbox({ spec: nestedContract(), fixtures: fixtures(files) })).rejects.toThrow(problem)
})
