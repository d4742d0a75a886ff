import type { Expected, ValueType } from './contract-data.js'
import { isNode, type Node, Place } from './document.js'
import { FORMATS } from './formats.js'
import { exactInteger, INT64_MAXIMUM, INT64_MINIMUM } from './int64.js'

export type JsonSchema = boolean | Node

/** The value of our keyword `int64`: the bounds, as strings because JSON.parse would round them. */
export interface Int64Bounds {
  readonly minimum: string
  readonly maximum: string
}

const words = (text: string) => new Set(text.split(' '))
/** Keywords that are kept, by what they hold. Others are annotations, or unknown. */
const PLAIN = words(
  'const dependentRequired enum exclusiveMaximum exclusiveMinimum maxContains maximum maxItems maxLength ' +
    'maxProperties minContains minimum minItems minLength minProperties multipleOf pattern required type uniqueItems',
)
const ONE_SCHEMA = words(
  'additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties',
)
const LIST_OF_SCHEMAS = words('allOf anyOf oneOf prefixItems')
const NAMED_SCHEMAS = words('dependentSchemas patternProperties properties')
const NESTING = words('additionalProperties items patternProperties prefixItems properties')
/** Keywords whose schemas are about the value itself. */
const IN_PLACE = words('allOf anyOf dependentSchemas else if not oneOf then')
const NO_REFERENCES: ReadonlySet<string> = new Set()

const JSON_TYPES = words('array boolean integer null number object string')
const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string')

/** What the values of keywords are, where ajv refuses to compile others. */
const VALUES: readonly (readonly [keywords: string, what: string, is: (value: unknown) => boolean])[] = [
  [
    'maxContains maximum maxItems maxLength maxProperties minContains minimum minItems minLength minProperties multipleOf',
    'a number',
    (value) => typeof value === 'number' || typeof value === 'bigint',
  ],
  [
    'exclusiveMaximum exclusiveMinimum',
    'a number, or true or false',
    (value) => /^(number|bigint|boolean)$/.test(typeof value),
  ],
  ['enum', 'a list with at least one value', (value) => Array.isArray(value) && value.length > 0],
  ['required', 'a list of names', isTexts],
  ['dependentRequired', 'a map of lists of names', (value) => isNode(value) && Object.values(value).every(isTexts)],
  ['pattern', 'a string', (value) => typeof value === 'string'],
  ['uniqueItems', 'true or false', (value) => typeof value === 'boolean'],
  ['type', 'a type of JSON', (value) => [value].flat().every((one) => JSON_TYPES.has(String(one)))],
]
const VALUE_OF = new Map(
  VALUES.flatMap(([keywords, ...rest]) => keywords.split(' ').map((key) => [key, rest] as const)),
)

/**
 * Checks the keywords of a schema, and of the schemas in it.
 *
 * @param seen the schemas that were checked before
 * @throws SpecError naming the place of a keyword with a value of another type
 */
export function checkSchema(place: Place, seen: Set<unknown>): void {
  if (typeof place.value === 'boolean' || seen.has(place.value)) return
  seen.add(place.value)
  for (const [key, value] of Object.entries(place.object())) {
    const [what, is] = VALUE_OF.get(key) ?? []
    if (is?.(value) === false) throw place.error(`has "${key}", which must be ${what}`)
    if (key === '$ref' && typeof value === 'string') checkSchema(place.target(value), seen)
    else mapInside(place, key, value, (inner) => checkSchema(inner, seen))
  }
}

/** What a function makes of the schemas under a keyword; undefined if it has none. */
function mapInside(place: Place, key: string, value: unknown, make: (schema: Place) => unknown): unknown {
  const inside = (one: unknown, name: string) => make(new Place(place.document, one, `${place.name}.${name}`))
  if (ONE_SCHEMA.has(key)) return inside(value, key)
  if (LIST_OF_SCHEMAS.has(key) && Array.isArray(value)) return value.map((one, at) => inside(one, `${key}[${at}]`))
  if (!NAMED_SCHEMAS.has(key) || !isNode(value)) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one, `${key}.${name}`) ?? true]))
}

type IsClosed = (schema: Place) => boolean

/**
 * Makes a schema of an OpenAPI document self-contained: references go into `$defs`, OpenAPI 3.0's dialect becomes JSON
 * Schema 2020-12, and integers become our keyword `int64`, as ajv's own `integer` refuses bigints.
 *
 * @param isClosed which nested objects may have declared fields only
 * @param ignored properties that may be missing or have any value
 */
