import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'

const THING = '{ type: object, properties: { id: { type: integer, readOnly: true }, name: { type: string } } }'
const SPEC = `
openapi: 3.1.0
info: { title: t, version: '1' }
security: [{ key: [] }]
components: { securitySchemes: { key: { type: apiKey, in: query, name: api_key } } }
paths:
  /things:
    get:
      operationId: listThings
      parameters:
        - { name: page, in: query, schema: { type: integer, minimum: 1, default: 1 } }
        - { name: per_page, in: query, schema: { type: integer, default: 20 } }
      responses:
        '200':
          description: All
          headers: { Link: { schema: { type: string } } }
          content: { application/json: { schema: { type: array, items: ${THING} } } }
    post:
      operationId: createThing
      requestBody: { content: { application/json: { schema: ${THING} } } }
      responses: { '201': { description: d, content: { application/json: { schema: ${THING} } } } }
`

it('a key in the query is no unknown parameter, and no part of the links of a list', async () => {
  const spec = temporaryFile('openapi.yaml', SPEC)
  await using sandbox = await createSandbox({ spec, generate: ['things=5'] })
  const response = await sandbox.fetch(`${sandbox.baseUrl}/things?api_key=sandbox&per_page=2`)
  expect(response.headers.get('link')).toMatch(/\/things\?per_page=2&page=2>; rel="next", /)
  await sandbox.fetch(`${sandbox.baseUrl}/things?api_key=sandbox&other=1`)
  const { warnings } = await sandbox.conduct()
  expect(warnings.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
    'unknown-parameter: listThings has no query parameter "other"; it is ignored.',
  ])
})
