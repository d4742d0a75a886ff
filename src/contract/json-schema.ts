import { isFastApi, isNode, type Node, Place } from './document.js'
import { FORMATS } from './formats.js'
import { INT64_MAXIMUM, INT64_MINIMUM } from './int64.js'
import { LIST_OF_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA, words } from './keywords.js'
import { type Choice, choiceOf, readRecordFields } from './schema-fields.js'
import { isWide } from './wide.js'

export type JsonSchema = boolean | Node

/** The value of our keyword `int64`: the bounds, as strings because JSON.parse would round them. */
export interface Int64Bounds {
  readonly minimum: string
  readonly maximum: string
  /** The bounds that the contract excludes, if it does. */
  readonly above?: string
  readonly below?: string
}

/** Keywords that are kept. Others are annotations, or unknown. */
const PLAIN = words(
  'const dependentRequired enum exclusiveMaximum exclusiveMinimum maxContains maximum maxItems maxLength ' +
    'maxProperties minContains minimum minItems minLength minProperties multipleOf pattern required type uniqueItems',
)
const NESTING = words('additionalProperties items patternProperties prefixItems properties')
/** Keywords whose schemas are about the value itself. */
const IN_PLACE = words('allOf anyOf dependentSchemas else if not oneOf then')
const NONE: ReadonlySet<string> = new Set()

const JSON_TYPES = words('array boolean integer null number object string')
const isTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string')

/** What the values of keywords are, where ajv refuses to compile others. */
const VALUES: readonly (readonly [keywords: string, what: string, is: (value: unknown) => boolean])[] = [
  [
    'exclusiveMaximum exclusiveMinimum maxContains maximum maxItems maxLength maxProperties minContains minimum ' +
      'minItems minLength minProperties multipleOf',
    'a number',
    (value) => typeof value === 'number' || typeof value === 'bigint',
  ],
  ['enum', 'a list with at least one value', (value) => Array.isArray(value) && value.length > 0],
  ['required', 'a list of names', isTexts],
  ['dependentRequired', 'a map of lists of names', (value) => isNode(value) && Object.values(value).every(isTexts)],
  ['pattern', 'a string', (value) => typeof value === 'string'],
  ['uniqueItems', 'true or false', (value) => typeof value === 'boolean'],
  ['type', 'a type of JSON', (value) => [value].flat().every((item) => JSON_TYPES.has(String(item)))],
]
const VALUE_OF = new Map(
  VALUES.flatMap(([keywords, ...rest]) => keywords.split(' ').map((key) => [key, rest] as const)),
)

/** Characters, items or properties of a value that the sandbox makes. */
export const MAX_MADE = 100_000

export interface SchemaFindings {
  /** The schemas that were checked. */
  readonly seen: Set<unknown>
  /** The patterns in them, with the place of each. */
  readonly patterns: Map<string, string>
  readonly notes: string[]
  hasWide: boolean
}

/**
 * Checks the keywords of a schema, and of the schemas in it.
 *
 * @throws SpecError naming the place of a keyword with a value of another type
 */
export function checkSchema(place: Place, found: SchemaFindings): void {
  // Without recursion: contracts have long chains of references.
  const open = [place]
  found.hasWide ||= isWide(place.value)
  for (let next = open.pop(); next !== undefined; next = open.pop()) checkOne(next, found, open)
}

function checkOne(place: Place, found: SchemaFindings, open: Place[]): void {
  const { seen, patterns } = found
  if (typeof place.value === 'boolean' || seen.has(place.value)) return
  seen.add(place.value)
  const { minLength, minItems, minProperties }: Node = place.object()
  const least = [minLength, minItems, minProperties].find((count) => Number(count) > MAX_MADE)
  if (least !== undefined)
    found.notes.push(`${place.name}: a value has ${least} parts or more, so the sandbox makes none.`)
  for (const [key, value] of Object.entries(place.object())) {
    const [what, is] = VALUE_OF.get(key) ?? []
    if (is?.(value) === false) throw place.error(`has "${key}", which must be ${what}`)
    const all = key === 'pattern' ? [String(value)] : key === 'patternProperties' ? Object.keys(Object(value)) : []
    for (const pattern of all) if (!patterns.has(pattern)) patterns.set(pattern, place.name)
    if (key === '$ref' && typeof value === 'string') {
      const target = place.target(value)
      if (!seen.has(target.value)) found.hasWide ||= isWide(target.value)
      open.push(target)
    } else mapInside(place, key, value, (inner) => open.push(inner))
  }
}

