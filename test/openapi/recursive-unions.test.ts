import { expect, it } from 'vitest'
import { loadContract } from '../../src/openapi/load-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

it.each([
  ['in itself', { A: { oneOf: [{ $ref: '#/components/schemas/A' }, { type: 'object' }] } }],
  [
    'in another, and the other in it',
    {
      A: { oneOf: [{ $ref: '#/components/schemas/B' }, { type: 'object', properties: { a: {} } }] },
      B: { anyOf: [{ $ref: '#/components/schemas/A' }, { allOf: [{ $ref: '#/components/schemas/B' }] }] },
    },
  ],
])('a union that is an alternative %s is read', async (_where, schemas) => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/A' } } }
  const responses = { 201: { description: '', content } }
  const paths = { '/things': { post: { operationId: 'make', requestBody: { content }, responses } } }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, components: { schemas } }
  const contract = await loadContract(temporaryFile('spec.json', JSON.stringify(document)))
  expect(contract.operations.map(({ id }) => id)).toEqual(['make'])
})
