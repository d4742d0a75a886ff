import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Contract, Operation } from '../../src/contract/contract.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { openapiFile } from '../../src/system/package-files.js'
import { temporaryFile } from '../support/temporary-files.js'

const fullerFile = fileURLToPath(new URL('../contract/specs/fuller.yaml', import.meta.url))
function operation(contract: Contract, id: string): Operation {
  const found = contract.operations.find((candidate) => candidate.id === id)
  if (found === undefined) throw new Error(`Unknown operation ${id}.`)
  return found
}

describe('the packaged contract, given with --spec', () => {
  it('equals the one compiled by the build', async () => {
    const plain = ({
      operations,
      text: _1,
      document: _2,
      route: _3,
      rules: _4,
      isPackaged: _5,
      ...rest
    }: Contract) => ({
      ...rest,
      operations: operations.map(
        ({ readBody: _1, checkBody: _2, readPath: _3, readQuery: _4, checkHeaders: _5, ...data }) => data,
      ),
    })
    expect(plain(await loadContract(openapiFile))).toEqual(plain(packagedContract()))
  })

  it('reads requests in the same way', async () => {
    const loaded = await loadContract(openapiFile)
    const body = new TextEncoder().encode('{"name":1,"categoryId":9223372036854775808,"status":"x","y":1}')
    for (const search of ['', 'limit=0&status=x', 'limit=1&limit=2&z']) {
      const reading = operation(packagedContract(), 'listPets').readQuery(search)
      expect(operation(loaded, 'listPets').readQuery(search)).toEqual(reading)
    }
    expect(operation(loaded, 'createPet').readBody(body)).toEqual(
      operation(packagedContract(), 'createPet').readBody(body),
    )
  })
})

describe('a fuller contract', () => {
  let contract: Contract
  beforeAll(async () => {
    contract = await loadContract(fullerFile)
  })

  it('brings its own operations, with an id for each', () => {
    expect(contract.operations.map(({ id }) => id)).toEqual([
      'listPets',
      'createPet',
      'getPet',
      'PUT/pets/{petId}',
      'deletePet',
      'listMyPets',
      'listCategories',
    ])
    expect(operation(contract, 'listCategories').stability).toBe('beta')
    expect(operation(contract, 'deletePet')).toMatchObject({ deprecated: true, sunsetAt: Date.UTC(2027, 0, 1) })
    expect(contract.basePath).toBe('/v2')
  })

  it('has no plans if it has none of its own', () => {
    expect([contract.plans, contract.defaultPlan]).toEqual([{}, undefined])
  })

  it('routes a path without parameters before one with', () => {
    expect(contract.route('GET', '/pets/mine')).toMatchObject({ operation: { id: 'listMyPets' } })
    expect(contract.route('PATCH', '/pets/1')).toEqual({
      kind: 'method-not-allowed',
      allow: ['GET', 'HEAD', 'PUT', 'DELETE'],
      isPublic: true,
    })
  })

  it.each([
    ['limit=50', { limit: 50 }],
    ['tag=a&tag=b,c', { limit: 10, tag: ['a', 'b,c'] }],
    ['ids=1,2,9007199254740993', { limit: 10, ids: [1, 2, 9007199254740993n] }],
    ['weight=1.5&trained=true', { limit: 10, weight: 1.5, trained: true }],
  ])('understands the query %j', (search, values) => {
    expect(operation(contract, 'listPets').readQuery(search)).toMatchObject({ values, violations: [] })
  })

  it.each([
    ['limit=0', 'limit must be a whole number from 1 to 50 (it is 0)'],
    ['trained=yes', 'trained must be true or false (it is "yes")'],
    ['weight=heavy', 'weight must be a number (it is "heavy")'],
    ['ids=1,x', 'ids[1] must be a whole number (it is "x")'],
    ['ids=1,2,3,4', 'ids must have at most 3 items (it is an array)'],
  ])('refuses the query %j', (search, message) => {
    expect(
      operation(contract, 'listPets')
        .readQuery(search)
        .violations.map((one) => one.message),
    ).toEqual([message])
  })

  it.each([
    ['{"name":"Rex","nickname":null,"age":2147483647,"mother":{"name":"Bella","mother":{"name":"Luna"}}}', []],
    [
      '{"name":"","age":2147483648}',
      [
        'name must have at least 1 character (it is "")',
        'age must be a whole number from 0 to 2147483647 (it is 2147483648)',
      ],
    ],
    [
      '{"name":"Rex","mother":{"mother":{"name":1}}}',
      ['mother.name is required', 'mother.mother.name must be a string (it is 1)'],
    ],
  ])('reads the body %s', (text, messages) => {
    const { violations } = operation(contract, 'createPet').readBody(new TextEncoder().encode(text))
    expect(violations.map(({ message }) => message).sort()).toEqual([...messages].sort())
  })

  it('accepts a missing body that is not required', () => {
    expect(operation(contract, 'createPet').readBody(undefined)).toEqual({ values: {}, violations: [], unknown: [] })
  })

  it('reads the requests of operations without a handler', () => {
    const put = operation(contract, 'PUT/pets/{petId}')
    const readings = [put.readQuery('colour=blue'), put.readQuery(''), put.readPath(['x']), put.readBody(undefined)]
    expect(readings.map(({ violations }) => violations.map(({ message }) => message))).toEqual([
      ['colour must be one of red, black (it is "blue")'],
      ['colour is required'],
      [expect.stringContaining('petId must be a whole number')],
      ['a body is required; send a JSON object'],
    ])
  })

  it('is served as it was written, and as JSON with all digits', async () => {
    expect(await contract.text('yaml')).toContain('# A contract as a user may have it')
    expect(await contract.text('json')).toContain('9007199254740993')
  })
})

