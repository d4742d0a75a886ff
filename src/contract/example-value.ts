import { boundedCompiler } from './bounded-ajv.js'
import { isNode, type Node, Place } from './document.js'
import { stringifyJson } from './json.js'
import { toJsonSchema } from './json-schema.js'
import { words } from './keywords.js'
import { FAILURE } from './names.js'
import { patternText } from './pattern-text.js'
import { nativePattern } from './patterns.js'
import { type Chance, type Drawing, makeScalar, pick } from './scalar-value.js'
import {
  allowsNull,
  alternativesOf,
  choiceOf,
  type Fields,
  isObject,
  readRecordFields,
  requiredNames,
  typeOf,
} from './schema-fields.js'
import type { Validator } from './validator.js'
import { makerWith } from './validator-maker.js'
import { stepsOf, valueAt } from './validators.js'

/** Values in one example; schemas that refer to each other allow any number. */
const MAX_VALUES = 5_000
/** Values after which optional properties are left out. */
const MAX_OPTIONAL_VALUES = 500
/** Levels down to which they are there. */
const MAX_OPTIONAL_DEPTH = 5

interface Room {
  /** With optional properties, as in a mocked response. */
  readonly isFull: boolean
  /** Of an error. */
  readonly isError?: boolean
  /** Of generated records, whose values are drawn by chance; others are the simplest. */
  readonly drawing?: Drawing
  used: number
}

const leastExamples = new WeakMap<Node, unknown>()

/** A value of a schema: its example, constant or first choice, else the simplest value of its type; one that it allows. */
export function exampleValue(schema: Place): unknown {
  const { value } = schema
  if (!isNode(value)) return undefined
  if (!leastExamples.has(value)) leastExamples.set(value, makeValid(schema, { isFull: false, used: 0 }))
  return leastExamples.get(value)
}

/** The same with optional properties, other than the errors of a success; the simplest one if the schema does not allow them. */
export function fullExample(schema: Place, isError = false): unknown {
  for (const place of [schema, ...alternativesOf(schema)]) {
    const made = makeValue(place, { isFull: true, isError, used: 0 }, 0)
    const valid = made === undefined ? undefined : withoutInvalid(structuredClone(made), schema)
    if (valid !== undefined) return valid
  }
  return exampleValue(schema)
}

/** What comes next to a value of the schema where none is known that it allows, such as for alternatives that overlap. */
export function nearExample(schema: Place): unknown {
  const made = [schema, ...alternativesOf(schema)].map((place) => makeValue(place, { isFull: true, used: 0 }, 0))
  return (
    made.find((value) => value !== undefined && stringifyJson(value) !== '{}') ?? (typeOf(schema) === 'array' ? [] : {})
  )
}

/**
 * A value of a schema that is drawn: the same for the same chance. It may break rules that concern several parts, and is
 * undefined if none is known.
 * @param index of the record, from 0
 */
export function drawnValue(schema: Place, index: number, chance: Chance): unknown {
  return makeValue(schema, { isFull: true, drawing: { next: () => chance.next(), index }, used: 0 }, 0)
}

/** The fields of a record that is drawn: of alternatives, those of one. */
export function drawnFields(schema: Place, chance: Chance, within: readonly unknown[] = []): Fields {
  const fields = new Map(readRecordFields(schema))
  const wholes = wholesOf(schema)
  for (const part of wholes) {
    const all = alternativesOf(part).filter((one) => isObject(one) && !within.includes(one.value))
    const one = pick(all, chance)
    if (one === undefined) continue
    const inner = [...drawnFields(one, chance, [...within, schema.value])].filter(([name]) => !declares(wholes, name))
    for (const [name, field] of inner)
      fields.set(name, { ...field, required: field.required || fields.get(name)?.required === true })
    for (const [name, value] of Object.entries(namedBy(part, one))) {
      const field = fields.get(name)
      if (field !== undefined) fields.set(name, { ...field, place: new Place(part.document, { const: value }, name) })
    }
  }
  return fields
}

/** The property of a discriminator with the value that chooses an alternative. */
function namedBy(schema: Place, alternative: Place): Node {
  const choice = choiceOf(schema)
  if (choice === undefined) return {}
  const { keyword, property, values } = choice
  const at = schema.items(keyword).findIndex(({ value }) => value === alternative.value)
  const { places = [] } = readRecordFields(alternative).get(property) ?? {}
  const value = values[at]?.findLast((item) => places.every((place) => fits(item, place)))
  return value === undefined ? {} : { [property]: value }
}

/** Whether one of these schemas has a property itself, and not in a part. */
function declares(schemas: readonly Place[], name: string): boolean {
  return schemas.some(({ value }) => Object.hasOwn(Object(Object(value).properties), name))
}

const MAX_REMOVALS = 50

