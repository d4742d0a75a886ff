import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { DocumentedResponse, Operation } from '../../src/contract/contract.js'
import { parseJson } from '../../src/contract/json.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { PROBLEMS } from '../../src/domain/problems.js'
import { fixturesDirectory, openapiFile } from '../../src/system/package-files.js'

const contract = packagedContract()
const document = parse(await readFile(openapiFile, 'utf8'))
const pets = await fixture('pets.json')

interface FixturePet {
  readonly id: number | bigint
  readonly name: string
  readonly categoryId: number | bigint
  readonly status?: string
}

async function fixture(name: string): Promise<readonly FixturePet[]> {
  return parseJson(await readFile(`${fixturesDirectory}/${name}`, 'utf8')) as readonly FixturePet[]
}

function operation(id: string): Operation {
  const found = contract.operations.find((candidate) => candidate.id === id)
  if (found === undefined) throw new Error(`Unknown operation ${id}.`)
  return found
}

describe('the contract', () => {
  it('has interface version 1.0.0, and base addresses that end with v1 on reserved example hosts', () => {
    const url = expect.stringMatching(/^https:\/\/[a-z]+\.petstore\.example\/v1$/)
    expect(contract.version).toBe('1.0.0')
    expect(document.servers).toMatchObject([
      { variables: { base_url: { default: url } }, description: 'Production' },
      { variables: { staging_url: { default: url } }, description: 'Staging' },
    ])
  })

  it('has four operations: getPet is removed on 5 December 2030, listOrders is experimental', () => {
    const facts = contract.operations.map(({ id, method, path, responses, sunsetAt, stability }) => {
      return [`${id} ${method} ${path}`, [...responses.keys()], sunsetAt, stability]
    })
    expect(facts).toEqual([
      ['listPets GET /pets', [200, 400, 401, 429], undefined, undefined],
      ['createPet POST /pets', [201, 400, 401, 429], undefined, undefined],
      ['getPet GET /pets/{petId}', [200, 401, 404, 429], Date.UTC(2030, 11, 5), undefined],
      ['listOrders GET /store/orders', [200, 401, 429], undefined, 'experimental'],
    ])
    expect(contract.operations.filter((one) => one.deprecated).map(({ id }) => id)).toEqual(['getPet'])
  })

  it('has the limits of each plan', () => {
    expect(contract.plans).toEqual({
      free: { perMinute: 60, perDay: 1_000 },
      pro: { perMinute: 300, perDay: 10_000 },
      business: { perMinute: 1_000, perDay: 100_000 },
      enterprise: {},
    })
  })

  const STATUSES = ['available', 'pending', 'sold']
  it('limits a page to 1 to 100 pets, 20 by default, and filters by one of three statuses, by none by default', () => {
    const [limit, status] = ['limit', 'status'].map((asked) =>
      operation('listPets').parameters.find(({ name }) => name === asked),
    )
    expect(limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 20, required: false })
    expect(status).toMatchObject({ enum: STATUSES, required: false })
    expect(status).not.toHaveProperty('default')
  })

  it('requires name and categoryId of a new pet, but no status', () => {
    expect(operation('createPet').body).toMatchObject({
      required: true,
      fields: [
        { name: 'name', type: 'string', required: true },
        { name: 'categoryId', type: 'integer', required: true },
        { name: 'status', enum: STATUSES, required: false },
      ],
    })
  })

  it("asks every operation for a bearer token, and marks the sandbox's own choices", () => {
    expect(document.security).toEqual([{ bearerAuth: [] }])
    expect(document.components.securitySchemes.bearerAuth).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect(document.paths['/pets'].get.responses['400']['x-sandbox-choice']).toBe('response')
    expect(document.components.responses.TooManyRequests['x-sandbox-choice']).toBe('body')
  })
})

it.each(contract.operations.map((one) => [one.id, one] as const))(
  'every response of %s has the headers of its status and deprecation, and an example in the words of the catalogue',
  (_id, one) => {
    for (const answer of one.responses.values()) {
      const { status } = answer
      const headers = headersOf(one, status)
      const limits = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
      expect(headers).toEqual(expect.arrayContaining(limits))
      expect(headers.includes('Retry-After')).toBe(status === 429)
      expect(headers.includes('WWW-Authenticate')).toBe(status === 401)
      for (const name of ['Deprecation', 'Sunset', 'Link']) expect(headers.includes(name)).toBe(one.deprecated)
      const example = exampleOf(answer)
      if (status < 400) continue
      expect(example).toEqual({ code: expect.any(String), message: expect.any(String), status })
      const problem = Object.entries(PROBLEMS).find(([code]) => code === Reflect.get(Object(example), 'code'))?.[1]
      expect(problem?.status).toBe(status)
      if (status !== 400) expect(example).toHaveProperty('message', problem?.message)
    }
  },
)

