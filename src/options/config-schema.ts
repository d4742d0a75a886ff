import { allowedText } from './allowed.js'
import { asJsonSchema, type JsonSchema } from './json-schema.js'
import { toCamelCase, toKebabCase } from './letter-case.js'
import { kebabName, NAMED_OPTIONS, type NamedOption } from './names.js'
import { extrasSchema } from './scenario.js'
import { optionRow } from './table.js'

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
  const { schema, reads, description, negative, default: fallback } = optionRow(name)
  const value: JsonSchema = name === 'scenario' ? SCENARIO : asJsonSchema(schema)
  const standard = fallback ?? (reads === 'switch' ? 'false' : 'none')
  return {
    // A single element needs no list.
    ...(!negated && reads === 'list' ? { anyOf: [value.items ?? {}, value] } : value),
    // An option that is on by default has the description of its flag, `--no-…`.
    description:
      negative && !negated ? `false: ${description}` : `${description}\n\n${allowedText(name)}; default: ${standard}`,
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
