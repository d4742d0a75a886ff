import { isNode, type Node, type Place } from './document.js'

export interface RecordField {
  readonly place: Place
  /** Its schemas: one for each part that declares it. */
  readonly places: readonly Place[]
  readonly type: string | undefined
  readonly format: string | undefined
  readonly required: boolean
  readonly readOnly: boolean
  readonly writeOnly: boolean
  readonly isUnique: boolean
  readonly choices: readonly unknown[] | undefined
  readonly default: unknown
}

export type Fields = ReadonlyMap<string, RecordField>

/** The properties of an object schema, of the parts that all its values match, and those that all its alternatives have. */
export const readRecordFields = fieldReader(partsOf, true)

/** The same with the properties of all alternatives. */
export const readAllFields = fieldReader((schema) => [...schema.items('allOf'), ...alternativesOf(schema)])

export function alternativesOf(schema: Place): readonly Place[] {
  return [...schema.items('anyOf'), ...schema.items('oneOf')]
}

/** The alternatives that a discriminator chooses from. */
export interface Choice {
  readonly keyword: 'anyOf' | 'oneOf'
  readonly property: string
  /** The values of the property that choose an alternative, by its index: those in the mapping, its constant, or its name. */
  readonly values: readonly (readonly unknown[])[]
  /** The mapping has all values. */
  readonly isWhole: boolean
}

