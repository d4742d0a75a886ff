import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openChooser } from '../../src/contract/choose-response.js'
import type { Contract } from '../../src/contract/contract.js'
import type { ContractEngine, MockRequest } from '../../src/contract/engine.js'
import { parseJson } from '../../src/contract/json.js'
import { openPrism } from '../../src/contract/prism.js'
import { readResponseRules } from '../../src/contract/response-rules.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

const FULLER = fileURLToPath(new URL('specs/fuller.yaml', import.meta.url))

function operationOf({ operations }: Contract, id: string) {
  const found = operations.find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`Unknown operation ${id}.`)
  return found
}

/** The bodies of mocked responses by the name of the schema that they have. */
async function mocked(schemas: string, names: readonly string[]): Promise<Record<string, unknown>> {
  const paths = names.map((name) => {
    const schema = `{ $ref: '#/components/schemas/${name}' }`
    return `/${name}: { get: { operationId: ${name}, responses: { '200': { description: d, content: { application/json: { schema: ${schema} } } } } } }`
  })
  const text = `openapi: 3.1.0\ninfo: { title: t, version: '1' }\npaths: { ${paths.join(', ')} }\ncomponents: { schemas: { ${schemas} } }\n`
  const contract = await loadContract(temporaryFile('contract.yaml', text))
  const [prism, rules] = [await openPrism(contract), await readResponseRules(contract, 'linear')]
  const bodies = names.map(async (name) => {
    const operation = operationOf(contract, name)
    const value = parseJson((await prism.mock({ operation })).body)
    expect([name, rules.of(operation)?.of(200)?.findViolations(value)]).toEqual([name, []])
    return [name, value] as const
  })
  return Object.fromEntries(await Promise.all(bodies))
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe.each([
  ['Prism', openPrism],
  ['the chooser of pages', openChooser],
])('mocking an operation without a handler, by %s', (_name, openEngine) => {
  let contract: Contract
  let prism: ContractEngine
  beforeAll(async () => {
    contract = await loadContract(FULLER)
    prism = await openEngine(contract)
  })
  const mock = (id: string, wishes: Partial<MockRequest> = {}) =>
    prism.mock({ operation: operationOf(contract, id), ...wishes })

  it('returns the example, large numbers digit for digit', async () => {
    expect(await mock('listCategories')).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '[{"id":9007199254740993,"name":"Dogs"}]',
    })
  })

  it('returns another documented media type, whatever the client accepts', async () => {
    const rex = { headers: { 'content-type': 'text/plain' }, body: 'Rex' }
    expect(await mock('listMyPets')).toMatchObject(rex)
    expect(await mock('listMyPets', { accept: 'application/xml' })).toMatchObject(rex)
  })

  it('returns the same value of the schema each time', async () => {
    const first = await mock('PUT/pets/{petId}')
    expect(first).toMatchObject({ status: 200, headers: { 'x-version': '3' }, body: expect.stringContaining('"name"') })
    expect(await mock('PUT/pets/{petId}')).toEqual(first)
  })

  it('writes nothing to the console', async () => {
    const spies = [
      ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => vi.spyOn(console, name)),
      ...[process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write')),
    ]
    await mock('listCategories', { accept: 'text/html' })
    for (const spy of spies) expect(spy).not.toHaveBeenCalled()
  })

  it('chooses the media type that the client accepts, and the example that it names', async () => {
    const text = `openapi: 3.1.0
info: { title: t, version: '1' }
paths:
  /a:
    get:
      operationId: a
      responses:
        '200':
          description: d
          content:
            application/json: { examples: { one: { value: 1 }, two: { value: 2 } } }
            text/csv: { example: 'a,b' }
        '406': { description: d, content: { text/plain: { example: no } } }
`
    const other = await loadContract(temporaryFile('contract.yaml', text))
    const engine = await openEngine(other)
    const operation = operationOf(other, 'a')
    const bodies = await Promise.all(
      [
        {},
        { accept: 'text/csv' },
        { accept: 'image/png' },
        { example: 'two' },
        { example: 'none' },
        { accept: 'text/*;q=0.5, application/*' },
        { accept: 'text/html, text/*' },
        { accept: '*/*' },
        { status: 406 },
        { status: 503 },
      ].map((one) => engine.mock({ operation, ...one })),
    )
    expect(bodies.map(({ status, body, example }) => [status, body, example])).toEqual([
      [200, '1', undefined],
      [200, 'a,b', undefined],
      [406, 'no', undefined],
      [200, '2', 'two'],
      [200, '1', undefined],
      [200, '1', undefined],
      [200, 'a,b', undefined],
      [200, '1', undefined],
      [406, 'no', undefined],
      [503, '', undefined],
    ])
  })
})

