import { describe, expect, it } from 'vitest'
import { BEARER } from '../../../src/contract/contract-data.js'
import {
  type JsonMap,
  markersOf,
  placeOf,
  planRows,
  readContract,
  search,
} from '../../../src/web/docs/contract-model.js'
import { firstInputs, provocationOf, requestOf } from '../../../src/web/docs/sample-request.js'
import { partsOf, sampleOf, schemaText } from '../../../src/web/docs/schema-words.js'

const withSchemas = (schemas: JsonMap) => readContract({ components: { schemas } })
/** A contract with one operation, and that operation. */
function withOperation(path: string, method: string, facts: JsonMap) {
  const contract = readContract({ paths: { [path]: { [method]: facts } } })
  const [operation] = contract.operations
  if (operation === undefined) throw new Error('no operation')
  return { contract, operation }
}
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('a contract on the docs page', () => {
  it('has its operations with shared parameters and references', () => {
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
    const put = {
      tags: ['things'],
      parameters: [{ ...id, description: 'own' }],
      requestBody: { $ref: '#/components/requestBodies/Thing' },
      responses: { 200: { $ref: '#/components/responses/Done' }, default: { description: 'else' } },
      'x-hideTryItPanel': true,
    }
    const contract = readContract({
      paths: { '/things/{id}': { $ref: '#/components/pathItems/thing' }, '/odd': null },
      components: {
        pathItems: { thing: { parameters: [{ ...id, description: 'of all' }], put } },
        requestBodies: { Thing: { required: true, content: { 'application/json': { example: { a: 1 } } } } },
        responses: { Done: { description: 'done', headers: { 'X-A': { description: 'a' } } } },
      },
    })
    expect(contract.operations).toMatchObject([
      {
        ...{ id: 'PUT/things/{id}', method: 'PUT', tag: 'things', isSendable: false },
        parameters: [{ name: 'id', description: 'own', isRequired: true }],
        body: { mediaType: 'application/json', isRequired: true, examples: [{ value: { a: 1 } }] },
        responses: [
          { status: '200', description: 'done', headers: [{ name: 'X-A', description: 'a' }] },
          { status: 'default', description: 'else' },
        ],
      },
    ])
  })

  it('follows circular, dangling and external references without error', () => {
    const Self = { allOf: [ref('Self')], properties: { me: ref('Self') } }
    const contract = withSchemas({ A: ref('B'), B: ref('A'), Self })
    const external = { $ref: 'https://example.org/x.json#/a' }
    for (const schema of [ref('A'), ref('None'), external, ref('Self'), null, 7, true, false]) {
      expect(typeof schemaText(contract, schema)).toBe('string')
      partsOf(contract, schema)
      sampleOf(contract, schema)
    }
    expect(partsOf(contract, ref('Self')).map(({ name }) => name)).toEqual(['me'])
  })

  it('describes what a schema allows', () => {
    const contract = withSchemas({ Status: { type: 'string', enum: ['a', 'b'] } })
    const big = { type: 'integer', format: 'int64', minimum: 1, maximum: 9223372036854775807n, default: 20 }
    for (const [schema, text] of [
      [big, 'integer (int64), 1 to 9223372036854775807, default 20'],
      [ref('Status'), 'Status: string, one of "a", "b"'],
      [{ type: 'array', items: ref('Status'), minItems: 1 }, 'array of Status: string, at least 1 items'],
      [{ type: ['string', 'null'], maxLength: 5, pattern: '^x' }, 'string or null, at most 5 characters, matches ^x'],
      [{ oneOf: [{}, {}] }, 'one of 2 schemas'],
    ])
      expect(schemaText(contract, schema)).toBe(text)
  })

  it('collects the parts of a schema from its combinations', () => {
    const Base = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
    const contract = withSchemas({ Base })
    const schema = { allOf: [ref('Base'), { properties: { name: { type: 'string' } } }], oneOf: [{ type: 'null' }] }
    const parts = partsOf(contract, schema).map(({ name, isRequired }) => `${name} ${isRequired}`)
    expect(parts).toEqual(['id true', 'name false', 'either 1 false'])
    expect(sampleOf(contract, { allOf: [ref('Base')] })).toEqual({ id: 1 })
  })

  it('fills in required inputs, and sends no empty ones', () => {
    const parameters = [
      { name: 'id', in: 'path', required: true, example: 'x/y' },
      { name: 'limit', in: 'query', schema: { type: 'integer' }, example: 5 },
      { name: 'q', in: 'query', required: true, schema: { type: 'string' } },
    ]
    const { contract, operation } = withOperation('/a/{id}', 'get', { operationId: 'a', parameters })
    const inputs = firstInputs(contract, operation)
    expect(inputs.parameters).toEqual({ id: 'x/y', limit: '', q: 'text' })
    const request = { method: 'GET', url: 'http://h/v1/a/x%2Fy?q=text', headers: [], key: undefined, body: undefined }
    expect(requestOf(operation, inputs, { baseUrl: 'http://h/v1', key: '', keyHeader: BEARER })).toMatchObject(request)
  })

  it('is found by its words', () => {
    const responses = { 429: { description: 'Too many' } }
    const { operation } = withOperation('/pets', 'get', { operationId: 'listPets', summary: 'List', responses })
    const places = [placeOf(operation)]
    for (const wanted of ['', 'LISTPETS', 'too many', 'get /pets', '429'])
      expect(search(places, wanted)).toHaveLength(1)
    expect(search(places, 'orders')).toEqual([])
  })
})