/** What a function makes of the schemas under a keyword; undefined if it has none. */
function mapInside(place: Place, key: string, value: unknown, make: (schema: Place) => unknown): unknown {
  const inside = (item: unknown, name: string) => make(new Place(place.document, item, `${place.name}.${name}`))
  if (ONE_SCHEMA.has(key)) return inside(value, key)
  if (LIST_OF_SCHEMAS.has(key) && Array.isArray(value)) return value.map((item, at) => inside(item, `${key}[${at}]`))
  if (!NAMED_SCHEMAS.has(key) || !isNode(value)) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one, `${key}.${name}`) ?? true]))
}

type Convert = (schema: Place) => JsonSchema

export interface Conversion {
  /** Read-only properties need not be in a request, and may have any value there; write-only ones are in no response. */
  readonly of: 'request' | 'response' | 'value'
  /** Which nested objects may have declared fields only. */
  readonly isClosed?: (schema: Place) => boolean
}

/**
 * Makes a schema self-contained for ajv: references go into `$defs`, and integers become our keyword `int64`, as ajv's own
 * `integer` refuses bigints.
 */
export function toJsonSchema(place: Place, conversion: Conversion): JsonSchema {
  return convertWith((convert) => convert(place), conversion)
}

/** A property without a schema may have any value. */
export function toObjectSchema(
  properties: readonly { readonly name: string; readonly required: boolean; readonly schema: Place | undefined }[],
): JsonSchema {
  const make = (convert: Convert) => ({
    type: 'object',
    required: properties.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      properties.map(({ name, schema }) => [name, schema === undefined || convert(schema)]),
    ),
  })
  return convertWith(make, { of: 'request' })
}

function convertWith(make: (convert: Convert) => JsonSchema, { of, isClosed }: Conversion): JsonSchema {
  const names = new Map<string, string>()
  const definitions: Record<string, JsonSchema> = {}
  const open: (() => void)[] = []

  /**
   * @param within the references that lead here without a property or an item between
   * @param ignored properties of the whole that need not be there
   * @returns undefined for a schema that consists of itself
   */
  function convert(
    schema: Place,
    within: ReadonlySet<string> = NONE,
    around: ReadonlySet<string> = NONE,
  ): JsonSchema | undefined {
    if (typeof schema.value === 'boolean') return schema.value
    const source = schema.object()
    const { $ref: reference } = source
    if (typeof reference === 'string' && within.has(reference)) return undefined
    const ignored = ignoredIn(schema, around)
    const choice = choiceOf(schema)
    let rules: readonly JsonSchema[] = []
    const result: Record<string, unknown> =
      typeof reference === 'string' ? { $ref: refer(schema, reference, within) } : {}
    for (const [key, value] of Object.entries(source)) {
      if (key === 'required' && Array.isArray(value)) result[key] = value.filter((name) => !ignored.has(name))
      else if (PLAIN.has(key)) result[key] = value
      else if (!key.startsWith('$') && key !== 'definitions') {
        const inside = (place: Place) => convertInside(place, key, within, ignored)
        const converted = mapInside(schema, key, key === 'properties' ? withAny(value, ignored) : value, inside)
        if (!Array.isArray(converted)) Object.assign(result, converted === undefined ? {} : { [key]: converted })
        else if (key === 'allOf') result[key] = converted.filter((item) => item !== undefined)
        else if (converted.includes(undefined)) continue
        else if (key === choice?.keyword) rules = rulesOf(choice, converted as JsonSchema[], ignored)
        else result[key] = converted
      }
    }
    // FastAPI takes instants without a zone for it.
    const format = source.format === 'date-time' && isFastApi(schema.document) ? 'local-date-time' : source.format
    if (typeof format === 'string' && Object.hasOwn(FORMATS, format)) result.format = format
    if (rules.length > 0) result.allOf = [...(Array.isArray(result.allOf) ? result.allOf : []), ...rules]
    return withTypes(source, result)
  }

  function convertInside(
    place: Place,
    key: string,
    within: ReadonlySet<string>,
    ignored: ReadonlySet<string>,
  ): JsonSchema | undefined {
    const converted = IN_PLACE.has(key) ? convert(place, within, ignored) : convert(place)
    const mustClose = NESTING.has(key) && typeof converted === 'object' && isClosed?.(place) === true
    return mustClose ? { ...converted, unevaluatedProperties: false } : converted
  }

  function ignoredIn(schema: Place, around: ReadonlySet<string>): ReadonlySet<string> {
    if (of === 'value') return NONE
    const own = [...readRecordFields(schema)].filter(([, field]) =>
      of === 'request' ? field.readOnly : field.writeOnly,
    )
    return own.length === 0 ? around : new Set([...around, ...own.map(([name]) => name)])
  }

  function withAny(properties: unknown, ignored: ReadonlySet<string>): unknown {
    if (!isNode(properties) || of !== 'request' || ignored.size === 0) return properties
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, ignored.has(name) ? true : one]))
  }

  function refer(schema: Place, reference: string, within: ReadonlySet<string>): string {
    const known = names.get(reference)
    const name = known ?? `schema${names.size + 1}`
    if (known === undefined) {
      names.set(reference, name)
      const target = schema.target(reference)
      // Later, because references lead to references.
      open.push(() => {
        definitions[name] = convert(target, new Set([...within, reference])) ?? true
      })
    }
    return `#/$defs/${name}`
  }

  const schema = make((place) => convert(place) ?? true)
  for (let next = open.pop(); next !== undefined; next = open.pop()) next()
  return typeof schema === 'boolean' || names.size === 0 ? schema : { ...schema, $defs: definitions }
}