/** A value without the parts that its schema does not allow; undefined if it does not allow the rest either. */
function withoutInvalid(value: unknown, schema: Place): unknown {
  const validator = validatorOf(schema, 'response')
  for (let removed = 0; removed < MAX_REMOVALS; removed++) {
    if (validator(value) === true) return value
    const { instancePath } = validator.errors?.findLast((error) => error.instancePath !== '') ?? {}
    if (instancePath === undefined) return undefined
    const steps = stepsOf(instancePath)
    const parent: unknown = valueAt(value, steps.slice(0, -1))
    if (Array.isArray(parent)) parent.splice(Number(steps.at(-1)), 1)
    else Reflect.deleteProperty(Object(parent), steps.at(-1) ?? '')
  }
  return undefined
}

/** A value that is valid, or undefined. */
function makeValid(schema: Place, room: Room): unknown {
  const made = makeValue(schema, room, 0)
  if (made !== undefined && (isSimple(schema) || fits(made, schema, 'response'))) return made
  return CANDIDATES.find((candidate) => fits(candidate, schema, 'response'))
}

/** For schemas that say what a value is not. */
const CANDIDATES = [null, 0, 1, -1, 2, 0.5, true, false, '', 'a', 'string', [], [0], ['a'], {}]

const NEEDS_CHECK = words('allOf anyOf contains dependentRequired dependentSchemas if not oneOf pattern uniqueItems')

/** The values that are made of such a schema are right. */
function isSimple({ value }: Place): boolean {
  return isNode(value) && !Object.keys(value).some((key) => NEEDS_CHECK.has(key))
}

function makeValue(schema: Place, room: Room, depth: number, within: ReadonlySet<unknown> = new Set()): unknown {
  const { value } = schema
  const { drawing } = room
  if (!isNode(value) || within.has(value) || ++room.used > MAX_VALUES) return undefined
  const type = typeOf(schema)
  const examples: readonly unknown[] = [value.example, ...(Array.isArray(value.examples) ? value.examples : [])]
  const isNull = !room.isFull && allowsNull(schema)
  const own = room.isFull ? [...examples, value.default] : [value.default, isNull ? null : value.const, ...examples]
  const choices: readonly unknown[] = Array.isArray(value.enum) ? value.enum : []
  const isDrawn = drawing !== undefined && (type !== undefined || choices.length > 0)
  const found = isDrawn
    ? (value.const ?? pick(choices, drawing))
    : [...own, value.const, ...choices].find((item) => item !== undefined && fits(item, schema))
  if (found !== undefined) return found
  const here = new Set([...within, value])
  const make = (place: Place) => makeValue(place, room, depth + 1, here)
  if (type === 'null' || isNull) return null
  if (type !== 'object' && type !== 'array') {
    const all = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema.items(keyword))
    const parts = isDrawn ? all.filter((part) => typeOf(part) !== 'null') : all
    const scalar = scalarRules(schema)
    for (const part of parts) {
      const inner = makeValue(part, room, depth, here)
      if (inner !== undefined && (scalar === value || fits(inner, schema))) return inner
    }
    if (scalar !== value) return makeScalar(type, scalar, room.isFull, drawing)
  }
  switch (type) {
    case 'array':
      return makeArray(schema, value, room, make)
    case 'object':
      return makeObject(schema, value, room, depth, make) ?? (allowsNull(schema) ? null : undefined)
    default:
      return makeScalar(type, value, room.isFull, drawing) ?? (room.isFull && !isDrawn ? {} : undefined)
  }
}

/** The rules of a schema and of all parts that its values match, the strictest of each. */
function scalarRules(schema: Place): Node {
  const parts = wholesOf(schema).map(({ value }) => Object(value) as Node)
  if (parts.length < 2) return Object(schema.value)
  const rules: Record<string, unknown> = {}
  for (const part of parts)
    for (const [key, value] of Object.entries(part)) {
      const known = rules[key]
      const isBound = typeof known === 'number' && typeof value === 'number'
      rules[key] = !isBound
        ? (known ?? value)
        : /^(?:min|exclusiveMin)/.test(key)
          ? Math.max(known, value)
          : Math.min(known, value)
    }
  return rules
}

type Make = (schema: Place) => unknown

function makeArray(schema: Place, { minItems, maxItems, minContains, uniqueItems }: Node, room: Room, make: Make) {
  const contained = schema.child('contains')
  const wanted = contained === undefined ? 0 : typeof minContains === 'number' ? minContains : 1
  if (wanted > MAX_VALUES) return undefined
  const held =
    contained === undefined
      ? []
      : Array.from({ length: wanted }, (_, at) => varied(make(contained), uniqueItems ? at : 0))
  const tuple = [...schema.items('prefixItems').map(make), ...held]
  const least = typeof minItems === 'number' ? minItems : 0
  const items = schema.child('items')
  if (room.drawing !== undefined && items !== undefined && tuple.length === 0)
    return drawnItems(items, least, maxItems, room.drawing, make)
  const length = Math.max(least - tuple.length, room.isFull && tuple.length === 0 ? 1 : 0)
  const before = room.used
  const item = length === 0 ? undefined : items ? make(items) : least > tuple.length ? 'string' : undefined
  if (length * Math.max(1, room.used - before) > MAX_VALUES || tuple.includes(undefined)) return undefined
  if (item === undefined) return least > tuple.length ? undefined : tuple
  const { enum: all }: Node = Object(items?.value)
  const choices: readonly unknown[] = uniqueItems && Array.isArray(all) ? all : []
  const rest = Array.from({ length }, (_, at) => choices[at] ?? (uniqueItems ? varied(item, at) : item))
  return [...tuple, ...rest]
}

