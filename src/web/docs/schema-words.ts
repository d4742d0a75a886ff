import { stringifyJson } from '../../contract/json.js'
import { asList, asMap, type ContractModel, type JsonMap } from './contract-model.js'

/** `integer (int64), 1 to 100, default 20`. */
export function schemaText(contract: ContractModel, given: unknown): string {
  const { value, name } = contract.resolve(given)
  if (value === true || value === undefined) return 'anything'
  if (value === false) return 'nothing'
  const schema = asMap(value)
  return [typeText(contract, schema, name), ...boundTexts(schema)].join(', ')
}

const COMBINATIONS = { oneOf: 'one of', anyOf: 'any of', allOf: 'all of' } as const

function typeText(contract: ContractModel, schema: JsonMap, name = ''): string {
  const types = typesOf(schema)
  const prefix = name === '' ? '' : `${name}: `
  if (types.includes('array')) {
    const items = contract.resolve(schema.items)
    return `${types.length === 1 ? '' : prefix}array of ${typeText(contract, asMap(items.value), items.name)}`
  }
  if (types.length > 0) {
    const format = typeof schema.format === 'string' ? ` (${schema.format})` : ''
    return `${prefix}${types.join(' or ')}${format}`
  }
  for (const [word, join] of Object.entries(COMBINATIONS)) {
    const { length } = asList(schema[word])
    if (length > 0) return name || `${join} ${length === 1 ? 'one schema' : `${length} schemas`}`
  }
  return schema.properties === undefined ? name || 'anything' : `${prefix}object`
}

function typesOf({ type }: JsonMap): readonly unknown[] {
  return Array.isArray(type) ? type : type === undefined ? [] : [type]
}

const BOUNDS = { exclusiveMinimum: 'more than ', exclusiveMaximum: 'less than ', const: 'always ', default: 'default ' }
const FLAGS = { nullable: 'or null', readOnly: 'read-only', writeOnly: 'write-only', uniqueItems: 'each once' }

function boundTexts(schema: JsonMap): readonly string[] {
  const text = (value: unknown) => stringifyJson(value) ?? ''
  const range = (low: unknown, high: unknown, unit = '') => {
    if (low === undefined) return high === undefined ? [] : [`at most ${text(high)}${unit}`]
    return [high === undefined ? `at least ${text(low)}${unit}` : `${text(low)} to ${text(high)}${unit}`]
  }
  const values = asList(schema.enum)
  return [
    ...range(schema.minimum, schema.maximum),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' items'),
    ...(schema.pattern === undefined ? [] : [`matches ${schema.pattern}`]),
    ...(values.length === 0 ? [] : [`one of ${values.map(text).join(', ')}`]),
    ...Object.entries(BOUNDS).flatMap(([word, bound]) =>
      schema[word] === undefined ? [] : [bound + text(schema[word])],
    ),
    ...Object.entries(FLAGS).flatMap(([word, flag]) => (schema[word] === true ? [flag] : [])),
  ]
}

export interface SchemaPart {
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
}

/** Fields, items and alternatives; empty if `schemaText` is sufficient. */
export function partsOf(contract: ContractModel, given: unknown): readonly SchemaPart[] {
  const whole = contract.resolve(given).value
  const schema = asMap(whole)
  const required = asList(schema.required)
  const part = (name: string, of: unknown): SchemaPart => ({ name, schema: of, isRequired: false })
  const numbered = (word: string, name: string) =>
    asList(schema[word]).map((of, index) => part(`${name} ${index + 1}`, of))
  const named = (word: string, name: string) =>
    typeof schema[word] === 'object' && schema[word] !== null ? [part(name, schema[word])] : []
  return [
    ...Object.entries(asMap(schema.properties)).map(([name, of]) => ({
      ...part(name, of),
      isRequired: required.includes(name),
    })),
    // Merges the fields of allOf, which may be recursive.
    ...asList(schema.allOf)
      .filter((of) => contract.resolve(of).value !== whole)
      .flatMap((of) => partsOf(contract, of)),
    ...numbered('oneOf', 'either'),
    ...numbered('anyOf', 'any'),
    ...numbered('prefixItems', 'item'),
    ...named('items', 'each item'),
    ...named('additionalProperties', 'any other field'),
    ...named('not', 'not'),
  ]
}

const MAX_WORDS_DEPTH = 5

export function schemaWords(contract: ContractModel, given: unknown, depth = 0): string {
  if (given === undefined || depth > MAX_WORDS_DEPTH) return ''
  const { description, enum: values } = contract.read(given)
  const parts = partsOf(contract, given).map(
    ({ name, schema }) => `${name} ${schemaWords(contract, schema, depth + 1)}`,
  )
  return [contract.resolve(given).name, description, ...asList(values), ...parts].join(' ')
}

const MAX_SAMPLE_DEPTH = 6
const SAMPLE_DATES: Readonly<Record<string, string>> = { date: '2026-03-01', 'date-time': '2026-03-01T10:00:00Z' }

/** A probably valid value, for contracts without an example. */
export function sampleOf(contract: ContractModel, given: unknown, depth = 0): unknown {
  const schema = contract.read(given)
  const { example, examples, default: fallback, const: only, enum: values } = schema
  const known = [example, asList(examples)[0], fallback, only, asList(values)[0]].find((value) => value !== undefined)
  if (known !== undefined) return known
  if (depth > MAX_SAMPLE_DEPTH) return null
  const sample = (of: unknown) => sampleOf(contract, of, depth + 1)
  const [alternative] = [...asList(schema.oneOf), ...asList(schema.anyOf)]
  if (alternative !== undefined) return sample(alternative)
  const [type] = typesOf(schema)
  if (type === 'object' || schema.properties !== undefined || schema.allOf !== undefined) {
    const fields = partsOf(contract, schema).filter(({ isRequired }) => isRequired)
    return Object.fromEntries(fields.map(({ name, schema: of }) => [name, sample(of)]))
  }
  switch (type) {
    case 'array':
      return depth > 2 ? [] : [sample(schema.items)]
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return SAMPLE_DATES[String(schema.format)] ?? 'text'
    default:
      return null
  }
}