/** Only the alternative that a discriminator names is checked: alternatives may allow the same values. */
function rulesOf(
  { property, values, isWhole }: Choice,
  alternatives: readonly JsonSchema[],
  ignored: ReadonlySet<string>,
): readonly JsonSchema[] {
  const known = ignored.has(property) ? [] : values.flat()
  if (known.length === 0) return [{ anyOf: alternatives }]
  const one = (choices: readonly unknown[]) => ({
    type: 'object',
    required: [property],
    properties: { [property]: { enum: choices } },
  })
  return [
    ...values.flatMap((own, at) =>
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      own.length === 0 ? [] : [{ if: one(own), then: alternatives[at] }],
    ),
    { if: one(known), else: isWhole ? one(known) : { anyOf: alternatives } },
  ]
}

const INT64 = { minimum: String(INT64_MINIMUM), maximum: String(INT64_MAXIMUM) }
const INT32 = { minimum: String(-(2 ** 31)), maximum: String(2 ** 31 - 1) }
const UINT64 = { minimum: '0', maximum: String(2n ** 64n - 1n) }
/** The longest whole number that is read exactly has 309 digits. */
const LONGEST = { minimum: `-1${'0'.repeat(309)}`, maximum: `1${'0'.repeat(309)}` }

const BOUNDS: Readonly<Record<string, Int64Bounds>> = { int32: INT32, uint64: UINT64, undefined: LONGEST }

/** The contract's own bounds, within those of its format. */
export function integerBounds(schema: Node): Int64Bounds {
  return boundsWithin(schema, BOUNDS[String(schema.format)] ?? INT64)
}

function boundsWithin(schema: Node, type: Int64Bounds): Int64Bounds {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const low = [wholeNumber(minimum, Math.ceil), wholeNumber(exclusiveMinimum, Math.floor, 1n), BigInt(type.minimum)]
  const high = [wholeNumber(maximum, Math.floor), wholeNumber(exclusiveMaximum, Math.ceil, -1n), BigInt(type.maximum)]
  const given = (bounds: readonly (bigint | undefined)[]) => bounds.filter((bound) => bound !== undefined)
  return {
    minimum: String(given(low).reduce((a, b) => (a > b ? a : b))),
    maximum: String(given(high).reduce((a, b) => (a < b ? a : b))),
  }
}

function wholeNumber(value: unknown, round: (value: number) => number, add = 0n): bigint | undefined {
  if (typeof value === 'bigint') return value + add
  return typeof value === 'number' && Number.isFinite(value) ? BigInt(round(value)) + add : undefined
}

const OF_NUMBERS = words('type minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')

/** A whole number beyond 2^53 is a bigint here, which ajv does not take for a number. */
function orLongNumber(source: Node, result: Node): Node {
  const entries = Object.entries(result)
  const rest: Node = Object.fromEntries(entries.filter(([name]) => !OF_NUMBERS.has(name)))
  const given = Object.fromEntries(entries.filter(([name]) => OF_NUMBERS.has(name)))
  const { multipleOf } = given
  const anyOf = [given, { int64: boundsWithin(source, LONGEST), ...(multipleOf !== undefined && { multipleOf }) }]
  return { ...rest, anyOf, ...(rest.anyOf === undefined ? {} : { allOf: [rest] }) }
}

function withTypes(source: Node, result: Record<string, unknown>): Node {
  const types: unknown[] = [source.type ?? []].flat()
  if (!types.includes('integer')) return types.includes('number') ? orLongNumber(source, result) : result
  const others = types.filter((type) => type !== 'integer')
  const { exclusiveMinimum: above, exclusiveMaximum: below } = source
  const excluded = Object.entries({ above, below }).filter(([, bound]) => typeof bound === 'number')
  const int64: Node = {
    int64: { ...integerBounds(source), ...Object.fromEntries(excluded.map(([name, bound]) => [name, String(bound)])) },
  }
  for (const keyword of ['type', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']) delete result[keyword]
  return others.length === 0 ? { ...result, ...int64 } : { allOf: [result, { anyOf: [int64, { type: others }] }] }
}