/** Up to two more than there must be. */
function drawnItems(items: Place, least: number, most: unknown, drawing: Drawing, make: Make) {
  const { index } = drawing
  const made: unknown[] = []
  const length = Math.min(typeof most === 'number' ? most : Infinity, least + Math.floor(drawing.next() * 3))
  if (length > MAX_VALUES) return undefined
  for (let at = 0; at < length; at++) {
    drawing.index = index * 10 + at
    const item = make(items)
    if (item !== undefined) made.push(item)
  }
  drawing.index = index
  return made
}

function varied(item: unknown, at: number): unknown {
  if (at === 0) return item
  if (typeof item === 'boolean') return !item
  if (isNode(item)) {
    const [[name, value] = []] = Object.entries(item).filter(([, one]) => /^(number|string)$/.test(typeof one))
    return name === undefined ? item : { ...item, [name]: varied(value, at) }
  }
  return typeof item === 'number' ? item + at : typeof item === 'string' ? `${item}${at}` : item
}

function makeObject(schema: Place, { minProperties }: Node, room: Room, depth: number, make: Make) {
  const { drawing } = room
  const wholes = wholesOf(schema)
  const chosen = wholes.map((part) => {
    const all = alternativesOf(part)
    const first = drawing === undefined || all.length === 0 ? 0 : Math.floor(drawing.next() * all.length)
    for (const one of [...all.slice(first), ...all.slice(0, first)]) {
      const made = make(one)
      if (isNode(made)) return { ...made, ...namedBy(part, one) }
    }
    return undefined
  })
  const object: Record<string, unknown> = Object.assign({}, ...chosen)
  const fields = readRecordFields(schema)
  const mayFail = room.isError !== false || [...fields.keys()].every((name) => FAILURE.test(name))
  for (const [name, { required, place, writeOnly }] of fields) {
    // As the alternative has it.
    if (Object.hasOwn(object, name) && !declares(wholes, name)) continue
    const isOptional = room.isFull && depth < MAX_OPTIONAL_DEPTH && room.used < MAX_OPTIONAL_VALUES
    const isWanted =
      drawing === undefined ? !writeOnly && (required || isOptional) : required || (isOptional && drawing.next() < 0.8)
    const isFailure = !mayFail && FAILURE.test(name) && !hasExample(place)
    if (!isWanted || (isFailure && !required)) continue
    const value = isFailure ? exampleValue(place) : make(place)
    if (value !== undefined) object[name] = value
    else if (required) return undefined
  }
  const undeclared = room.isFull ? requiredNames(schema).filter((name) => !(name in object)) : []
  for (const name of undeclared) object[name] = 'string'
  const [[pattern, patterned] = []] = schema.children('patternProperties')
  const rule: unknown = pattern ?? Object(schema.child('propertyNames')?.value).pattern
  const open = schema.child('additionalProperties')
  const others = open === undefined || open.value === false ? (patterned ?? open) : open
  const named = typeof rule === 'string' ? patternText(rule, {}) : undefined
  for (let key = 1; typeof minProperties === 'number' && Object.keys(object).length < minProperties && key < 10; key++)
    object[key === 1 && named !== undefined ? named : `${named ?? 'key'}${key}`] =
      others && isNode(others.value) ? make(others) : 'string'
  return object
}

function hasExample({ value }: Place): boolean {
  return ['default', 'example', 'examples'].some((keyword) => Object.hasOwn(Object(value), keyword))
}

/** A schema with the parts that all its values match. */
function wholesOf(schema: Place, seen: readonly unknown[] = []): readonly Place[] {
  if (seen.includes(schema.value)) return []
  return [schema, ...schema.items('allOf').flatMap((part) => wholesOf(part, [...seen, schema.value]))]
}

export function exampleOf(content: Place | undefined): unknown {
  const [, first] = content?.children('examples')[0] ?? []
  return (first?.written('value') ?? content?.written('example'))?.value
}

const compile = makerWith(boundedCompiler({ find: nativePattern, maxErrors: 1 }))
const validators = { value: new WeakMap<Node, Validator>(), response: new WeakMap<Node, Validator>() }

/** Whether a schema allows a value of the contract's author. */
export function fits(value: unknown, schema: Place, of: 'value' | 'response' = 'value'): boolean {
  return isNode(schema.value) ? validatorOf(schema, of)(value) === true : schema.value !== false
}

/** Compiled at first use. */
function validatorOf(schema: Place, of: 'value' | 'response'): Validator {
  const rules = Object(schema.value)
  let validator = validators[of].get(rules)
  if (validator === undefined) {
    validator = compile(() => toJsonSchema(schema, { of }))
    validators[of].set(rules, validator)
  }
  return validator
}
