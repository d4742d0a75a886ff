import type { Field } from './contract-data.js'
import { isNode, type Place } from './document.js'
import { readExpected } from './json-schema.js'

export interface RecordField {
  readonly place: Place
  /** Its schemas: one for each part that declares it. */
  readonly places: readonly Place[]
  readonly type: string | undefined
  readonly format: string | undefined
  readonly required: boolean
  readonly readOnly: boolean
  readonly isUnique: boolean
  readonly choices: readonly unknown[] | undefined
  readonly default: unknown
}

export type Fields = ReadonlyMap<string, RecordField>

/** Properties that only the service sets: a request may omit them. */
export function readOnlyProperties(schema: Place): ReadonlySet<string> {
  return new Set([...readRecordFields(schema)].flatMap(([name, { readOnly }]) => (readOnly ? [name] : [])))
}

/** The properties of an object schema, and of the parts that all its values match. */
export const readRecordFields = fieldReader(partsOf)

/** The same with the properties of all alternatives. */
export const readAllFields = fieldReader((schema) =>
  ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema.items(keyword)),
)

/** Many operations share a schema. */
const described = new WeakMap<ReturnType<typeof readAllFields>, readonly Field[]>()

export function readFields(schema: Place): readonly Field[] {
  const all = readAllFields(schema)
  const known = described.get(all)
  if (known !== undefined) return known
  const fields = [...all].map(([name, { places, required }]) => {
    return { ...Object.assign({}, ...places.map(readExpected)), name, required }
  })
  described.set(all, fields)
  return fields
}

/**
 * Makes a reader of the properties of a schema and its parts. It reads each schema once; a schema composed of itself adds
 * nothing.
 *
 * @param partsOf the schemas that a schema is composed of
 */
function fieldReader(partsOf: (schema: Place) => readonly Place[]): (schema: Place) => Fields {
  interface Known {
    readonly fields: Fields
    /** A part may require a property that another part declares. */
    readonly required: ReadonlySet<unknown>
  }
  const nothing: Known = { fields: new Map(), required: new Set() }
  const before = new WeakMap<object, Known>()
  return (schema) => read(schema).fields

  function read(schema: Place): Known {
    if (!isNode(schema.value)) return nothing
    const known = before.get(schema.value)
    if (known !== undefined) return known
    before.set(schema.value, nothing)
    const fields = new Map<string, RecordField>()
    const add = (name: string, field: RecordField) => fields.set(name, merged(fields.get(name), field))
    const parts = partsOf(schema).map(read)
    for (const part of parts) for (const [name, field] of part.fields) add(name, field)
    const own = schema.items('required').map(({ value }) => value)
    const required = new Set([...own, ...parts.flatMap((part) => [...part.required])])
    for (const [name, property] of schema.entries('properties')) add(name, readField(property, name, schema))
    for (const [name, field] of fields) if (required.has(name)) fields.set(name, { ...field, required: true })
    before.set(schema.value, { fields, required })
    return { fields, required }
  }
}

function readField(place: Place, name: string, schema: Place): RecordField {
  const written = schema.written('properties').object()[name]
  const flag = (key: string) => place.flag(key) || (isNode(written) && written[key] === true)
  const value = isNode(place.value) ? place.value : {}
  return {
    place,
    places: [place],
    type: typeOf(place),
    format: typeof value.format === 'string' ? value.format : undefined,
    required: false,
    readOnly: flag('readOnly'),
    isUnique: flag('x-unique'),
    choices: Array.isArray(value.enum) ? value.enum : value.type === 'boolean' ? [false, true] : undefined,
    default: value.default,
  }
}

function merged(known: RecordField | undefined, field: RecordField): RecordField {
  if (known === undefined) return field
  const places = [...new Set([...known.places, ...field.places])]
  const [readOnly, required] = [known.readOnly || field.readOnly, known.required || field.required]
  return { ...known, ...field, places, readOnly, required }
}

/** The names that a schema requires, declared or not. */
export function requiredNames(schema: Place, seen = new Set<unknown>()): readonly string[] {
  if (seen.has(schema.value)) return []
  seen.add(schema.value)
  const own = schema.items('required').flatMap(({ value }) => (typeof value === 'string' ? value : []))
  return [...own, ...partsOf(schema).flatMap((part) => requiredNames(part, seen))]
}

/** The schemas that all values match: `allOf`, and the only alternative to null. */
function partsOf(schema: Place): readonly Place[] {
  const only = ['anyOf', 'oneOf'].flatMap((keyword) => {
    const alternatives = schema.items(keyword).filter(({ value }) => !isNode(value) || value.type !== 'null')
    return alternatives.length === 1 ? alternatives : []
  })
  return [...schema.items('allOf'), ...only]
}

/** In OpenAPI 3.0, `nullable` concerns the `type` beside it, not other keywords. */
export function allowsNull(schema: Place): boolean {
  const { type, nullable } = isNode(schema.value) ? schema.value : {}
  const checks = schema.items('allOf').map(allowsNull)
  if (type !== undefined) checks.push(nullable === true || [type].flat().includes('null'))
  for (const keyword of ['anyOf', 'oneOf']) {
    const alternatives = schema.items(keyword)
    if (alternatives.length > 0) checks.push(alternatives.some(allowsNull))
  }
  return checks.length > 0 && checks.every(Boolean)
}

export function isObject(schema: Place | undefined): schema is Place {
  if (schema === undefined) return false
  const type = typeOf(schema)
  return type === 'object' || (type === undefined && readRecordFields(schema).size > 0)
}

export function typeOf(schema: Place, seen = new Set<unknown>()): string | undefined {
  const { value } = schema
  if (!isNode(value) || seen.has(value)) return undefined
  seen.add(value)
  const own: unknown = Array.isArray(value.type) ? value.type.find((one) => one !== 'null') : value.type
  if (typeof own === 'string') return own
  if (isNode(value.properties)) return 'object'
  for (const part of partsOf(schema)) {
    const type = typeOf(part, seen)
    if (type !== undefined) return type
  }
  return undefined
}

/** The JSON types of the values of a schema; undefined for any. */
export function typesOf(schema: Place, within: ReadonlySet<unknown> = new Set()): ReadonlySet<string> | undefined {
  const { value } = schema
  if (!isNode(value) || within.has(value)) return undefined
  const here = new Set([...within, value])
  const own = [value.type ?? []].flat().map((type) => (type === 'integer' ? 'number' : String(type)))
  const sets = schema.items('allOf').map((part) => typesOf(part, here))
  if (own.length > 0) sets.push(new Set(value.nullable === true ? [...own, 'null'] : own))
  for (const keyword of ['anyOf', 'oneOf']) {
    const alternatives = schema.items(keyword).map((one) => typesOf(one, here))
    if (alternatives.length > 0 && alternatives.every((one) => one !== undefined))
      sets.push(new Set(alternatives.flatMap((one) => [...one])))
  }
  const [first, ...others] = sets.filter((one) => one !== undefined)
  return first && new Set([...first].filter((type) => others.every((other) => other.has(type))))
}