function headersOf(one: Operation, status: number): readonly string[] {
  const response = document.paths[one.path][one.method.toLowerCase()].responses[String(status)]
  const resolved =
    response.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)]
  return Object.keys(resolved.headers)
}

function exampleOf({ example }: DocumentedResponse): unknown {
  if (example === undefined) throw new Error('The example is missing.')
  return parseJson(example)
}

describe('the named examples', () => {
  it('of listPets are the fixtures, newest first', () => {
    const { parameters, responses } = document.paths['/pets'].get
    const examples = responses['200'].content['application/json'].examples
    for (const [name, { value }] of Object.entries<{ value: unknown }>(examples)) {
      const asked = parameters.map((parameter: { name: string; examples: Record<string, { value: unknown }> }) => [
        parameter.name,
        parameter.examples[name]?.value,
      ])
      const { limit, status } = Object.fromEntries(asked)
      const matching = [...pets].reverse().filter((pet) => status === undefined || pet.status === status)
      expect(value).toEqual(matching.slice(0, limit))
    }
  })

  it('of createPet agree in request and response, with the next id', () => {
    const next = Math.max(...pets.map(({ id }) => id).filter((id) => typeof id === 'number')) + 1
    const sent = parseJson(operation('createPet').body?.example ?? '')
    expect(operation('createPet').responses.get(201)?.example).toBe(JSON.stringify({ id: next, ...Object(sent) }))
  })

  it('of listOrders are the fixtures', async () => {
    expect(parseJson(operation('listOrders').responses.get(200)?.example ?? '')).toEqual(await fixture('orders.json'))
  })

  it("of refusals are the readers' messages", () => {
    const messageOf = (id: string, { violations }: { violations: readonly { message: string }[] }) => ({
      code: 'invalid_request',
      message: `${id}: ${violations.map(({ message }) => message).join('; ')}.`,
      status: 400,
    })
    const list = operation('listPets')
    const create = operation('createPet')
    const body = new TextEncoder().encode('{"name":"Rex"}')
    expect(exampleOf(Object(list.responses.get(400)))).toEqual(messageOf('listPets', list.readQuery('limit=101')))
    expect(exampleOf(Object(create.responses.get(400)))).toEqual(messageOf('createPet', create.readBody(body)))
  })
})

describe('the fixture pets', () => {
  it('are 60, with ids in order of creation from 1, one beyond 2^53 on the first page, and every status or none', () => {
    expect(pets).toHaveLength(60)
    const ids = pets.map(({ id }) => id)
    expect(ids.filter((id) => typeof id === 'number')).toEqual(Array.from({ length: 59 }, (_, i) => i + 1))
    expect(typeof ids[57]).toBe('bigint')
    expect(pets.map(({ categoryId }) => categoryId)).toContain(9223372036854775807n)
    expect(new Set(pets.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold', undefined]))
  })

  it('keep the contract', () => {
    for (const { id, ...pet } of pets) {
      const text = JSON.stringify(pet, (_name, value) => (typeof value === 'bigint' ? 1 : value))
      const read = operation('createPet').readBody(new TextEncoder().encode(text))
      expect(read).toMatchObject({ violations: [], unknown: [] })
      expect(operation('getPet').readPath([String(id)]).violations).toEqual([])
    }
  })

  it('have names of many scripts', () => {
    const names = pets.map(({ name }) => name).join('')
    for (const script of ['Latin', 'Cyrillic', 'Greek', 'Han', 'Hangul', 'Hiragana', 'Arabic'])
      expect(names).toMatch(new RegExp(`\\p{Script=${script}}`, 'u'))
    expect(names).toMatch(/\p{Extended_Pictographic}/u)
  })
})

describe('the contract as a text', () => {
  it('is openapi.yaml itself, or the same as JSON', async () => {
    expect(await contract.text('yaml')).toBe(await readFile(openapiFile, 'utf8'))
    expect(JSON.parse(await contract.text('json'))).toEqual(document)
  })
})
