import { isNode, type Node, type Place } from './document.js'
import { FORMATS } from './formats.js'
import { generateNumber } from './generate-value.js'
import { stringifyJson } from './json.js'
import { patternText } from './pattern-text.js'
import { allowsNull, readRecordFields, typeOf } from './schema-fields.js'

const LEAST = { next: () => 0 }

const examples = new WeakMap<Node, unknown>()

/** A value of a schema: its example, constant or first choice, else the simplest value of its type; one that it allows. */
export function exampleValue(schema: Place): unknown {
  const { value } = schema
  if (!isNode(value)) return undefined
  if (examples.has(value)) return examples.get(value)
  // A schema that requires itself has no value.
  examples.set(value, undefined)
  const made = makeExample(schema, value)
  const allowed = made !== undefined && fits(made, schema) ? made : undefined
  examples.set(value, allowed)
  return allowed
}

function makeExample(schema: Place, value: Node): unknown {
  const given = [
    value.default,
    value.const,
    value.example,
    Array.isArray(value.examples) ? value.examples[0] : undefined,
  ]
  const choices: readonly unknown[] = Array.isArray(value.enum) ? value.enum : []
  const found = [...given, ...choices].find((one) => one !== undefined && fits(one, schema))
  if (found !== undefined) return found
  const type = typeOf(schema)
  if (type === 'null' || allowsNull(schema)) return null
  if (type !== 'object') {
    const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema.items(keyword))
    const inner = parts.map(exampleValue).find((one) => one !== undefined)
    if (inner !== undefined) return inner
  }
  switch (type) {
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return generateNumber(value, type === 'integer', LEAST, 0)
    case 'string':
      return exampleString(value)
    case 'array':
      return exampleArray(schema, value)
    case 'object':
      return exampleObject(schema)
    default:
      return undefined
  }
}

function exampleArray(schema: Place, { minItems }: Node): readonly unknown[] | undefined {
  const length = typeof minItems === 'number' ? minItems : 0
  if (length === 0) return []
  const items = schema.child('items')
  const item = items && exampleValue(items)
  return item === undefined || length > 10 ? undefined : Array(length).fill(item)
}

const STRINGS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  uuid: '00000000-0000-4000-8000-000000000000',
  uri: 'https://example.com/',
  email: 'user@example.com',
}

function exampleString({ format, pattern, minLength, maxLength }: Node): string | undefined {
  if (typeof pattern === 'string') return patternText(pattern, { minLength, maxLength })
  const known = typeof format === 'string' ? STRINGS[format] : undefined
  return known ?? 'x'.repeat(typeof minLength === 'number' ? minLength : 0)
}

function exampleObject(schema: Place): Readonly<Record<string, unknown>> | undefined {
  const alternatives = ['anyOf', 'oneOf'].flatMap((keyword) => schema.items(keyword))
  const object: Record<string, unknown> = { ...alternatives.map(exampleValue).find(isNode) }
  for (const [name, field] of readRecordFields(schema)) {
    if (!field.required) continue
    const value = exampleValue(field.place)
    if (value === undefined) return undefined
    object[name] = value
  }
  return object
}

export function exampleOf(content: Place | undefined): unknown {
  return (content?.children('examples')[0]?.[1].child('value') ?? content?.child('example'))?.value
}

/**
 * Whether a schema allows a value. For values of the contract's author, which may contradict it, at start: compiled
 * validators would take most of the time.
 */
export function fits(value: unknown, schema: Place, within: ReadonlySet<unknown> = new Set()): boolean {
  const { value: rules } = schema
  if (!isNode(rules)) return rules !== false
  if (within.has(rules) || (value === null && rules.nullable === true)) return true
  const here = new Set([...within, rules])
  const types: readonly unknown[] = [rules.type ?? []].flat()
  const isAllowed = [rules.enum, rules.const === undefined ? undefined : [rules.const]].every(
    (choices) => !Array.isArray(choices) || choices.some((one) => stringifyJson(one) === stringifyJson(value)),
  )
  const count = (keyword: string) => schema.items(keyword).filter((one) => fits(value, one, here)).length
  return (
    isAllowed &&
    (types.length === 0 || types.some((type) => isOfType(value, type))) &&
    fitsByType(value, schema, rules) &&
    schema.items('allOf').every((part) => fits(value, part, here)) &&
    (rules.anyOf === undefined || count('anyOf') > 0) &&
    (rules.oneOf === undefined || count('oneOf') === 1)
  )
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return typeof value === 'bigint' || Number.isInteger(value)
  return type === 'object' ? isNode(value) : (typeof value === 'bigint' ? 'number' : typeof value) === type
}

function fitsByType(value: unknown, schema: Place, rules: Node): boolean {
  const within = (size: number, least: unknown, most: unknown) =>
    (typeof least !== 'number' || size >= least) && (typeof most !== 'number' || size <= most)
  if (typeof value === 'string') {
    const format = typeof rules.format === 'string' ? FORMATS[rules.format] : undefined
    const isMatch = typeof rules.pattern !== 'string' || matches(rules.pattern, value)
    return isMatch && within([...value].length, rules.minLength, rules.maxLength) && format?.(value) !== false
  }
  if (typeof value === 'number') {
    const { exclusiveMinimum: above, exclusiveMaximum: below, multipleOf: step } = rules
    const isBetween = (typeof above !== 'number' || value > above) && (typeof below !== 'number' || value < below)
    return isBetween && within(value, rules.minimum, rules.maximum) && (typeof step !== 'number' || value % step === 0)
  }
  if (Array.isArray(value)) {
    const items = schema.child('items')
    return within(value.length, rules.minItems, rules.maxItems) && value.every((one) => !items || fits(one, items))
  }
  if (!isNode(value)) return true
  const [properties, others] = [schema.child('properties'), schema.child('additionalProperties')]
  const isComplete = !Array.isArray(rules.required) || rules.required.every((name) => value[name] !== undefined)
  return (
    isComplete &&
    Object.entries(value).every(([name, one]) => {
      const property = properties?.child(name) ?? others
      return property === undefined || fits(one, property)
    })
  )
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return false
  }
}