export function choiceOf(schema: Place): Choice | undefined {
  const value: Node = Object(schema.value)
  const { propertyName: property, mapping }: Node = Object(value.discriminator)
  const keyword = (['anyOf', 'oneOf'] as const).find((key) => Array.isArray(value[key]))
  if (typeof property !== 'string' || keyword === undefined) return undefined
  const written: readonly unknown[] = [value[keyword]].flat()
  let isWhole = true
  const all = schema.items(keyword).map((alternative, at) => {
    const { $ref }: Node = Object(written[at])
    const name = String($ref ?? '').replace(/^.*\//, '')
    const mapped = Object.entries(Object(mapping)).flatMap(([text, to]) => (to === $ref || to === name ? [text] : []))
    const { places = [], type, required } = readRecordFields(alternative).get(property) ?? {}
    const constants = places.flatMap((place) => {
      const { const: only, enum: choices }: Node = Object(place.value)
      return only ?? (Array.isArray(choices) && choices.length === 1 ? choices : [])
    })
    isWhole &&= mapped.length > 0 && required === true && (type === 'string' || constants.length > 0)
    const own = [...new Set([...mapped, ...constants])]
    return own.length === 0 && name !== '' ? [name] : own
  })
  const isShared = (item: unknown) => all.flat().filter((other) => other === item).length > 1
  const values = all.map((own) => own.filter((item) => !isShared(item)))
  return { keyword, property, values, isWhole: isWhole && !all.flat().some(isShared) }
}

/**
 * Makes a reader of the properties of a schema and its parts. It reads each schema once; a schema composed of itself adds
 * nothing.
 *
 * @param partsOf the schemas that a schema is composed of
 */
function fieldReader(partsOf: (schema: Place) => readonly Place[], hasCommon = false): (schema: Place) => Fields {
  interface Known {
    readonly fields: Fields
    /** A part may require a property that another part declares. */
    readonly required: ReadonlySet<unknown>
  }
  const nothing: Known = { fields: new Map(), required: new Set() }
  const before = new WeakMap<object, Known>()
  return (schema) => read(schema).fields

  function common(schema: Place): readonly (readonly [string, RecordField])[] {
    if (!hasCommon) return []
    return ['anyOf', 'oneOf'].flatMap((keyword) => {
      const alternatives = schema.items(keyword).filter(({ value }) => !isNode(value) || value.type !== 'null')
      const [first, ...others] = alternatives.map((alternative) => read(alternative).fields)
      if (first === undefined || others.length === 0) return []
      return [...first].flatMap(([name, field]) => {
        const same = others.flatMap((fields) => fields.get(name) ?? [])
        if (same.length < others.length) return []
        const required = field.required && same.every((recordField) => recordField.required)
        return [[name, { ...same.reduce(merged, field), required }] as const]
      })
    })
  }

  function read(schema: Place): Known {
    if (!isNode(schema.value)) return nothing
    const known = before.get(schema.value)
    if (known !== undefined) return known
    before.set(schema.value, nothing)
    const fields = new Map<string, RecordField>()
    const add = (name: string, field: RecordField) => fields.set(name, merged(fields.get(name), field))
    const parts = partsOf(schema).map(read)
    for (const part of parts) for (const [name, field] of part.fields) add(name, field)
    for (const [name, field] of common(schema)) add(name, field)
    const own = schema.items('required').map(({ value }) => value)
    const required = new Set([...own, ...parts.flatMap((part) => [...part.required])])
    for (const [name, property] of schema.entries('properties')) add(name, readField(property, name, schema))
    for (const [name, field] of fields) if (required.has(name)) fields.set(name, { ...field, required: true })
    before.set(schema.value, { fields, required })
    return { fields, required }
  }
}

function readField(place: Place, name: string, schema: Place): RecordField {
  // A reference may have siblings, and the keywords of `anyOf: [T, null]` are those of T.
  const siblings: unknown = schema.written('properties').object()[name]
  const value: Node = { ...Object(mainPart(place).value), ...Object(place.value), ...Object(siblings) }
  const flag = (key: string) => value[key] === true
  return {
    place,
    places: [place],
    type: typeOf(place),
    format: typeof value.format === 'string' ? value.format : undefined,
    required: false,
    readOnly: flag('readOnly'),
    writeOnly: flag('writeOnly'),
    isUnique: flag('x-unique'),
    choices: Array.isArray(value.enum) ? value.enum : value.type === 'boolean' ? [false, true] : undefined,
    default: value.default,
  }
}

function merged(known: RecordField | undefined, field: RecordField): RecordField {
  if (known === undefined) return field
  const places = [...new Set([...known.places, ...field.places])]
  const either = (flag: 'readOnly' | 'writeOnly' | 'required') => known[flag] || field[flag]
  const flags = { readOnly: either('readOnly'), writeOnly: either('writeOnly'), required: either('required') }
  return { ...known, ...field, places, ...flags }
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

/** Whether a schema has alternatives that are records of their own. */
export function isUnion(schema: Place): boolean {
  return variantsOf(schema).some((variant) => alternativesOf(variant).filter((other) => isObject(other)).length > 1)
}

/** Whether the values of a schema may have properties that it does not declare, by its own words. */
export function isOpen(schema: Place): boolean {
  return variantsOf(schema).some(({ value }) => {
    const { additionalProperties = false, patternProperties } = isNode(value) ? value : {}
    return additionalProperties !== false || patternProperties !== undefined
  })
}

/** The schema that says what a value is: the only part of one without a type of its own, such as `anyOf: [T, null]`. */
export function mainPart(schema: Place): Place {
  let main = schema
  for (const seen = new Set<unknown>(); !seen.has(main.value); ) {
    seen.add(main.value)
    const [part, ...others] = partsOf(main)
    if (part === undefined || others.length > 0 || Object(main.value).type !== undefined) break
    main = part
  }
  return main
}

/** A schema and all that it is composed of, alternatives included. */
export function variantsOf(schema: Place, seen = new Set<unknown>()): readonly Place[] {
  if (seen.has(schema.value)) return []
  seen.add(schema.value)
  return [schema, ...[...schema.items('allOf'), ...alternativesOf(schema)].flatMap((place) => variantsOf(place, seen))]
}

export function allowsNull(schema: Place): boolean {
  return typesOf(schema)?.has('null') === true
}

/** Whether a schema says nothing about its values, as for a function without a return type in FastAPI. */
export function isAny({ value }: Place): boolean {
  return (
    value === true ||
    (isNode(value) && Object.keys(value).every((key) => /^(title|description|nullable|x-.*)$/.test(key)))
  )
}

export function isObject(schema: Place | undefined): schema is Place {
  return schema !== undefined && typeOf(schema) === 'object'
}

export function typeOf(schema: Place): string | undefined {
  // A schema that is looked up within itself says nothing.
  const known = new Map<unknown, string | undefined>()
  const open = new Set<unknown>()
  const find = (part: Place): string | undefined => {
    const { value } = part
    if (!isNode(value)) return undefined
    if (!known.has(value)) {
      known.set(value, undefined)
      open.add(value)
      known.set(value, typeFound(part, value))
      open.delete(value)
    }
    return known.get(value)
  }
  const typeFound = (part: Place, value: Node): string | undefined => {
    const own: unknown = Array.isArray(value.type) ? value.type.find((item) => item !== 'null') : value.type
    if (typeof own === 'string') return own
    if (isNode(value.properties)) return 'object'
    const inPart = partsOf(part)
      .map(find)
      .find((type) => type !== undefined)
    if (inPart !== undefined) return inPart
    const alternatives = alternativesOf(part)
    const others = alternatives.filter((alternative) => !open.has(alternative.value))
    const areObjects = alternatives.length > 1 && others.length > 0 && others.every((other) => find(other) === 'object')
    return areObjects ? 'object' : undefined
  }
  return find(schema)
}

/** The JSON types that a schema names itself, or by its choices. */
export function typesIn({ type, enum: choices, const: only, properties }: Node): readonly string[] {
  if (type !== undefined) return [type].flat().map(String)
  const values: readonly unknown[] = Array.isArray(choices) ? choices : only === undefined ? [] : [only]
  return properties === undefined ? values.map((value) => (value === null ? 'null' : typeof value)) : ['object']
}

/** The JSON types of the values of a schema; undefined for any. */
export function typesOf(schema: Place, within: ReadonlySet<unknown> = new Set()): ReadonlySet<string> | undefined {
  const { value } = schema
  if (!isNode(value) || within.has(value)) return undefined
  const here = new Set([...within, value])
  const own = typesIn(value).map((type) => (type === 'integer' ? 'number' : type))
  const sets = schema.items('allOf').map((part) => typesOf(part, here))
  if (own.length > 0) sets.push(new Set(own))
  for (const keyword of ['anyOf', 'oneOf']) {
    const alternatives = schema.items(keyword).map((item) => typesOf(item, here))
    if (alternatives.length > 0 && alternatives.every((alternative) => alternative !== undefined))
      sets.push(new Set(alternatives.flatMap((alternative) => [...alternative])))
  }
  const [first, ...others] = sets.filter((item) => item !== undefined)
  return first && new Set([...first].filter((type) => others.every((other) => other.has(type))))
}