export function toJsonSchema(place: Place, isClosed?: IsClosed, ignored?: ReadonlySet<string>): JsonSchema {
  return convertWith((convert) => convert(place) ?? true, isClosed, ignored)
}

/** A property without a schema may have any value. */
export function toObjectSchema(
  properties: readonly { readonly name: string; readonly required: boolean; readonly schema: Place | undefined }[],
): JsonSchema {
  return convertWith((convert) => ({
    type: 'object',
    required: properties.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(properties.map(({ name, schema }) => [name, (schema && convert(schema)) ?? true])),
  }))
}

function convertWith(
  make: (convert: (schema: Place) => JsonSchema | undefined) => JsonSchema,
  isClosed?: IsClosed,
  ignored: ReadonlySet<string> = new Set(),
): JsonSchema {
  const names = new Map<string, string>()
  const definitions: Record<string, JsonSchema> = {}

  /** @returns undefined for a schema that consists of itself: one of the references that lead to it, without a property or an item between */
  function convert(schema: Place, within: ReadonlySet<string> = NO_REFERENCES): JsonSchema | undefined {
    if (typeof schema.value === 'boolean') return schema.value
    const source = schema.object()
    const { $ref: reference } = source
    if (typeof reference === 'string' && within.has(reference)) return undefined
    const result: Record<string, unknown> =
      typeof reference === 'string' ? { $ref: refer(schema, reference, within) } : {}
    for (const [key, value] of Object.entries(source)) {
      if (key === 'required' && Array.isArray(value)) result[key] = value.filter((name) => !ignored.has(name))
      else if (PLAIN.has(key)) result[key] = value
      else {
        const inside = (place: Place) => convertInside(place, key, within)
        const converted = mapInside(schema, key, key === 'properties' ? withAnyIgnored(value) : value, inside)
        if (!Array.isArray(converted)) Object.assign(result, converted === undefined ? {} : { [key]: converted })
        else if (key === 'allOf') result[key] = converted.filter((one) => one !== undefined)
        else if (!converted.includes(undefined)) result[key] = converted
      }
    }
    if (typeof source.format === 'string' && Object.hasOwn(FORMATS, source.format)) result.format = source.format
    return withTypes(source, result)
  }

  function convertInside(place: Place, key: string, within: ReadonlySet<string>): JsonSchema | undefined {
    const converted = convert(place, IN_PLACE.has(key) ? within : NO_REFERENCES)
    const mustClose = NESTING.has(key) && typeof converted === 'object' && isClosed?.(place) === true
    return mustClose ? { ...converted, unevaluatedProperties: false } : converted
  }

  function withAnyIgnored(properties: unknown): unknown {
    if (!isNode(properties) || ignored.size === 0) return properties
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, ignored.has(name) ? true : one]))
  }

  function refer(schema: Place, reference: string, within: ReadonlySet<string>): string {
    let name = names.get(reference)
    if (name === undefined) {
      name = `schema${names.size + 1}`
      // Named before it is converted, because it may refer to itself.
      names.set(reference, name)
      definitions[name] = convert(schema.target(reference), new Set([...within, reference])) ?? true
    }
    return `#/$defs/${name}`
  }

  const schema = make((place) => convert(place))
  return typeof schema === 'boolean' || names.size === 0 ? schema : { ...schema, $defs: definitions }
}

const INT64 = { minimum: String(INT64_MINIMUM), maximum: String(INT64_MAXIMUM) }
const INT32 = { minimum: String(-(2 ** 31)), maximum: String(2 ** 31 - 1) }
/** The longest whole number that is read exactly has 309 digits. */
const LONGEST = { minimum: `-1${'0'.repeat(309)}`, maximum: `1${'0'.repeat(309)}` }

/** The contract's own bounds, within the bounds of int64 or int32. */
function integerBounds(schema: Node): Int64Bounds {
  return boundsWithin(schema, schema.format === 'int32' ? INT32 : INT64)
}

