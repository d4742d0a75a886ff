import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { integer, list, object, ok, openContract, takes, text } from '../support/small-contract.js'
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

it.each(['oneOf', 'anyOf', 'allOf'])('nullable beside %s in OpenAPI 3.0 allows null', async (keyword) => {
  const mood = `{ nullable: true, ${keyword}: [{ $ref: '#/components/schemas/Mood' }] }`
  const content = `content: { application/json: { schema: { type: object, properties: { mood: ${mood} } } } }`
  const post = `post: { requestBody: { required: true, ${content} }, responses: { '201': { description: d, ${content} } } }`
  const schemas = 'components: { schemas: { Mood: { type: string, enum: [good, bad] } } }'
  const spec = temporaryFile(
    'a.yaml',
    `${HEAD}paths: { /a: { ${post} } }\n${schemas}\n`.replace(/openapi: 3\.1\S*/, 'openapi: 3.0.3'),
  )
  await using sandbox = await createSandbox({ spec, rateLimit: false })
  const statusOf = async (value: unknown) => {
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    const body = JSON.stringify({ mood: value })
    return (await sandbox.fetch(`${sandbox.baseUrl}/a`, { method: 'POST', headers, body })).status
  }
  expect([await statusOf('good'), await statusOf(null), await statusOf('other')]).toEqual([201, 201, 400])
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

it('a description beside the media types of a response is ignored, with a warning', async () => {
  const content = '{ description: ok, application/json: { example: { a: 1 } } }'
  const path = '/a b > c | 5 % off'
  const text = `${HEAD}paths: { '${path}': { get: { responses: { 200: { description: d, content: ${content} } } } } }\n`
  const spec = temporaryFile('a.yaml', text)
  expect((await loadContract(spec)).notes).toEqual([
    `paths.${path}.get.responses.200.content.description is ignored: only media types are named there.`,
  ])
  for (const target of [encodeURI(path), encodeURIComponent(path).replace('%2F', '/')])
    expect(await get(spec, target)).toEqual([200, 'application/json', '{"a":1}'])
})

it('what is ignored because of its name is in a note with its place', async () => {
  const parameters = `[
    { name: color, in: quer, schema: { type: string } },
    { name: thingId, in: path, required: true, schema: { type: integer } },
    { name: id, in: path, required: true, schema: { type: integer } },
    { name: size, in: query, schema: { type: string } }]`
  const ok = '{ responses: { 200: { description: d } } }'
  const own = `{ parameters: ${parameters}, x-gots: {}, servers: [], get: ${ok}, pots: ${ok}, head: ${ok} }`
  const text = `${HEAD}paths: { '/a/{id}': ${own}, '/b/{name}': { post: ${ok} } }\n`
  const at = 'paths./a/{id}'
  expect((await loadContract(temporaryFile('a.yaml', text))).notes).toEqual([
    `${at}.pots is ignored: it is not a method.`,
    `${at}.parameters[0] is ignored: in is "quer", not one of path, query, header, cookie.`,
    `${at}.parameters[1] is ignored: the path /a/{id} has no {thingId}.`,
  ])
})

it.each([
  ['^(abc$', 'it is not a valid regular expression (Unterminated group).'],
  ['^[A-Z{3}$', 'it is not a valid regular expression (Unterminated character class).'],
  [
    '^(?=a)b?',
    'it cannot be matched in linear time. Write it without lookarounds, back references and repetitions of more than 1000.',
  ],
])('the pattern %s is not checked, and a note has the reason', async (pattern, why) => {
  const parameter = `{ name: a, in: query, schema: { type: string, pattern: '${pattern}' } }`
  const text = `${HEAD}paths: { /a: { get: { parameters: [${parameter}], responses: { 200: { description: d } } } } }\n`
  const place = 'paths./a.get.parameters[0].schema'
  expect((await loadContract(temporaryFile('a.yaml', text))).notes).toEqual([
    `${place}: the pattern ${JSON.stringify(pattern)} is not checked, as ${why}`,
  ])
})

it('keys without a value are absent', async () => {
  const operation = `get:
      tags:
      parameters:
      security:
      responses: { 200: { description: , content: { application/json: { schema: { type: object, properties: { a: { const: 1 } } } } } } }`
  const text = `${HEAD}tags:\ncomponents:\nsecurity:\npaths:\n  /a:\n    parameters:\n    ${operation}\n`
  expect(await get(temporaryFile('a.yaml', text), '/a')).toEqual([200, 'application/json', '{"a":1}'])
})

it('a range of statuses may be in lower case', async () => {
  const content = 'content: { application/json: { schema: { const: 1 } } }'
  const text = `${HEAD}paths: { /a: { get: { responses: { 2xx: { description: d, ${content} } } } } }\n`
  expect(await get(temporaryFile('a.yaml', text), '/a')).toEqual([200, 'application/json', '1'])
})

/** The file of a contract with `POST /a`. */
function contractTaking(schema: string): string {
  const content = `content: { application/json: { schema: ${schema} } }`
  const responses = 'responses: { 204: { description: d } }'
  return temporaryFile('a.yaml', `${HEAD}paths: { /a: { post: { requestBody: { ${content} }, ${responses} } } }\n`)
}

it.each([
  ['uint64', '18446744073709551615', '18446744073709551616'],
  ['uint64', '0', '-1'],
  ['int64', '9223372036854775807', '9223372036854775808'],
  ['int32', '2147483647', '2147483648'],
])('the format %s allows %s, and not %s', async (format, good, bad) => {
  const schema = `{ type: object, properties: { n: { type: integer, format: ${format} } } }`
  await using sandbox = await createSandbox({ spec: contractTaking(schema), rateLimit: false })
  const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
  const send = (n: string) => sandbox.fetch(`${sandbox.baseUrl}/a`, { method: 'POST', headers, body: `{"n":${n}}` })
  expect([(await send(good)).status, (await send(bad)).status]).toEqual([204, 400])
})

it.each([
  ['minimum: 1', '0', 'n must be a whole number of 1 or more (it is 0)'],
  ['maximum: 9', '10', 'n must be a whole number of 9 or less (it is 10)'],
  ['minimum: 1, maximum: 9', '10', 'n must be a whole number from 1 to 9 (it is 10)'],
  ['title: N', '1.5', 'n must be a whole number (it is 1.5)'],
])('a whole number with %s is not %s', async (bounds, n, message) => {
  const schema = `{ type: object, properties: { n: { type: integer, ${bounds} } } }`
  await using sandbox = await createSandbox({ spec: contractTaking(schema) })
  const headers = { 'content-type': 'application/json' }
  const response = await sandbox.fetch(`${sandbox.baseUrl}/a`, { method: 'POST', headers, body: `{"n":${n}}` })
  expect(await response.json()).toMatchObject({ message: `POST/a: ${message}.` })
})

it.each(['/a%', '?', 'YWJj=a'])('the format byte does not allow %s', async (bad) => {
  const schema = '{ type: object, properties: { b: { type: string, format: byte } } }'
  const content = `content: { application/x-www-form-urlencoded: { schema: ${schema} } }`
  const text = `${HEAD}paths: { /a: { post: { requestBody: { ${content} }, responses: { 204: { description: d } } } } }\n`
  await using sandbox = await createSandbox({ spec: temporaryFile('a.yaml', text), rateLimit: false })
  const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/x-www-form-urlencoded' }
  const send = (b: string) =>
    sandbox.fetch(`${sandbox.baseUrl}/a`, { method: 'POST', headers, body: new URLSearchParams({ b }).toString() })
  expect((await send(bad)).status).toBe(400)
  for (const good of ['YWJj', 'YQ==', 'YQ', '_-8=', 'YWJj\nYQ==\n']) expect((await send(good)).status).toBe(204)
})

it('collections of one name may have bounds of 64 bits', async () => {
  const user = (title: string) =>
    `{ title: ${title}, type: object, required: [id], properties: { id: { type: integer, maximum: 9223372036854775807 } } }`
  const list = (path: string) =>
    `  ${path}: { get: { responses: { '200': { description: d, content: { application/json: { schema: { type: array, items: ${user(path)} } } } } } } }\n`
  const spec = temporaryFile('a.yaml', `${HEAD}paths:\n${list('/users')}${list('/admin/users')}`)
  expect((await get(spec, '/admin/users'))[0]).toBe(200)
})

it('one record with a list in it is no list of records', async () => {
  const entry = object({ id: integer, text }, ['id'])
  const account = object({ id: integer, plan: text, entries: list(entry) }, ['id', 'entries'])
  const sandbox = await openContract({
    '/entries': { post: { ...takes(object({ text })), ...ok(entry, 201) }, get: ok(list(entry)) },
    '/account': { get: ok(account) },
  })
  await sandbox.post('/entries', { text: 'a' })
  const { json } = await sandbox.get('/account')
  expect(json).toMatchObject({ plan: 'string', entries: [{ id: 0, text: 'string' }] })
})
