import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { int64Schema } from './values/pet.js'

/** What a JSON or YAML text must be to pass a schema; how it is read from there is not its writer's matter. */
export function jsonSchemaOf(schema: GenericSchema): object {
  const { $schema: _, ...jsonSchema } = toJsonSchema(withoutGuards(schema) as never, {
    typeMode: 'input',
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }) => (valibotSchema === int64Schema ? { type: 'integer' } : undefined),
  })
  return jsonSchema
}

/** Maps are guarded against arrays by a check that JSON Schema cannot tell; what follows it says all. */
function withoutGuards(schema: GenericSchema): GenericSchema {
  const piped = 'pipe' in schema && Array.isArray(schema.pipe) ? (schema.pipe as GenericSchema[]) : []
  const [first, second] = piped
  if (first !== undefined && first !== schema && 'pipe' in first) return withoutGuards(first)
  if (first?.type === 'custom' && second?.type === 'strict_object') return withoutGuards(second)
  if ('entries' in schema && typeof schema.entries === 'object') {
    const entries = Object.entries(schema.entries as Record<string, GenericSchema>)
    return {
      ...schema,
      entries: Object.fromEntries(entries.map(([name, entry]) => [name, withoutGuards(entry)])),
    } as never
  }
  if ('options' in schema && schema.type === 'union') {
    // A Date is for programs only.
    const options = (schema.options as GenericSchema[]).filter(({ type }) => type !== 'date')
    return { ...schema, options: options.map(withoutGuards) } as never
  }
  if ('item' in schema) return { ...schema, item: withoutGuards(schema.item as GenericSchema) } as never
  if ('wrapped' in schema) return { ...schema, wrapped: withoutGuards(schema.wrapped as GenericSchema) } as never
  return schema
}
