import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Contract, Operation } from '../../src/contract/contract.js'
import { jsonContent, rootPlace } from '../../src/contract/document.js'
import { toJsonSchema } from '../../src/contract/json-schema.js'
import { loadContract } from '../../src/contract/load-contract.js'
import { parseDocument } from '../../src/contract/parse-document.js'
import { type RandomStream, randomStream } from '../../src/domain/random.js'
import { TEST_SEED } from '../support/test-seed.js'
import { transports } from '../support/transports.js'

type Schema = Readonly<Record<string, unknown>>
type Values = Record<string, unknown>

/** Makes values that match a schema of a request body. */
class BodyMaker {
  readonly #random: RandomStream
  readonly #definitions: Readonly<Record<string, Schema>>
  readonly #schema: Schema

  constructor(schema: Schema, random: RandomStream) {
    this.#random = random
    this.#schema = schema
    this.#definitions = (schema.$defs ?? {}) as Readonly<Record<string, Schema>>
  }

  make(): unknown {
    return this.#value(this.#schema, 0)
  }

  #value(schema: Schema, depth: number): unknown {
    const { $ref, allOf, anyOf, oneOf, enum: choices, int64, type, items, format } = schema as Values & Schema
    if (typeof $ref === 'string') return this.#value(this.#definitions[$ref.split('/').at(-1) ?? ''] ?? {}, depth)
    if (Array.isArray(choices)) return this.#oneOf(choices)
    if (Array.isArray(allOf)) {
      const { allOf: _parts, ...own } = schema
      return Object.assign({}, ...[own, ...allOf].map((part) => this.#value(part as Schema, depth)))
    }
    const alternatives = anyOf ?? oneOf
    if (Array.isArray(alternatives)) return this.#value(this.#oneOf(alternatives) as Schema, depth)
    if (int64 !== undefined) {
      const { minimum, maximum } = int64 as { minimum: string; maximum: string }
      const least = Math.max(Number(minimum), 0)
      return least + Math.floor(this.#random.next() * Math.min(Number(maximum) - least, 1000))
    }
    switch ([type].flat()[0]) {
      case 'string':
        return this.#string(format)
      case 'number':
        return Math.floor(this.#random.next() * 100)
      case 'boolean':
        return this.#random.next() < 0.5
      case 'array':
        return this.#random.next() < 0.5 ? [] : [this.#value((items ?? {}) as Schema, depth + 1)]
      default:
        return this.#object(schema, depth)
    }
  }

  #object({ properties = {}, required = [] }: Schema, depth: number): Values {
    return Object.fromEntries(
      Object.entries(properties as Readonly<Record<string, Schema | true>>).flatMap(([name, schema]) => {
        const isSent = (required as readonly string[]).includes(name) || (depth < 3 && this.#random.next() < 0.6)
        return isSent ? [[name, schema === true ? 'anything' : this.#value(schema, depth + 1)]] : []
      }),
    )
  }

  #string(format: unknown): string {
    const samples: Readonly<Record<string, string>> = {
      date: '2026-03-01',
      'date-time': '2026-03-01T12:00:00Z',
      uuid: '3be6453c-03eb-4357-ae5a-984a0e574a54',
      uri: 'https://example.com/',
      email: 'user@example.com',
    }
    return samples[String(format)] ?? `text ${Math.floor(this.#random.next() * 50)}`
  }

  #oneOf(list: readonly unknown[]): unknown {
    return list[Math.floor(this.#random.next() * list.length)]
  }
}

async function bodyMakers(file: string, { operations }: Contract, random: RandomStream) {
  const root = rootPlace(await parseDocument(file, readFileSync(file, 'utf8')))
  return new Map(
    operations.flatMap(({ id, method, path }) => {
      const place = root.child('paths')?.child(path)?.child(method.toLowerCase())
      const content = jsonContent(place?.child('requestBody'))
      if (content?.child('schema') === undefined) return []
      return [[id, new BodyMaker(toJsonSchema(content.written('schema')) as Schema, random)]]
    }),
  )
}

/** With --strict, a response that breaks the contract is a 500. */
it.each(['swagger-petstore.yaml', 'museum.yaml', 'grown.yaml', 'other-pets.yaml', 'fuller.yaml'])(
  'every response to random requests keeps the contract: %s',
  async (name) => {
    const seed = `${TEST_SEED}:${name}`
    const random = randomStream(seed)
    const file = fileURLToPath(new URL(`../contract/specs/${name}`, import.meta.url))
    const contract = await loadContract(file)
    const makers = await bodyMakers(file, contract, random)
    const [[, openSandbox]] = transports as [(typeof transports)[number]]
    const sandbox = await openSandbox({ spec: file, strict: true, rateLimit: false, freeze: true })
    const stateful = contract.operations.filter(({ action }) => action !== undefined)
    const ids = new Map<string, unknown[]>()
    const pick = <T>(list: readonly T[]) => list[Math.floor(random.next() * list.length)]
    const targetOf = ({ path, action }: Operation) =>
      path.replaceAll(/\{[^{}]*\}/g, () => {
        const known = pick(ids.get(action?.resource ?? '') ?? [])
        return encodeURIComponent(String(random.next() < 0.2 || known === undefined ? 4711 : known))
      })
    const statuses = new Set<number>()
    for (let i = 0; i < 300; i++) {
      const operation = pick(stateful) as Operation
      const { method, id, action } = operation
      const body = makers.get(id)?.make()
      const response = await sandbox.call(`/v1${targetOf(operation)}`, {
        method,
        ...(body === undefined ? {} : { body }),
      })
      statuses.add(response.status)
      expect(
        response.status,
        `seed ${seed}: ${method} ${id} ${JSON.stringify(body)}: ${sandbox.warnings}`,
      ).toBeLessThan(500)
      const property = contract.resources.find((one) => one.name === action?.resource)?.id.property ?? ''
      const value = Object(response.json)[property] as unknown
      if (action?.kind === 'create' && value !== undefined)
        ids.set(action.resource, [...(ids.get(action.resource) ?? []), value])
    }
    expect([...statuses].some((status) => status < 300)).toBe(true)
    expect(sandbox.warnings.filter((warning) => warning.includes('breaks the contract'))).toEqual([])
  },
)
