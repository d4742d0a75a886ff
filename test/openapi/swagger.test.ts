import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'

const HEAD = `swagger: '2.0'
info: { title: Hats, version: '1' }
basePath: /v1
`

async function ask(text: string, method: string, path: string, body?: string, type = 'application/json') {
  await using sandbox = await createSandbox({ spec: temporaryFile('swagger.yaml', HEAD + text), rateLimit: false })
  const headers = { authorization: 'Bearer sandbox', ...(body === undefined ? {} : { 'content-type': type }) }
  const response = await sandbox.fetch(`${sandbox.baseUrl}${path}`, { method, headers, ...(body && { body }) })
  return [response.status, response.headers.get('content-type'), await response.text()]
}

const HATS = `paths:
  /hats:
    PARAMETERS
    get: { operationId: listHats, responses: { 200: { description: d, schema: { type: array, items: { $ref: '#/definitions/Hat' } } } } }
    post:
      operationId: addHat
      OWN
      responses: { 201: { description: d, schema: { $ref: '#/definitions/Hat' } } }
  /hats/{id}:
    get: { operationId: getHat, parameters: [{ name: id, in: path, required: true, type: integer }], responses: { 200: { description: d, schema: { $ref: '#/definitions/Hat' } } } }
definitions:
  Hat: { type: object, required: [name], properties: { id: { type: integer, readOnly: true }, name: { type: string, minLength: 1 } } }
`
const BODY = `parameters:
  HatBody: { name: body, in: body, required: true, schema: { $ref: '#/definitions/Hat' } }
`
const FORM = `parameters:
  Name: { name: name, in: formData, required: true, type: string, minLength: 1 }
`

it.each([
  ['a body of an operation', BODY, '', "parameters: [{ $ref: '#/parameters/HatBody' }]", '{"name":"Cap"}', undefined],
  [
    'a field of its form',
    FORM,
    '',
    "consumes: [application/x-www-form-urlencoded]\n      parameters: [{ $ref: '#/parameters/Name' }]",
    'name=Cap',
    'application/x-www-form-urlencoded',
  ],
])('reads a shared parameter that is %s', async (_what, shared, parameters, own, body, type) => {
  const text = shared + HATS.replace('PARAMETERS', parameters).replace('OWN', own)
  expect(await ask(text, 'POST', '/hats', body, type)).toEqual([201, 'application/json', '{"id":1,"name":"Cap"}'])
  expect((await ask(text, 'POST', '/hats', body.replace('Cap', ''), type))[0]).toBe(400)
})

it.each([
  ['*/*', 'text/plain', 'Be kind'],
  ['text/*', 'text/markdown', 'Be kind'],
  ['text/plain', 'text/plain', 'Be kind'],
])('sends an example of %s in the media type that is produced', async (range, type, body) => {
  const text = `paths:
  /motd:
    get:
      operationId: motd
      produces: [${type}]
      responses: { 200: { description: d, schema: { type: string }, examples: { '${range}': Be kind } } }
`
  expect(await ask(text, 'GET', '/motd')).toEqual([200, type, body])
})

it('requires the body of a form with a required field, and a text that may not be empty', async () => {
  const field = (more: string) => `parameters: [{ name: name, in: formData, type: string, ${more} }]`
  const text = (more: string) => `paths:
  /hats:
    post:
      consumes: [application/x-www-form-urlencoded]
      ${field(more)}
      responses: { 204: { description: d } }
`
  const form = 'application/x-www-form-urlencoded'
  const send = async (more: string, body: string) => (await ask(text(more), 'POST', '/hats', body, form))[0]
  expect(await send('required: true', 'name=Cap')).toBe(204)
  expect(await send('required: true', '')).toBe(400)
  expect(await send('required: false', '')).toBe(204)
  expect(await send('allowEmptyValue: false', 'name=')).toBe(400)
  expect(await send('allowEmptyValue: true', 'name=')).toBe(204)
})
