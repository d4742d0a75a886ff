import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'

const json = (schema: object) => ({ 'application/json': { schema } })
const THING = { type: 'object', properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' } } }
const ENVELOPE = {
  type: 'object',
  properties: {
    data: { type: 'array', items: THING },
    next: { type: 'string', nullable: true },
    has_more: { type: 'boolean' },
  },
}

async function served(paths: object) {
  const document = { openapi: '3.0.3', info: { title: 'T', version: '1' }, servers: [{ url: '/v1' }], paths }
  const sandbox = await createSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
  const ask = (path: string, init: RequestInit = {}) =>
    sandbox.fetch(sandbox.baseUrl + path, {
      ...init,
      headers: { authorization: 'Bearer sandbox', 'content-type': 'application/json' },
    })
  return { ask, [Symbol.asyncDispose]: () => sandbox.close() }
}

it.each(['offset', 'page'])('a list by %s with a page size of 0 links to no page: it would be the same', async (by) => {
  const parameters = ['limit', by].map((name) => ({ name, in: 'query', schema: { type: 'integer' } }))
  const headers = { Link: { schema: { type: 'string' } } }
  await using service = await served({
    '/things': {
      get: { parameters, responses: { 200: { description: 'ok', headers, content: json(ENVELOPE) } } },
      post: { requestBody: { content: json(THING) }, responses: { 201: { description: 'ok', content: json(THING) } } },
    },
    '/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: { responses: { 200: { description: 'ok', content: json(THING) }, 404: { description: 'none' } } },
    },
  })
  for (const name of ['a', 'b', 'c']) await service.ask('/things', { method: 'POST', body: JSON.stringify({ name }) })
  const links = async (limit: number) => {
    const response = await service.ask(`/things?limit=${limit}&${by}=1`)
    return [await response.json(), response.headers.get('link')]
  }
  expect(await links(1)).toMatchObject([
    { has_more: true, next: expect.stringContaining('limit=1') },
    expect.stringContaining('rel="next"'),
  ])
  expect(await links(0)).toEqual([{ data: [], has_more: false, next: null }, null])
})

it.each([
  [{ '5XX': 'down' }, 500, 'down'],
  [{ '4XX': 'bad', '5XX': 'down' }, 400, 'bad'],
  [{ '3XX': 'moved' }, 300, 'moved'],
])('an operation that documents only %j responds with its example', async (responses, status, why) => {
  const documented = Object.entries(responses).map(([range, example]) => {
    return [range, { description: 'x', content: { 'application/json': { example: { why: example } } } }] as const
  })
  await using service = await served({ '/a': { get: { responses: Object.fromEntries(documented) } } })
  const response = await service.ask('/a')
  expect([response.status, await response.json()]).toEqual([status, { why }])
})