describe('a mocked value', () => {
  it('keeps the rules of its schema', async () => {
    const schemas = `
      Patterned: { type: object, required: [a], properties: { a: { type: string, pattern: '^[0-9]+[.][0-9]{2}$' }, b: { type: string, pattern: '^(?=.*\\d)[a-z\\d]+$' } } },
      Wrong: { type: object, properties: { tags: { type: array, items: { type: string }, example: 'a, b' }, n: { type: integer, example: five } } },
      Tuple: { type: array, prefixItems: [{ type: string }, { type: integer }], minItems: 2, items: false },
      Unique: { type: array, minItems: 2, uniqueItems: true, items: { type: string, enum: [x, y] } },
      Either: { oneOf: [{ type: object, required: [a], properties: { a: { const: 1 } } }, { type: object, required: [b], properties: { b: { type: integer, minimum: 5 } } }] },
      Hidden: { type: object, required: [name, secret], properties: { name: { type: string }, secret: { type: string, writeOnly: true } } },
      Map: { type: object, additionalProperties: { type: integer }, minProperties: 1 },
      Undeclared: { type: object, required: [name], properties: { n: { type: integer } } },
      Text: { type: string, maxLength: 30 },
      Beside: { type: object, required: [code], properties: { code: { $ref: '#/components/schemas/Text', minLength: 12 } } },
      Parts: { type: object, required: [n], properties: { n: { allOf: [{ type: integer, minimum: 3 }, { maximum: 9 }, { multipleOf: 4 }] } } },
      Large: { type: object, required: [n], properties: { n: { type: integer, minimum: 9007199254740993 } } },
      Exclusive: { type: object, required: [n, m], properties: { n: { type: integer, minimum: 0, exclusiveMinimum: 4 }, m: { type: number, exclusiveMinimum: 0, exclusiveMaximum: 0.001 } } },
      Contains: { type: array, items: { type: string }, contains: { const: x }, minContains: 2 },
      Mail: { type: object, required: [m], properties: { m: { type: string, format: email, minLength: 40 } } },
      Not: { type: object, required: [v], properties: { v: { not: { type: 'null' } } } },
      Wrapped: { type: object, required: [app], properties: { app: { allOf: [{ type: object, oneOf: [{ type: object, required: [k], properties: { k: { const: 1 } } }] }] } } },
      Ambiguous: { type: object, properties: { list: { type: array, items: { oneOf: [{ type: object, properties: { a: { type: string } } }, { type: object, properties: { a: { type: string } } }] } } } }`
    const names =
      'Patterned Wrong Tuple Unique Either Hidden Map Undeclared Wrapped Ambiguous Beside Parts Large Exclusive Contains Mail Not'.split(
        ' ',
      )
    expect(await mocked(schemas, names)).toMatchObject({
      Wrong: { tags: ['string'], n: 0 },
      Tuple: ['string', 0],
      Unique: ['x', 'y'],
      Hidden: { name: 'string' },
      Wrapped: { app: { k: 1 } },
      Beside: { code: 'stringxxxxxx' },
      Parts: { n: 4 },
      Large: { n: 9007199254740993n },
      Exclusive: { n: 5, m: 0.0005 },
      Contains: ['x', 'x'],
      Ambiguous: { list: [] },
    })
  })

  it.each<[what: string, schema: string, expected: unknown]>([
    ['null', '{ type: "null" }', null],
    ['a constant that is null', '{ const: null }', null],
    [
      'twenty objects',
      '{ type: array, minItems: 20, items: { type: object, required: [a], properties: { a: { const: 1 } } } }',
      Array(20).fill({ a: 1 }),
    ],
    ['thousands of texts', '{ type: array, minItems: 3000, items: { type: string } }', Array(3000).fill('string')],
    [
      'objects that differ',
      '{ type: array, minItems: 2, uniqueItems: true, items: { type: object, required: [a], properties: { a: { type: integer } } } }',
      [{ a: 0 }, { a: 1 }],
    ],
    ['both booleans', '{ type: array, minItems: 2, uniqueItems: true, items: { type: boolean } }', [false, true]],
    [
      'more than a tuple has',
      '{ type: array, prefixItems: [{ type: integer }], minItems: 3 }',
      [0, 'string', 'string'],
    ],
    ['a short address', '{ type: string, format: email, maxLength: 8 }', 'a@b.c'],
    ['a short URI', '{ type: string, format: uri, maxLength: 10 }', 'a:b'],
    ['Base64 of a length', '{ type: string, format: byte, minLength: 10 }', 'AAAAAAAAAAAA'],
    ['an address of any language', '{ type: string, format: idn-email }', 'user@example.com'],
    [
      'names of a pattern',
      '{ type: object, minProperties: 1, additionalProperties: false, patternProperties: { "^x-a$": { type: integer } } }',
      { 'x-a': 0 },
    ],
    [
      'names by a rule',
      '{ type: object, minProperties: 1, propertyNames: { pattern: "^[a-z]{3}$" }, additionalProperties: { type: integer } }',
      { aaa: 0 },
    ],
    [
      'alternatives that a discriminator chooses from',
      '{ discriminator: { propertyName: kind }, oneOf: [{ type: object, required: [kind], properties: { kind: { type: string }, a: { type: integer } } }, { type: object, required: [kind], properties: { kind: { type: string } } }] }',
      { kind: 'string', a: 0 },
    ],
  ])('may be %s', async (_what, schema, expected) => {
    expect(await mocked(`One: ${schema}`, ['One'])).toEqual({ One: expected })
  })

  it('of an error has the status of the response, and text/* is plain text', async () => {
    const error = '{ type: object, required: [status], properties: { status: { type: integer } } }'
    const content = (type: string, schema: string) => `{ description: d, content: { ${type}: { schema: ${schema} } } }`
    const operation = (id: string, status: string, response: string) =>
      `/${id}: { get: { operationId: ${id}, responses: { ${status}: ${response} } } }`
    const paths = [
      operation('broken', '4XX', content('application/problem+json', error)),
      operation('plain', '200', content('text/*', '{ type: string }')),
    ]
    const text = `openapi: 3.1.0\ninfo: { title: t, version: '1' }\npaths: { ${paths.join(', ')} }\n`
    const contract = await loadContract(temporaryFile('contract.yaml', text))
    const prism = await openPrism(contract)
    const [broken, plain] = await Promise.all(
      ['broken', 'plain'].map((id) => prism.mock({ operation: operationOf(contract, id) })),
    )
    expect([broken?.status, broken?.body]).toEqual([400, '{"status":400}'])
    expect(plain?.headers['content-type']).toBe('text/plain')
  })

  it('that its schema does not allow says so', async () => {
    const object = '{ type: object, required: [a], properties: { a: { type: string } } }'
    const response = `{ description: d, content: { application/json: { schema: { oneOf: [${object}, ${object}] } } } }`
    const text = `openapi: 3.1.0\ninfo: { title: t, version: '1' }\npaths: { /overlap: { get: { operationId: a, responses: { 200: ${response} } } } }\n`
    const contract = await loadContract(temporaryFile('contract.yaml', text))
    const prism = await openPrism(contract)
    const { body, note } = await prism.mock({ operation: operationOf(contract, 'a') })
    expect(body).toBe('{"a":"string"}')
    const place = 'paths./overlap.get.responses.200.content.application/json.schema'
    expect(note).toBe(`No value is known that the schema allows (${place})`)
  })

  it('is made of schemas that refer to each other, and of one that requires itself', async () => {
    const count = 12
    const links = Array.from({ length: count }, (_, at) => `p${at}: { $ref: '#/components/schemas/S${at}' }`).join(', ')
    const linked = Array.from({ length: count }, (_, at) => `S${at}: { type: object, properties: { ${links} } }`)
    const twice = Array.from({ length: 30 }, (_, at) => {
      const next = `{ $ref: '#/components/schemas/T${at + 1}' }`
      return `T${at}: { type: object, required: [a, b], properties: { a: ${next}, b: ${next} } }`
    })
    const schemas = [
      ...linked,
      ...twice,
      'T30: { type: object }',
      'Knot: { type: object, properties: { a: { $ref: "#/components/schemas/Knot" } } }',
    ]
    const bodies = await mocked(schemas.join(', '), ['S0', 'Knot'])
    expect(bodies.Knot).toEqual({})
    expect(JSON.stringify(bodies.S0).length).toBeLessThan(100_000)
  })
})
