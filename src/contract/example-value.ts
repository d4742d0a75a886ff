import { isNode, type Node, type Place } from './document.js'
import { patternText } from './pattern-text.js'
import { allowsNull, readRecordFields, typeOf } from './schema-fields.js'

const examples = new WeakMap<Node, unknown>()

/** A value of a schema: its example, constant or first choice, else the simplest value of its type. */
export function exampleValue(schema: Place): unknown {
  const { value } = schema
  if (!isNode(value)) return undefined
  if (examples.has(value)) return examples.get(value)
  // A schema that requires itself has no value.
  examples.set(value, undefined)
  const made = makeExample(schema, value)
  examples.set(value, made)
  return made
}

function makeExample(schema: Place, value: Node): unknown {
  const given = [
    value.default,
    value.const,
    value.example,
    Array.isArray(value.examples) ? value.examples[0] : undefined,
  ]
  const found = given.find((one) => one !== undefined) ?? (Array.isArray(value.enum) ? value.enum[0] : undefined)
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
      return exampleNumber(value)
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

/** The least number that is allowed, else 0, else the greatest. */
function exampleNumber({ minimum, exclusiveMinimum, maximum, multipleOf }: Node): number | undefined {
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined)
  const least = Math.max(...[minimum, exclusiveMinimum].flatMap((value) => number(value) ?? []))
  const isExcluded = exclusiveMinimum === true || number(exclusiveMinimum) === least
  const start = Number.isFinite(least) ? Math.ceil(least) + (isExcluded && Number.isInteger(least) ? 1 : 0) : 0
  const step = number(multipleOf) ?? 1
  const made = step > 0 ? Math.ceil(start / step) * step : start
  const greatest = number(maximum) ?? made
  return made <= greatest ? made : Number.isFinite(least) ? undefined : greatest
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