describe('a provoked response', () => {
  it.each([
    [99.5, '100'],
    [100, '101'],
    [9223372036854775806n, '9223372036854775807'],
  ])('exceeds a maximum of %s by one', (maximum, expected) => {
    const { contract, operation } = withOperation('/weights', 'get', {
      operationId: 'listWeights',
      parameters: [{ name: 'most', in: 'query', schema: { type: 'number', maximum } }],
      responses: { 400: { description: 'Too much' } },
    })
    const provoked = provocationOf(contract, operation, '400', [{ key: 'sandbox', always: null }])
    expect(provoked).toMatchObject({ how: `with most=${expected}`, inputs: { parameters: { most: expected } } })
    const ofFixtures = { key: 'team-x', always: 'revoked' } as const
    expect(provocationOf(contract, operation, '401', [ofFixtures])).toMatchObject({ key: 'team-x' })
  })
})

describe('the docs page', () => {
  it('marks mocked operations, with the reason', () => {
    const paths = { '/pets': { get: { operationId: 'listPets' }, delete: {} } }
    const { operations } = readContract({ paths }, [{ operation: 'DELETE/pets', reason: 'no list' }])
    expect(operations.map(({ id, markers }) => [id, markers])).toEqual([
      ['listPets', []],
      ['DELETE/pets', [{ kind: 'mocked', text: 'mocked', detail: 'no list' }]],
    ])
  })

  it.each([
    [{}, []],
    [{ deprecated: true }, ['Deprecated']],
    [{ deprecated: true, 'x-deprecated-sunset': '2030-12-05' }, ['Deprecated, removed on 5 December 2030']],
    [{ 'x-deprecated-sunset': '2030-12-05T23:59:59Z' }, ['Deprecated, removed on 5 December 2030']],
    [{ deprecated: true, 'x-deprecated-sunset': 'next year' }, ['Deprecated, removed on next year']],
    [{ 'x-stability': 'beta' }, ['beta']],
  ])('marks an operation %o', (operation, texts) => {
    expect(markersOf(operation).map(({ text }) => text)).toEqual(texts)
  })

  it('shows a plan as a row', () => {
    const plans = { free: { requestsPerMinute: 60, requestsPerDay: 1000 }, enterprise: { requestsPerMinute: 'custom' } }
    expect(planRows(plans)).toEqual([
      ['Free', '60', '1,000'],
      ['Enterprise', 'custom', ''],
    ])
    expect(planRows(undefined)).toEqual([])
  })
})
