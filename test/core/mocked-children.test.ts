import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { inPath, integer, list, object, ok, openContract, readOnly, takes, text } from '../support/small-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

const SPEC = `openapi: 3.0.3
info: { title: Apps, version: '1' }
servers: [{ url: /v1 }]
paths:
  /apps:
    get: { operationId: listApps, responses: { '200': { description: d, content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/App' } } } } } } }
    post: { operationId: addApp, requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/App' } } } }, responses: { '201': { description: d, content: { application/json: { schema: { $ref: '#/components/schemas/App' } } } } } }
  /apps/{app}:
    parameters: [{ name: app, in: path, required: true, schema: { type: integer } }]
    get: { operationId: getApp, responses: { '200': { description: d, content: { application/json: { schema: { $ref: '#/components/schemas/App' } } } }, '404': { description: d } } }
  /apps/{id}/logs:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: logs, responses: { '200': { description: d, content: { application/json: { schema: { type: array, items: { type: string } } } } }, '404': { description: d } } }
  /apps/{id}/restart:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    post: { operationId: restart, responses: { '204': { description: d }, '4XX': { description: d } } }
  /apps/{id}:stop:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    post: { operationId: stop, responses: { '202': { description: d } } }
  /apps/{id}/icon:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: icon, responses: { '200': { description: d, content: { text/plain: { example: icon } } } } }
components:
  schemas: { App: { type: object, required: [id, name], properties: { id: { type: integer, readOnly: true }, name: { type: string } } } }
`

describe('a mocked operation below a record', () => {
  it.each([
    ['GET', '/logs', 200, 404],
    ['POST', '/restart', 204, 404],
    ['POST', ':stop', 202, 404],
    // It documents no 404, as GET of a record may not either.
    ['GET', '/icon', 200, 404],
  ])('%s %s responds with %i, and with %i if the record does not exist', async (method, name, found, missing) => {
    await using sandbox = await createSandbox({ spec: temporaryFile('apps.yaml', SPEC), rateLimit: false })
    const call = async (verb: string, path: string, body?: object) => {
      const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
      const sent = { method: verb, headers, ...(body && { body: JSON.stringify(body) }) }
      return (await sandbox.fetch(`${sandbox.baseUrl}/apps${path}`, sent)).status
    }
    expect(await call('POST', '', { name: 'a' })).toBe(201)
    expect([await call(method, `/1${name}`), await call(method, `/2${name}`)]).toEqual([found, missing])
  })
})

it.each([
  ['that is the GET of the record', '/files/{id}', 'delete', '', '1'],
  ['without a GET of the record', '/files/{id}', 'delete', 'id', '1'],
  ['with another name of the parameter', '/files/{id}', 'get', 'fileId', '1'],
  ['with another property in its path', '/files/{name}', 'get', 'id', 'a'],
])('a download of a removed record is not found, %s', async (_what, item, method, parameter, own) => {
  const file = object({ id: readOnly(integer), name: text }, ['id', 'name'])
  const content = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
  const [, named = ''] = /\{(\w+)\}/.exec(item) ?? []
  const typeOf = (name: string) => (name === 'name' ? text : integer)
  const get = { responses: { 200: { description: 'ok', content } } }
  const download = parameter === '' ? '/files/1' : '/files/1/content'
  const sandbox = await openContract({
    '/files': { post: { ...takes(file), ...ok(file, 201) }, get: ok(list(file)) },
    [item]: {
      parameters: [inPath(named, typeOf(named))],
      ...(method === 'get' && { get: ok(file) }),
      ...(parameter === '' && { get }),
      delete: { responses: { 204: { description: 'gone' } } },
    },
    ...(parameter !== '' && { [`/files/{${parameter}}/content`]: { parameters: [inPath(parameter, integer)], get } }),
  })
  await sandbox.post('/files', { name: 'a' })
  expect(await sandbox.get(download)).toMatchObject({ status: 200, reason: 'mock' })
  await sandbox.call(`/v1/files/${own}`, { method: 'DELETE' })
  expect(await sandbox.get(download)).toMatchObject({ status: 404 })
})

it('a mocked operation is below no record if the path before it lists records', async () => {
  const item = object({ warehouse: text, sku: text }, ['sku'])
  const [warehouse, sku] = [inPath('warehouse'), inPath('sku')]
  const sandbox = await openContract({
    '/stock/{warehouse}': { parameters: [warehouse], post: { ...takes(item), ...ok(item, 201) }, get: ok(list(item)) },
    '/stock/{warehouse}/{sku}': { parameters: [warehouse, sku], get: ok(item) },
    '/stock/{warehouse}/summary/now': { parameters: [warehouse], get: ok(object({ count: integer })) },
  })
  expect(await sandbox.get('/stock/w1/summary/now')).toMatchObject({ status: 200, reason: 'mock' })
})

it('a mocked operation is below a record whose id is a whole path, or has several parts', async () => {
  const book = object({ name: readOnly(text), title: text }, ['name', 'title'])
  const line = object({ order: integer, line: text, count: integer }, ['order', 'line'])
  const shelf = [inPath('shelf')]
  const parts = [inPath('order', integer), inPath('line')]
  const mocked = { post: { responses: { 204: { description: 'done' } } } }
  const sandbox = await openContract({
    '/shelves': { post: { ...takes(object({ title: text })), ...ok(book) }, get: ok(object({ shelves: list(book) })) },
    '/shelves/{shelf}': { parameters: shelf, get: ok(book) },
    '/shelves/{shelf}/stats': { parameters: shelf, ...mocked },
    '/lines': { post: { ...takes(line), ...ok(line, 201) }, get: ok(list(line)) },
    '/lines({order},{line})': { parameters: parts, get: ok(line) },
    '/lines({order},{line})/stats': { parameters: parts, ...mocked },
  })
  const { name } = Object((await sandbox.post('/shelves', { title: 'A' })).json)
  await sandbox.post('/lines', { order: 1, line: 'a' })
  const statusOf = async (path: string) => [
    (await sandbox.get(path)).status,
    (await sandbox.post(`${path}/stats`, {})).status,
  ]
  expect(await statusOf(`/${name}`)).toEqual([200, 204])
  expect(await statusOf('/shelves/none')).toEqual([404, 404])
  expect(await statusOf('/lines(1,a)')).toEqual([200, 204])
  expect(await statusOf('/lines(1,b)')).toEqual([404, 404])
})
