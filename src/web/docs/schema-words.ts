import { stringifyJson } from '../../contract/json.js'
import { type ContractModel, listOf, mapOf } from './contract-model.js'
import type { JsonMap } from './json-map.js'

/** A schema as one line says it. */
export interface SchemaWords {
  /** `integer (int64)`, `array of Pet` */
  readonly type: string
  /** `1 to 100`, `default 20` */
  readonly bounds: readonly string[]
}

/** Says in words what a schema allows. */
export function schemaWords(contract: ContractModel, given: unknown): SchemaWords {
  const { value, name } = contract.resolve(given)
  if (value === true || value === undefined) return { type: 'anything', bounds: [] }
  if (value === false) return { type: 'nothing', bounds: [] }
  const schema = mapOf(value)
  return { type: typeOf(contract, schema, name), bounds: boundsOf(schema) }
}

function typeOf(contract: ContractModel, schema: JsonMap, name: string | undefined): string {
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type]
  const written = types.join(' or ')
  const called = name === undefined || written === 'array' ? '' : name
  if (types.includes('array')) {
    const items = schemaWords(contract, schema.items)
    return `${called}${called === '' ? '' : ': '}array of ${items.type}`
  }
  const format = typeof schema.format === 'string' ? ` (${schema.format})` : ''
  if (written !== '') return `${called}${called === '' ? '' : ': '}${written}${format}`
  for (const [word, join] of [
    ['oneOf', 'one of'],
    ['anyOf', 'any of'],
    ['allOf', 'all of'],
  ] as const) {
    const parts = listOf(schema[word])
    if (parts.length > 0) return called || `${join} ${parts.length === 1 ? 'one schema' : `${parts.length} schemas`}`
  }
  if (schema.properties !== undefined) return called === '' ? 'object' : `${called}: object`
  return called || 'anything'
}

function boundsOf(schema: JsonMap): readonly string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems } = schema
  const shown = (value: unknown) => (value === undefined ? undefined : stringifyJson(value))
  const range = (low: unknown, high: unknown, what = '') => {
    if (low === undefined && high === undefined) return []
    if (high === undefined) return [`at least ${shown(low)}${what}`]
    return [low === undefined ? `at most ${shown(high)}${what}` : `${shown(low)} to ${shown(high)}${what}`]
  }
  const values = listOf(schema.enum)
  return [
    ...range(minimum, maximum),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${shown(exclusiveMinimum)}`]),
    ...(exclusiveMaximum === undefined ? [] : [`less than ${shown(exclusiveMaximum)}`]),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
    ...(schema.pattern === undefined ? [] : [`matches ${schema.pattern}`]),
    ...(values.length === 0 ? [] : [`one of ${values.map(shown).join(', ')}`]),
    ...(schema.const === undefined ? [] : [`always ${shown(schema.const)}`]),
    ...(schema.default === undefined ? [] : [`default ${shown(schema.default)}`]),
    ...(schema.nullable === true ? ['or null'] : []),
    ...(schema.readOnly === true ? ['only read'] : []),
    ...(schema.writeOnly === true ? ['only written'] : []),
    ...(schema.uniqueItems === true ? ['each once'] : []),
  ]
}

/** A schema below another one, and what it is called there. */
export interface SchemaPart {
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
}

/** What a schema is made of: its fields, its items, its alternatives. One that has none says all of itself in a line. */
export function partsOf(contract: ContractModel, given: unknown): readonly SchemaPart[] {
  const schema = mapOf(contract.resolve(given).value)
  const required = listOf(schema.required)
  const part = (name: string, of: unknown, isRequired = false): SchemaPart => ({ name, schema: of, isRequired })
  const fields = Object.entries(mapOf(schema.properties)).map(([name, of]) => part(name, of, required.includes(name)))
  const more = schema.additionalProperties
  const alternatives = (word: string, called: string) =>
    listOf(schema[word]).map((of, index) => part(`${called} ${index + 1}`, of))
  return [
    ...fields,
    // Together they are one: its fields are shown as if they were written here.
    ...listOf(schema.allOf).flatMap((of) => partsOf(contract, withoutCycle(contract, of, given))),
    ...alternatives('oneOf', 'either'),
    ...alternatives('anyOf', 'any'),
    ...listOf(schema.prefixItems).map((of, index) => part(`item ${index + 1}`, of)),
    ...(isShown(schema.items) ? [part('each item', schema.items)] : []),
    ...(isShown(more) ? [part('any other field', more)] : []),
    ...(schema.not === undefined ? [] : [part('not', schema.not)]),
  ]
}

function isShown(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null
}

/** One that is made of itself would never end. */
function withoutCycle(contract: ContractModel, part: unknown, whole: unknown): unknown {
  return contract.resolve(part).value === contract.resolve(whole).value ? {} : part
}

const DEEPEST_SAMPLE = 6

/** A value that a schema allows, as far as that can be seen: for where the contract has no example. */
export function sampleOf(contract: ContractModel, given: unknown, depth = 0): unknown {
  const schema = mapOf(contract.resolve(given).value)
  for (const value of [
    schema.example,
    listOf(schema.examples)[0],
    schema.default,
    schema.const,
    listOf(schema.enum)[0],
  ])
    if (value !== undefined) return value
  if (depth > DEEPEST_SAMPLE) return null
  const [first] = [...listOf(schema.oneOf), ...listOf(schema.anyOf)]
  if (first !== undefined) return sampleOf(contract, first, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const fields = partsOf(contract, schema).filter(({ isRequired }) => isRequired)
  if (type === 'object' || schema.properties !== undefined || schema.allOf !== undefined)
    return Object.fromEntries(fields.map(({ name, schema: of }) => [name, sampleOf(contract, of, depth + 1)]))
  switch (type) {
    case 'array':
      return depth > 2 ? [] : [sampleOf(contract, schema.items, depth + 1)]
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return schema.format === 'date' ? '2026-03-01' : schema.format === 'date-time' ? '2026-03-01T10:00:00Z' : 'text'
    default:
      return null
  }
}
