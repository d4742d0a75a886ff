import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
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
  /apps/{id}/icon:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: icon, responses: { '200': { description: d, content: { text/plain: { example: icon } } } } }
components:
  schemas: { App: { type: object, required: [id, name], properties: { id: { type: integer, readOnly: true }, name: { type: string } } } }
`

describe('a mocked operation below a record', () => {
  it.each([
    ['GET', 'logs', 200, 404],
    ['POST', 'restart', 204, 404],
    // It documents no 404, as GET of a record may not either.
    ['GET', 'icon', 200, 404],
  ])('%s %s responds with %i, and with %i if the record does not exist', async (method, name, found, missing) => {
    await using sandbox = await createSandbox({ spec: temporaryFile('apps.yaml', SPEC), rateLimit: false })
    const call = async (verb: string, path: string, body?: object) => {
      const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
      const sent = { method: verb, headers, ...(body && { body: JSON.stringify(body) }) }
      return (await sandbox.fetch(`${sandbox.baseUrl}/apps${path}`, sent)).status
    }
    expect(await call('POST', '', { name: 'a' })).toBe(201)
    expect([await call(method, `/1/${name}`), await call(method, `/2/${name}`)]).toEqual([found, missing])
  })
})