describe('a document in JSON', () => {
  it('is read like YAML, with its own plans', async () => {
    const plans = { pro: { requestsPerMinute: 5, requestsPerDay: 'custom' } }
    const document = { openapi: '3.0.0', info: { title: 't', version: '1' }, paths: {}, 'x-plans': plans }
    const contract = await loadContract(temporaryFile('contract.json', JSON.stringify(document)))
    expect(contract.plans).toEqual({ pro: { perMinute: 5 } })
    expect(JSON.parse(await contract.text('json'))).toEqual(document)
    expect(await contract.text('yaml')).toMatch(/^openapi: 3\.0\.0$/m)
  })
})

const HEAD = 'openapi: 3.1.0\ninfo: {title: t, version: "1"}\n'
const getA = (content: string) => `${HEAD}paths: {/a: {get: {${content}}}}`
const respondingWith = ($ref: string) => getA(`responses: {'200': {$ref: '${$ref}'}}`)

describe('a document that cannot be served', () => {
  it.each([
    ['', 'the document must be an object'],
    ['a: 1', 'the document is not an OpenAPI document: it has no field "openapi"'],
    ['openapi: 4.0.0', 'the document uses OpenAPI "4.0.0"; 2.0, 3.0 and 3.1 are supported'],
    [`${HEAD}paths: &a {/a: *a}`, 'cannot be read: its aliases are circular'],
    ['a: [1\nb: 2', 'is not valid YAML: '],
    ['{"openapi": }', 'is not valid JSON: unexpected "}" at line 1, column 13'],
    [`${HEAD}paths: []`, 'paths must be an object'],
    [`${HEAD}paths: {pets: {}}`, 'paths.pets must begin with "/"'],
    [
      respondingWith('http://localhost/other.yaml#/x'),
      'paths./a.get.responses.200 refers to another document ("http://localhost/other.yaml#/x"). Bundle them into one file first',
    ],
    [respondingWith('none.yaml#/x'), 'paths./a.get.responses.200 refers to "none.yaml#/x", which cannot be read'],
    [respondingWith('../x.yaml'), 'paths./a.get.responses.200 refers to "../x.yaml", which is not in the folder'],
    [respondingWith('/etc/passwd'), 'paths./a.get.responses.200 refers to another document ("/etc/passwd")'],
    [respondingWith('#/components/x'), 'paths./a.get.responses.200 points at nothing ("#/components/x")'],
    [`${HEAD}paths: {/a: {$ref: '#/paths/~1a'}}`, 'paths./a refers to itself ("#/paths/~1a")'],
    [
      `${HEAD}paths: {/a: {get: {operationId: x}}, /b: {get: {operationId: x}}}`,
      'paths./b.get has the same operationId as paths./a.get: "x"',
    ],
    [
      `${HEAD}x-plans: {free: {requestsPerMinute: 0, requestsPerDay: 5}}`,
      'x-plans.free.requestsPerMinute must be a whole number of at least 1, or "custom"',
    ],
    [`${HEAD}x-plans: {banned: {}}`, 'x-plans has a plan that no key can name: "banned"'],
    [`${HEAD}x-plans: {gold: {}}`, 'x-plans.gold must have "requestsPerMinute"'],
    [`${HEAD}x-plans: {}`, 'x-plans must have 1 to 8 plans'],
  ])('is refused with file and place: %j', async (text, message) => {
    const file = temporaryFile(text.startsWith('{') ? 'contract.json' : 'contract.yaml', text)
    const error: unknown = await loadContract(file).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'SpecError', code: 'SPEC_INVALID' })
    expect(String(Reflect.get(Object(error), 'message'))).toContain(message)
    expect(String(Reflect.get(Object(error), 'message'))).toContain(file)
  })

  it('is refused if it does not exist', async () => {
    await expect(loadContract('/nowhere/none.yaml')).rejects.toMatchObject({ code: 'SPEC_INVALID' })
  })
})
