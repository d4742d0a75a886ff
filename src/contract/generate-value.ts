import { isNode, type Node, type Place } from './document.js'
import { MAX_MADE } from './json-schema.js'
import { patternText, usualText } from './pattern-text.js'
import { readRecordFields, typeOf } from './schema-fields.js'

/** A source of numbers from 0 to 1. */
interface Chance {
  next(): number
}

const WORDS =
  'amber birch cedar coral delta ember fjord grove harbor iris jasper kestrel larch maple nova opal pine quartz raven sage tidal umber velvet willow zephyr'.split(
    ' ',
  )
/** The present of generated records: 2026-01-01, midnight UTC. */
export const GENERATED_FROM = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const MAX_DEPTH = 4
/** Larger than any bound that a schema leaves open. */
const OPEN_RANGE = 1000

/**
 * Makes a value of a schema: the same for the same chance. A schema with rules that it does not know (a `pattern` with
 * lookarounds, `not`) may get a value that breaks it.
 *
 * @param name  of the property, which strings begin with
 * @param index of the record, from 0
 */
export function generateValue(schema: Place, name: string, index: number, chance: Chance, depth = 0): unknown {
  const { value } = schema
  // A schema that requires itself has no value.
  if (!isNode(value) || depth > 2 * MAX_DEPTH) return null
  if (value.const !== undefined) return value.const
  if (Array.isArray(value.enum)) return pick(value.enum, chance)
  const [variant] = [...schema.items('oneOf'), ...schema.items('anyOf')].filter((place) => typeOf(place) !== 'null')
  const isOpen = value.type === undefined && value.properties === undefined
  const [part] = schema.items('allOf')
  const inner = variant ?? part
  const isScalar = typeOf(schema) !== 'object' && typeOf(schema) !== 'array'
  if (inner !== undefined && (isScalar || (variant !== undefined && isOpen)) && (isOpen || hasChoices(inner)))
    return generateValue(inner, name, index, chance, depth)
  const count = (key: string) => (typeof value[key] === 'number' ? value[key] : undefined)
  if (Math.max(count('minLength') ?? 0, count('minItems') ?? 0) > MAX_MADE)
    throw schema.error(`needs a value of more than ${MAX_MADE} characters or items`)
  switch (typeOf(schema)) {
    case 'boolean':
      return chance.next() < 0.5
    case 'integer':
    case 'number':
      return generateNumber(value, typeOf(schema) === 'integer', chance)
    case 'string':
      return generateString(value, name, index, chance)
    case 'array': {
      const least = count('minItems') ?? 0
      const length = Math.min(count('maxItems') ?? least + 2, least + Math.floor(chance.next() * 3))
      const items = schema.child('items')
      if (items === undefined || depth >= MAX_DEPTH) return []
      return Array.from({ length }, (_, at) => generateValue(items, name, index * 10 + at, chance, depth + 1))
    }
    case 'object': {
      const made = [...readRecordFields(schema)].flatMap(([key, { place, required }]) => {
        const isWanted = required || (depth < MAX_DEPTH && chance.next() < 0.8)
        return isWanted ? [[key, generateValue(place, key, index, chance, depth + 1)] as const] : []
      })
      const chosen = variant === undefined ? {} : Object(generateValue(variant, name, index, chance, depth + 1))
      return { ...chosen, ...Object.fromEntries(made) }
    }
    default:
      return value.example ?? value.default ?? null
  }
}

function hasChoices({ value }: Place): boolean {
  return isNode(value) && (value.const !== undefined || value.enum !== undefined)
}

/** @param open the least number, for a schema without bounds */
export function generateNumber(rules: Node, isWhole: boolean, chance: Chance, open = 1): number | bigint {
  const { minimum, exclusiveMinimum } = rules
  // Beyond 2^53.
  if (typeof minimum === 'bigint') return minimum
  if (typeof exclusiveMinimum === 'bigint') return exclusiveMinimum + 1n
  const number = (key: string) => (typeof rules[key] === 'number' ? rules[key] : undefined)
  const step = number('multipleOf') ?? (isWhole ? 1 : 0.01)
  const bounds = (inclusive: string, exclusive: string, inwards: number) => {
    // OpenAPI 3.0 writes exclusiveMinimum: true beside minimum.
    const isFlag = rules[exclusive] === true
    const excluded = isFlag ? number(inclusive) : number(exclusive)
    return [
      isFlag ? undefined : number(inclusive),
      excluded && excluded + inwards,
      excluded === 0 ? inwards : undefined,
    ].filter((bound) => bound !== undefined)
  }
  const lows = bounds('minimum', 'exclusiveMinimum', step)
  const highs = bounds('maximum', 'exclusiveMaximum', -step)
  const least = lows.length === 0 ? undefined : Math.max(...lows)
  const most = highs.length === 0 ? undefined : Math.min(...highs)
  // A range without a step in it.
  if (!isWhole && least !== undefined && most !== undefined && least > most && number('multipleOf') === undefined)
    return Number(((least + most) / 2).toPrecision(10))
  const low = Math.ceil((least ?? Math.min(open, most ?? open)) / step)
  const high = Math.floor((most ?? (low + OPEN_RANGE) * step) / step)
  const steps = low + Math.floor(chance.next() * (Math.min(high, low + OPEN_RANGE / step) - low + 1))
  return step < 1 ? Number((steps * step).toFixed(10)) : steps * step
}

function generateString(value: Node, name: string, index: number, chance: Chance): unknown {
  const { format, pattern, minLength, maxLength } = value
  const examples = [value.example, ...(Array.isArray(value.examples) ? value.examples : [])].filter(
    (item) => typeof item === 'string',
  )
  if (typeof pattern === 'string')
    return examples.length > 0 ? pick(examples, chance) : (value.default ?? patterned(pattern, value, index, chance))
  const word = pick(WORDS, chance)
  const at = new Date(GENERATED_FROM - Math.floor(chance.next() * OPEN_RANGE) * MINUTE_MS).toISOString()
  switch (format) {
    case 'date-time':
      return at
    case 'date':
      return at.slice(0, 10)
    case 'uuid':
      return uuidFrom(chance)
    case 'uri':
    case 'url':
    case 'uri-reference':
      return `https://example.com/${name}/${index + 1}`
    case 'email':
      return `${word}${index + 1}@example.com`
    case 'hostname':
      return `${word}${index + 1}.example.com`
    case 'ipv4':
      return `192.0.2.${index % 256}`
    case 'byte':
      return btoa(word)
    default: {
      const text = `${word} ${index + 1}`
      const least = typeof minLength === 'number' ? minLength : 0
      return text.slice(0, typeof maxLength === 'number' ? maxLength : undefined).padEnd(least, 'x')
    }
  }
}

/** Of patterns without a longest text, so that records differ. */
const USUAL_LENGTH = 6

function patterned(pattern: string, { minLength = 0, maxLength }: Node, index: number, chance: Chance): string {
  const choose = (count: number) => Math.floor(chance.next() * count)
  const isOpen = /[*+]|,\}/.test(pattern)
  const longer = isOpen
    ? patternText(pattern, { minLength: Math.max(Number(minLength), USUAL_LENGTH), maxLength }, choose)
    : undefined
  const text = longer ?? patternText(pattern, { minLength, maxLength }, choose)
  return text || (usualText(pattern, [`${index + 1}.50`]) ?? '')
}

/** A UUID (version 4, RFC 9562). */
export function uuidFrom(chance: Chance): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(chance.next() * 16).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5')
}

function pick<T>(list: readonly T[], chance: Chance): T {
  return list[Math.floor(chance.next() * list.length)] as T
}
