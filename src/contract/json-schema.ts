import { isNode, type Node, Place } from './document.js'
import { INT64_MAXIMUM, INT64_MINIMUM } from './int64.js'

export type JsonSchema = boolean | Node

/** The value of our keyword `int64`: the bounds, as strings because JSON.parse would round them. */
export interface Int64Bounds {
  readonly minimum: string
  readonly maximum: string
}

const ONE_SCHEMA = new Set([
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const LIST_OF_SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const NAMED_SCHEMAS = new Set(['dependentSchemas', 'patternProperties', 'properties'])
const PLAIN = new Set([
  'const',
  'dependentRequired',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxContains',
  'maximum',
  'maxItems',
  'maxLength',
  'maxProperties',
  'minContains',
  'minimum',
  'minItems',
  'minLength',
  'minProperties',
  'multipleOf',
  'pattern',
  'required',
  'type',
  'uniqueItems',
])

/**
 * Makes a schema of an OpenAPI document self-contained: whatever it refers to
 * goes into `$defs`, OpenAPI 3.0's dialect becomes JSON Schema 2020-12, and integers
 * become our keyword `int64`, as ajv's own `integer` refuses bigints. Annotations and
 * formats are dropped, as they check nothing.
 */
export function toJsonSchema(place: Place): JsonSchema {
  const conversion = new Conversion()
  return conversion.finish(conversion.convert(place))
}

/** Makes an object schema from schemas of an OpenAPI document. A property without a schema may be anything. */
export function toObjectSchema(
  properties: readonly { readonly name: string; readonly required: boolean; readonly schema: Place | undefined }[],
): JsonSchema {
  const conversion = new Conversion()
  return conversion.finish({
    type: 'object',
    required: properties.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      properties.map(({ name, schema }) => [name, schema === undefined ? true : conversion.convert(schema)]),
    ),
  })
}

/** Collects what the schemas converted with it refer to. */
class Conversion {
  readonly #names = new Map<string, string>()
  readonly #definitions: Record<string, JsonSchema> = {}

  convert(schema: Place): JsonSchema {
    if (typeof schema.value === 'boolean') return schema.value
    const source = schema.object()
    const result: Record<string, unknown> =
      typeof source.$ref === 'string' ? { $ref: this.#refer(schema, source.$ref) } : {}
    const inside = (value: unknown, key: string) =>
      this.convert(new Place(schema.document, value, `${schema.name}.${key}`))
    for (const [key, value] of Object.entries(source)) {
      if (PLAIN.has(key)) result[key] = value
      else if (ONE_SCHEMA.has(key)) result[key] = inside(value, key)
      else if (LIST_OF_SCHEMAS.has(key) && Array.isArray(value)) result[key] = value.map((item) => inside(item, key))
      else if (NAMED_SCHEMAS.has(key) && isNode(value)) {
        result[key] = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inside(item, key)]))
      }
    }
    return typesOf(source, result)
  }

  finish(schema: JsonSchema): JsonSchema {
    return typeof schema === 'boolean' || this.#names.size === 0 ? schema : { ...schema, $defs: this.#definitions }
  }

  #refer(schema: Place, reference: string): string {
    let name = this.#names.get(reference)
    if (name === undefined) {
      name = `schema${this.#names.size + 1}`
      // Named before it is converted, because it may refer to itself.
      this.#names.set(reference, name)
      this.#definitions[name] = this.convert(new Place(schema.document, schema.resolve(reference), reference))
    }
    return `#/$defs/${name}`
  }
}

/** Whether a schema of the document has the type integer. */
function isInteger(schema: Node): boolean {
  return schema.type === 'integer' || (Array.isArray(schema.type) && schema.type.includes('integer'))
}

/** The bounds of an integer: the contract's own, within those of int64 (or int32, if that is its format). */
export function integerBounds(schema: Node): Int64Bounds {
  return schema.format === 'int32'
    ? boundsWithin(schema, -(2n ** 31n), 2n ** 31n - 1n)
    : boundsWithin(schema, INT64_MINIMUM, INT64_MAXIMUM)
}

function boundsWithin(schema: Node, least: bigint, most: bigint): Int64Bounds {
  const low = [least]
  const high = [most]
  const minimum = wholeNumber(schema.minimum, Math.ceil)
  const maximum = wholeNumber(schema.maximum, Math.floor)
  const above = wholeNumber(schema.exclusiveMinimum, Math.floor)
  const below = wholeNumber(schema.exclusiveMaximum, Math.ceil)
  // OpenAPI 3.0 writes exclusiveMinimum: true beside minimum.
  if (minimum !== undefined) low.push(schema.exclusiveMinimum === true ? minimum + 1n : minimum)
  if (maximum !== undefined) high.push(schema.exclusiveMaximum === true ? maximum - 1n : maximum)
  if (above !== undefined) low.push(above + 1n)
  if (below !== undefined) high.push(below - 1n)
  return {
    minimum: String(low.sort(ascending).at(-1)),
    maximum: String(high.sort(ascending).at(0)),
  }
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b)
}

function wholeNumber(value: unknown, round: (value: number) => number): bigint | undefined {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isFinite(value) ? BigInt(round(value)) : undefined
}

function typesIn(source: Node): unknown[] {
  return source.type === undefined ? [] : [source.type].flat()
}

/** Digits of the longest whole number that is read exactly. */
const MOST_DIGITS = 309

/** A whole number beyond 2^53 is a bigint here, which ajv does not take for a number. */
function orLongNumber(source: Node, result: Node): Node {
  const far = 10n ** BigInt(MOST_DIGITS)
  const bounds = boundsWithin(source, -far, far)
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, ...rest } = result
  const asNumber = { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }
  const given = Object.fromEntries(Object.entries(asNumber).filter(([, value]) => value !== undefined))
  return { ...rest, anyOf: [given, { int64: bounds }], ...(rest.anyOf === undefined ? {} : { allOf: [rest] }) }
}

/** Sets the types of a converted schema in terms of JSON Schema 2020-12 and our keyword. */
function typesOf(source: Node, result: Record<string, unknown>): Node {
  const integer = isInteger(source)
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const flag = source[exclusive]
    if (typeof flag === 'boolean') {
      delete result[exclusive]
      if (flag && typeof source[inclusive] === 'number') {
        result[exclusive] = source[inclusive]
        delete result[inclusive]
      }
    }
    if (integer) {
      delete result[exclusive]
      delete result[inclusive]
    }
  }

  const types = typesIn(source)
  if (source.nullable === true && types.length > 0 && !types.includes('null')) {
    types.push('null')
    if (Array.isArray(result.enum) && !result.enum.includes(null)) result.enum = [...result.enum, null]
  }
  if (!integer) {
    if (types.length > 0) result.type = types.length === 1 ? types[0] : types
    return types.includes('number') ? orLongNumber(source, result) : result
  }
  const others = types.filter((type) => type !== 'integer')
  const int64: Node = { int64: integerBounds(source) }
  delete result.type
  if (others.length === 0) return { ...result, ...int64 }
  return { allOf: [result, { anyOf: [int64, { type: others }] }] }
}
