import { readFileSync } from 'node:fs'
import type { Contract } from '../../src/contract/contract.js'
import { jsonContent, rootPlace } from '../../src/contract/document.js'
import { toJsonSchema } from '../../src/contract/json-schema.js'
import { parseDocument } from '../../src/contract/parse-document.js'
import type { RandomStream } from '../../src/domain/random.js'

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

  /** @param more required properties, beside those of the schema */
  #value(schema: Schema, depth: number, more: readonly string[] = []): unknown {
    const { $ref, allOf, anyOf, oneOf, enum: choices, int64, type, items, format } = schema as Values & Schema
    if (typeof $ref === 'string') return this.#value(this.#definitions[$ref.split('/').at(-1) ?? ''] ?? {}, depth, more)
    if (Array.isArray(choices)) return this.#oneOf(choices)
    if (Array.isArray(allOf)) {
      const { allOf: _parts, ...own } = schema
      const parts = [...(own.type === undefined && own.properties === undefined ? [] : [own]), ...allOf]
      const required = [...more, ...((own.required ?? []) as readonly string[])]
      const made = parts.map((part) => this.#value(part as Schema, depth, required))
      const last = made.at(-1)
      return typeof last === 'object' && last !== null ? Object.assign({}, ...made) : last
    }
    const alternatives = anyOf ?? oneOf
    if (Array.isArray(alternatives)) return this.#value(this.#oneOf(alternatives) as Schema, depth)
    if ('const' in schema) return schema.const
    if (int64 !== undefined) {
      const { minimum, maximum } = int64 as { minimum: string; maximum: string }
      const least = Math.max(Number(minimum), 0)
      return least + Math.floor(this.#random.next() * Math.min(Number(maximum) - least, 1000))
    }
    switch ([type].flat()[0]) {
      case 'string':
        return this.#string(format)
      case 'number':
        return 1 + Math.floor(this.#random.next() * 100)
      case 'null':
        return null
      case 'boolean':
        return this.#random.next() < 0.5
      case 'array':
        return this.#random.next() < 0.5 && schema.minItems === undefined
          ? []
          : [this.#value((items ?? {}) as Schema, depth + 1)]
      default:
        return this.#object(schema, depth, more)
    }
  }

  #object({ properties = {}, required: own = [] }: Schema, depth: number, more: readonly string[]): Values {
    const required = [...more, ...(own as readonly string[])]
    return Object.fromEntries(
      Object.entries(properties as Readonly<Record<string, Schema | true>>).flatMap(([name, schema]) => {
        const isSent = required.includes(name) || (depth < 3 && this.#random.next() < 0.6)
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

/** By operation, for those with a body. */
export async function bodyMakers(file: string, { operations }: Contract, random: RandomStream) {
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
