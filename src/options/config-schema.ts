import { allowedText } from './allowed.js'
import { jsonSchemaOf } from './json-schema.js'
import { toCamelCase, toKebabCase } from './letter-case.js'
import { kebabName, NAMED_OPTIONS, type NamedOption } from './names.js'
import { extrasSchema } from './scenario.js'
import { optionRow } from './table.js'

interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly additionalProperties?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
}

const SCENARIO = { anyOf: [{ type: 'string', minLength: 1 }, { $ref: '#/$defs/scenario' }] }

/**
 * The JSON Schema of petstore-sandbox.yaml, for editors: each option by its name, with its
 * meaning. That of a scenario is in `$defs`. What a text like `30s` must be is checked at
 * the start only.
 */
export function configSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'petstore-sandbox.yaml',
    ...mapOf(NAMED_OPTIONS),
    $defs: {
      scenario: mapOf(
        NAMED_OPTIONS.filter(({ name }) => optionRow(name).scenario),
        jsonSchemaOf(extrasSchema),
      ),
    },
  }
}

function mapOf(options: readonly NamedOption[], extras: JsonSchema = {}): JsonSchema {
  return asWritten({
    type: 'object',
    properties: {
      ...extras.properties,
      ...Object.fromEntries(options.map((option) => [kebabName(option), schemaOf(option)])),
    },
    additionalProperties: false,
  })
}

function schemaOf(option: NamedOption): JsonSchema {
  const { name, negated } = option
  const { schema, reads } = optionRow(name)
  const value: JsonSchema = name === 'scenario' ? SCENARIO : jsonSchemaOf(schema)
  return {
    // One element needs no list.
    ...(!negated && reads === 'list' ? { anyOf: [value.items ?? {}, value] } : value),
    description: meaningOf(option),
  }
}

/** The description of what is on by default is that of its flag, `--no-…`. */
function meaningOf({ name, negated }: NamedOption): string {
  const { description, negative, reads, default: fallback = reads === 'switch' ? 'false' : 'none' } = optionRow(name)
  if (negative && !negated) return `false: ${description}`
  return `${description}\n\n${allowedText(name)}; default: ${fallback}`
}

/** Names in kebab-case, as they are suggested; those in camelCase are understood, too. */
function asWritten(schema: JsonSchema): JsonSchema {
  const { properties, anyOf, items } = schema
  const parts = Object.entries(properties ?? {}).map(([name, part]) => [name, asWritten(part)] as const)
  const camel = parts.map(([name, part]) => [toCamelCase(name), part] as const).filter(([name]) => /[A-Z]/.test(name))
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(parts.map(([name, part]) => [toKebabCase(name), part])) }),
    ...(camel.length === 0
      ? {}
      : { patternProperties: Object.fromEntries(camel.map(([name, part]) => [`^${name}$`, part])) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(asWritten) }),
    ...(items === undefined ? {} : { items: asWritten(items) }),
  }
}
