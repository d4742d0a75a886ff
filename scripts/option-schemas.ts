import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { toCamelCase, toKebabCase } from '../src/options/letter-case.js'
import { kebabName, NAMED_OPTIONS, type NamedOption } from '../src/options/names.js'
import { extrasSchema } from '../src/options/scenario.js'
import { optionRow } from '../src/options/table.js'

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
  })
  return jsonSchema as JsonSchema
}

interface Parts {
  readonly kind: string
  readonly pipe?: readonly GenericSchema[]
  readonly entries?: Readonly<Record<string, GenericSchema>>
  readonly options?: readonly GenericSchema[]
  readonly item?: GenericSchema
  readonly wrapped?: GenericSchema
}

/** Removes the checks before objects and lists that JSON Schema cannot express, and dates, which only programs pass. */
function withoutGuards(schema: GenericSchema): GenericSchema {
  const { pipe, entries, options, item, wrapped }: Parts = schema as never
  if (pipe !== undefined) {
    const isGuarded = pipe[0]?.type === 'custom' && pipe[1]?.kind === 'schema'
    const [inner, ...others] = pipe.slice(isGuarded ? 1 : 0)
    const isMetadata = (part: GenericSchema) => (part as Parts).kind === 'metadata'
    const whole = withoutGuards(inner as GenericSchema)
    // A description counts only before the first transformation.
    const parts = [whole, ...others.filter(isMetadata), ...others.filter((part) => !isMetadata(part))]
    return { ...whole, pipe: parts } as GenericSchema
  }
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

/** For editors. The schema of a scenario is in `$defs`. Texts such as `30s` are checked only at the start. */
export function configSchema(): object {
  const inScenarios = NAMED_OPTIONS.filter(({ name }) => optionRow(name).scenario)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'petstore-sandbox.yaml',
    ...mapOf(NAMED_OPTIONS.filter(({ name }) => !optionRow(name).notInFiles)),
    $defs: { scenario: mapOf(inScenarios, asJsonSchema(extrasSchema).properties) },
  }
}

function mapOf(options: readonly NamedOption[], extras: JsonSchema['properties'] = {}): JsonSchema {
  const own = Object.fromEntries(options.map((option) => [kebabName(option), optionSchema(option)]))
  return asWritten({ type: 'object', properties: { ...extras, ...own }, additionalProperties: false })
}

const SCENARIO = { anyOf: [{ type: 'string', minLength: 1 }, { $ref: '#/$defs/scenario' }] }

function optionSchema({ name, negated }: NamedOption): JsonSchema {
  const { schema, reads, description, negative, allowed, default: fallback } = optionRow(name)
  const value: JsonSchema = name === 'scenario' ? SCENARIO : asJsonSchema(schema)
  const standard = fallback ?? (reads === 'switch' ? 'false' : 'none')
  return {
    // A single element needs no list.
    ...(!negated && reads === 'list' ? { anyOf: [value.items ?? {}, value] } : value),
    // An option that is on by default has the description of its flag, `--no-…`.
    description: negative && !negated ? `false: ${description}` : `${description}\n\n${allowed}; default: ${standard}`,
  }
}

/** Suggests names in kebab-case, and accepts camelCase. */
function asWritten(schema: JsonSchema): JsonSchema {
  const { properties, anyOf, items } = schema
  const parts = Object.entries(properties ?? {}).map(([name, part]) => [name, asWritten(part)] as const)
  const camel = parts.map(([name, part]) => [toCamelCase(name), part] as const).filter(([name]) => /[A-Z]/.test(name))
  const patterns = Object.fromEntries(camel.map(([name, part]) => [`^${name}$`, part]))
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(parts.map(([name, part]) => [toKebabCase(name), part])) }),
    ...(camel.length > 0 && { patternProperties: patterns }),
    ...(anyOf && { anyOf: anyOf.map(asWritten) }),
    ...(items && { items: asWritten(items) }),
  }
}