function boundsWithin(schema: Node, type: Int64Bounds): Int64Bounds {
  const bounds = [schema.minimum, schema.maximum, schema.exclusiveMinimum, schema.exclusiveMaximum]
  if (bounds.every((bound) => bound === undefined)) return type
  let [low, high] = [BigInt(type.minimum), BigInt(type.maximum)]
  const raise = (bound: bigint | undefined, by = 0n) => {
    if (bound !== undefined && bound + by > low) low = bound + by
  }
  const lower = (bound: bigint | undefined, by = 0n) => {
    if (bound !== undefined && bound - by < high) high = bound - by
  }
  // OpenAPI 3.0 writes exclusiveMinimum: true beside minimum.
  raise(wholeNumber(schema.minimum, Math.ceil), schema.exclusiveMinimum === true ? 1n : 0n)
  lower(wholeNumber(schema.maximum, Math.floor), schema.exclusiveMaximum === true ? 1n : 0n)
  raise(wholeNumber(schema.exclusiveMinimum, Math.floor), 1n)
  lower(wholeNumber(schema.exclusiveMaximum, Math.ceil), 1n)
  return { minimum: String(low), maximum: String(high) }
}

function wholeNumber(value: unknown, round: (value: number) => number): bigint | undefined {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isFinite(value) ? BigInt(round(value)) : undefined
}

const OF_NUMBERS = words('type minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')

/** A whole number beyond 2^53 is a bigint here, which ajv does not take for a number. */
function orLongNumber(source: Node, result: Node): Node {
  const entries = Object.entries(result)
  const rest: Node = Object.fromEntries(entries.filter(([name]) => !OF_NUMBERS.has(name)))
  const given = Object.fromEntries(entries.filter(([name]) => OF_NUMBERS.has(name)))
  const anyOf = [given, { int64: boundsWithin(source, LONGEST) }]
  return { ...rest, anyOf, ...(rest.anyOf === undefined ? {} : { allOf: [rest] }) }
}

function withTypes(source: Node, result: Record<string, unknown>): Node {
  const types: unknown[] = source.type === undefined ? [] : [source.type].flat()
  const isInteger = types.includes('integer')
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const isFlagged = source[exclusive] === true && typeof source[inclusive] === 'number'
    if (isInteger || typeof source[exclusive] === 'boolean') delete result[exclusive]
    if (!isInteger && isFlagged) result[exclusive] = source[inclusive]
    if (isInteger || isFlagged) delete result[inclusive]
  }
  if (source.nullable === true && types.length > 0 && !types.includes('null')) {
    types.push('null')
    if (Array.isArray(result.enum) && !result.enum.includes(null)) result.enum = [...result.enum, null]
  }
  if (!isInteger) {
    if (types.length > 0) result.type = types.length === 1 ? types[0] : types
    return types.includes('number') ? orLongNumber(source, result) : result
  }
  const others = types.filter((type) => type !== 'integer')
  const int64: Node = { int64: integerBounds(source) }
  delete result.type
  return others.length === 0 ? { ...result, ...int64 } : { allOf: [result, { anyOf: [int64, { type: others }] }] }
}

export function readExpected(schema: Place): Expected {
  const source = isNode(schema.value) ? schema.value : {}
  const type = valueType(source.type)
  const items = schema.child('items')?.value
  const { minimum, maximum } = type === 'integer' ? integerBounds(source) : INT64
  const described = {
    type,
    ...(type === 'array' && isNode(items) && { itemType: valueType(items.type) }),
    ...(Array.isArray(source.enum) && { enum: source.enum as readonly unknown[] }),
    ...(minimum !== INT64.minimum && { minimum: exactInteger(BigInt(minimum)) }),
    ...(maximum !== INT64.maximum && { maximum: exactInteger(BigInt(maximum)) }),
    ...(source.default !== undefined && { default: source.default }),
    ...(typeof source.description === 'string' && { description: source.description }),
  }
  const wording = wordingOf(described, source)
  return wording === undefined ? described : { ...described, wording }
}

const VALUE_TYPES: readonly unknown[] = ['integer', 'number', 'boolean', 'string', 'array'] satisfies ValueType[]

function valueType(type: unknown): ValueType {
  const name: unknown = [type].flat().find((one) => one !== 'null')
  return VALUE_TYPES.includes(name) ? (name as ValueType) : 'other'
}

const WITHOUT_WORDING = ['pattern', 'minLength', 'maxLength', 'multipleOf', 'allOf', 'anyOf', 'oneOf', 'not', 'const']

function wordingOf(expected: Omit<Expected, 'wording'>, source: Node): string | undefined {
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
