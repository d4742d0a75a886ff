import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

describe.each(transports)('a fault with a condition on an unusual name, %s', (_name, openSandbox) => {
  it.each(NAMES.flatMap((name) => ['query', 'header', 'body'].map((part) => [part, name] as const)))(
    'applies to no other requests: %s %s',
    async (part, name) => {
      const sandbox = await openSandbox()
      const when = JSON.parse(`{"${part}":{"${name}":"x"}}`)
      await sandbox.control('PUT', '/faults', [{ operation: '*', status: 503, when }])
      expect((await sandbox.get('/pets/1')).status).toBe(200)
      expect((await sandbox.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
      expect((await sandbox.get(`/pets?${part === 'query' ? name : 'other'}=x`)).status).toBe(
        part === 'query' ? 503 : 200,
      )
    },
  )
})

it.each(transports)('fields with such names stay fields of their record, %s', async (_name, openSandbox) => {
  const schema = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' } },
    additionalProperties: true,
  }
  const content = (of: object) => ({ content: { 'application/json': { schema: of } } })
  const answer = (of: object) => ({ description: 'ok', ...content(of) })
  const range = {
    name: 'price',
    in: 'query',
    style: 'deepObject',
    schema: { type: 'object', additionalProperties: true },
  }
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
  const write = (operationId: string, status: number) => ({
    operationId,
    requestBody: content(schema),
    responses: { [status]: answer(schema) },
  })
  const paths = {
    '/things': {
      get: { operationId: 'list', parameters: [range], responses: { 200: answer({ type: 'array', items: schema }) } },
      post: write('create', 201),
    },
    '/things/{id}': { parameters: [id], patch: write('change', 200), put: write('replace', 200) },
  }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, servers: [{ url: '/v1' }], paths }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
  expect((await sandbox.get('/things?price[__proto__][polluted]=1')).status).toBe(200)
  expect(Object({}).polluted).toBeUndefined()
  const fields = { constructor: 'c', toString: 't', valueOf: 1 }
  const send = async (method: string, path: string, body: string) =>
    (await sandbox.call(`/v1${path}`, { method, body })).json
  const withPrototype = (more: object) => JSON.stringify(more).replace('{', '{"__proto__":{"name":5,"a":1},')
  expect(await send('POST', '/things', withPrototype(fields))).toEqual({ id: 1, ...fields })
  expect(await send('PATCH', '/things/1', withPrototype({ inner: { hasOwnProperty: 1 } }))).toEqual({
    id: 1,
    ...fields,
    inner: { hasOwnProperty: 1 },
  })
  expect(await send('PUT', '/things/1', withPrototype({ toString: 'u' }))).toEqual({ id: 1, toString: 'u' })
  const inexact = await sandbox.call('/v1/things', { method: 'POST', body: `{"other":${'9'.repeat(400)}}` })
  expect(inexact).toMatchObject({ status: 400, code: 'invalid_request' })
})

it.each(NAMES)('a resource named %s starts with the records of its fixture file', async (name) => {
  const folder = temporaryFolder()
  const schema = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' }, kind: { type: 'string' } },
  }
  const response = (of: object) => ({ description: 'ok', content: { 'application/json': { schema: of } } })
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
  const paths = Object.fromEntries([
    [
      `/${name}`,
      {
        get: { operationId: 'list', responses: { 200: response({ type: 'array', items: schema }) } },
        post: {
          operationId: 'create',
          requestBody: { content: response(schema).content },
          responses: { 201: response(schema) },
        },
      },
    ],
    [`/${name}/{id}`, { get: { operationId: 'get', parameters: [id], responses: { 200: response(schema) } } }],
  ])
  const spec = join(folder, 'spec.json')
  writeFileSync(
    spec,
    JSON.stringify({ openapi: '3.0.3', info: { title: 'T', version: '1' }, servers: [{ url: '/v1' }], paths }),
  )
  writeFileSync(join(folder, `${name}.json`), '[{"id":5,"kind":"f"}]')
  await using sandbox = await createSandbox({ spec, fixtures: folder })
  const listed = await sandbox.fetch(`${sandbox.baseUrl}/${name}`, { headers: { authorization: 'Bearer sandbox' } })
  expect(await listed.json()).toEqual([{ id: 5, kind: 'f' }])
})
