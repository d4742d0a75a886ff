import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'

const HEAD = "openapi: 3.1.0\ninfo: { title: t, version: '1' }\nservers: [{ url: /v1 }]\n"

async function get(spec: string, path: string) {
  await using sandbox = await createSandbox({ spec, rateLimit: false })
  const headers = { authorization: 'Bearer sandbox' }
  const response = await sandbox.fetch(sandbox.baseUrl + path, { headers })
  return [response.status, response.headers.get('content-type'), await response.text()]
}

it('an operation without responses has an empty one', async () => {
  const spec = temporaryFile('a.yaml', `${HEAD}paths: { /a: { get: { operationId: a } } }\n`)
  expect(await get(spec, '/a')).toEqual([200, null, ''])
})

it.each(['utf16le', 'utf16be'])('a document in %s is read', async (encoding) => {
  const spec = temporaryFile('a.yaml', '')
  const bytes = Buffer.from(
    `\ufeff${HEAD}paths: { /a: { get: { responses: { '204': { description: Ä } } } } }\n`,
    'utf16le',
  )
  writeFileSync(spec, encoding === 'utf16be' ? bytes.swap16() : bytes)
  expect((await get(spec, '/a'))[0]).toBe(204)
})

it.each([
  [
    '{ type: object, xml: { name: cat }, properties: { tags: { type: array, items: { const: a<b } } } }',
    '<cat><tags>a&#60;b</tags></cat>',
  ],
  ["{ $ref: '#/components/schemas/Dog' }", '<Dog><age>3</age></Dog>'],
])('a mocked response of application/xml is XML: %s', async (schema, body) => {
  const paths = `paths: { /a: { get: { responses: { '200': { description: d, content: { application/xml: { schema: ${schema} } } } } } } }`
  const components = 'components: { schemas: { Dog: { type: object, properties: { age: { const: 3 } } } } }'
  const spec = temporaryFile('a.yaml', `${HEAD}${paths}\n${components}\n`)
  expect(await get(spec, '/a')).toEqual([200, 'application/xml', body])
})

it('a whole number without a format may have any length', async () => {
  const schema = '{ type: object, properties: { id: { type: integer, readOnly: true }, n: { type: integer } } }'
  const content = `content: { application/json: { schema: ${schema} } }`
  const post = `post: { requestBody: { ${content} }, responses: { '201': { description: d, ${content} } } }`
  const item = `get: { parameters: [{ name: id, in: path, required: true, schema: { type: integer } }], responses: { '200': { description: d, ${content} } } }`
  const spec = temporaryFile('a.yaml', `${HEAD}paths:\n  /a: { ${post} }\n  /a/{id}: { ${item} }\n`)
  await using sandbox = await createSandbox({ spec, rateLimit: false })
  const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
  const body = '{"n":123456789012345678901234567890}'
  const response = await sandbox.fetch(`${sandbox.baseUrl}/a`, { method: 'POST', headers, body })
  expect([response.status, await response.text()]).toEqual([201, '{"id":1,"n":123456789012345678901234567890}'])
})

it('a nullable schema that contains itself is served', async () => {
  const worker =
    "{ type: object, properties: { name: { type: string }, boss: { anyOf: [{ $ref: '#/components/schemas/Worker' }, { type: 'null' }] } } }"
  const order =
    "{ type: object, properties: { seller: { $ref: '#/components/schemas/Worker' }, lines: { type: array, items: { type: object, properties: { orderId: { type: integer } } } } } }"
  const operation = `get: { parameters: [{ name: orderId, in: path, required: true, schema: { type: integer } }], responses: { '200': { description: d, content: { application/json: { schema: ${order} } } } } }`
  const text = `${HEAD}paths: { '/invoices/{orderId}/order': { ${operation} } }\ncomponents: { schemas: { Worker: ${worker} } }\n`
  expect((await get(temporaryFile('a.yaml', text), '/invoices/1/order'))[0]).toBe(200)
})

it('all undeclared nested fields of a body are dropped, however many there are', async () => {
  const list = '{ type: array, items: { type: object, properties: { a: { type: integer } } } }'
  const schema = `{ type: object, properties: { id: { type: integer, readOnly: true }, list: ${list} } }`
  const content = `content: { application/json: { schema: ${schema} } }`
  const post = `post: { requestBody: { ${content} }, responses: { '201': { description: d, ${content} } } }`
  const item = `get: { parameters: [{ name: id, in: path, required: true, schema: { type: integer } }], responses: { '200': { description: d, ${content} } } }`
  const spec = temporaryFile('a.yaml', `${HEAD}paths:\n  /a: { ${post} }\n  /a/{id}: { ${item} }\n`)
  await using sandbox = await createSandbox({ spec, rateLimit: false })
  const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
  const body = JSON.stringify({ list: Array.from({ length: 250 }, () => ({ a: 1, z: 2 })) })
  const response = await sandbox.fetch(`${sandbox.baseUrl}/a`, { method: 'POST', headers, body })
  expect([response.status, (await response.text()).includes('"z"')]).toEqual([201, false])
})
