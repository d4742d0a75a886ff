import type { Expected, ValueType } from './contract-data.js'
import { isNode, type Place } from './document.js'
import { exactInteger } from './int64.js'
import { integerBounds } from './json-schema.js'

/** The bounds of an integer without bounds of its own. */
const INT64 = integerBounds({})

/** Reads from a schema what a parameter or a field may hold. */
export function readExpected(schema: Place): Expected {
  const source = isNode(schema.value) ? schema.value : {}
  const type = valueType(source.type)
  const items = schema.child('items')?.value
  const bounds = type === 'integer' ? integerBounds(source) : undefined
  const described = {
    type,
    ...(type === 'array' && isNode(items) ? { itemType: valueType(items.type) } : {}),
    ...(Array.isArray(source.enum) ? { enum: source.enum as readonly unknown[] } : {}),
    ...(bounds === undefined || bounds.minimum === INT64.minimum
      ? {}
      : { minimum: exactInteger(BigInt(bounds.minimum)) }),
    ...(bounds === undefined || bounds.maximum === INT64.maximum
      ? {}
      : { maximum: exactInteger(BigInt(bounds.maximum)) }),
    ...(source.default === undefined ? {} : { default: source.default }),
    ...(typeof source.description === 'string' ? { description: source.description } : {}),
  }
  const wording = wordingOf(described, source)
  return wording === undefined ? described : { ...described, wording }
}

function valueType(type: unknown): ValueType {
  const name: unknown = Array.isArray(type) ? type.find((one) => one !== 'null') : type
  switch (name) {
    case 'integer':
    case 'number':
    case 'boolean':
    case 'string':
    case 'array':
      return name
    default:
      return 'other'
  }
}

const WITHOUT_WORDING = ['pattern', 'minLength', 'maxLength', 'multipleOf', 'allOf', 'anyOf', 'oneOf', 'not', 'const']

function wordingOf(expected: Omit<Expected, 'wording'>, source: Readonly<Record<string, unknown>>): string | undefined {
  if (WITHOUT_WORDING.some((keyword) => source[keyword] !== undefined)) return undefined
  if (expected.enum !== undefined) return `one of ${expected.enum.map(String).join(', ')}`
  switch (expected.type) {
    case 'integer':
      return `a whole number from ${expected.minimum ?? INT64.minimum} to ${expected.maximum ?? INT64.maximum}`
    case 'boolean':
      return 'true or false'
    case 'string':
      return 'a string'
    default:
      return undefined
  }
}
