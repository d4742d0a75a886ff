import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { int64Schema } from './values/pet.js'

export interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly additionalProperties?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
}

export function asJsonSchema(schema: GenericSchema): JsonSchema {
  const { $schema: _, ...jsonSchema } = toJsonSchema(withoutGuards(schema) as never, {
    typeMode: 'input',
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }) => (valibotSchema === int64Schema ? { type: 'integer' } : undefined),
  })
  return jsonSchema as JsonSchema
}

interface Parts {
  readonly pipe?: readonly GenericSchema[]
  readonly entries?: Readonly<Record<string, GenericSchema>>
  readonly options?: readonly GenericSchema[]
  readonly item?: GenericSchema
  readonly wrapped?: GenericSchema
}

/** Removes the checks before maps and lists that JSON Schema cannot express, and dates, which only programs pass. */
function withoutGuards(schema: GenericSchema): GenericSchema {
  const { pipe: [first, second] = [], entries, options, item, wrapped }: Parts = schema as never
  if (first !== undefined && first !== schema && 'pipe' in first) return withoutGuards(first)
  if (first?.type === 'custom' && (second?.type === 'strict_object' || second?.type === 'array'))
    return withoutGuards(second)
  // The same object, so that int64Schema can be recognised.
  if (schema.type !== 'union' && entries === undefined && item === undefined && wrapped === undefined) return schema
  return {
    ...schema,
    ...(entries && { entries: mapValues(entries, withoutGuards) }),
    ...(schema.type === 'union' && { options: options?.filter(({ type }) => type !== 'date').map(withoutGuards) }),
    ...(item && { item: withoutGuards(item) }),
    ...(wrapped && { wrapped: withoutGuards(wrapped) }),
  }
}

function mapValues<T, R>(map: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]))
}
