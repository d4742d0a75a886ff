import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/load-contract.js'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

type Node = Readonly<Record<string, unknown>>

const json = (schema: object, mediaType = 'application/json') => ({ content: { [mediaType]: { schema } } })
const ok = (schema?: object, status = 200) => ({
  responses: { [status]: { description: 'ok', ...(schema && json(schema)) } },
})
const takes = (schema: object) => ({ requestBody: { required: true, ...json(schema) } })
const object = (properties: Node, required: readonly string[] = [], more: Node = {}) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  ...more,
})
const list = (items: object) => ({ type: 'array', items })
const integer = { type: 'integer' }
const text = { type: 'string' }
const readOnly = (schema: object) => ({ ...schema, readOnly: true })
const inPath = (name: string, schema: object = text) => ({ name, in: 'path', required: true, schema })

/** A sandbox that checks its own responses, and its mocked operations with the reason. */
async function open(paths: Node): Promise<TestSandbox & { readonly mocked: Node }> {
  const document = { openapi: '3.1.0', info: { title: 'Sample', version: '1' }, servers: [{ url: '/v1' }], paths }
  const spec = temporaryFile('contract.json', JSON.stringify(document))
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const sandbox = await openSandbox({ spec, basePath: '/v1', strict: true, rateLimit: false, freeze: true })
  const { operations } = await loadContract(spec)
  const mocked = operations.filter(({ action }) => action === undefined)
  return { ...sandbox, mocked: Object.fromEntries(mocked.map(({ id, whyMocked }) => [id, whyMocked])) }
}

/** Paths of a resource whose operations all use one schema. */
function crud(path: string, item: string, record: object, parameters: readonly object[], sent = record): Node {
  return {
    [path]: { post: { ...takes(sent), ...ok(record, 201) }, get: ok(list(record)) },
    [item]: { parameters, get: ok(record), delete: { responses: { 204: { description: 'gone' } } } },
  }
}

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
