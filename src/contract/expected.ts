import type { Expected, Field, ValueForm, ValueType } from './contract-data.js'
import { isNode, type Node, type Place } from './document.js'
import { fits } from './example-value.js'
import { exactInteger, INT64_MAXIMUM, INT64_MINIMUM } from './int64.js'
import { integerBounds } from './json-schema.js'
import { FORMAT_WORDS } from './mistake-words.js'
import { mainPart, readAllFields, typesIn, variantsOf } from './schema-fields.js'

/** Levels of a parameter whose types are read: `filter[price][gt]` has three. */
const MAX_DEPTH = 4

/** The types of the values of a schema, alternatives and references included; without texts if "null" can only be null. */
export function formOf(schema: Place | undefined, depth = 0): ValueForm {
  if (schema === undefined || depth > MAX_DEPTH) return { types: [] }
  const variants = variantsOf(schema)
  const all = typesOf(variants)
  const isNull = all.includes('null') && variants.some(isLimited) && !fits('null', schema)
  const types = isNull && !all.includes('array') ? all.filter((type) => type !== 'string') : all
  const items = types.includes('array') ? variants.flatMap((variant) => variant.child('items') ?? [])[0] : undefined
  const fields = types.includes('object') ? [...readAllFields(schema)] : []
  return {
    types,
    ...(variants.some(isFile) && { isFile: true }),
    ...(items && { items: formOf(items, depth + 1) }),
    ...(fields.length > 0 && {
      fields: Object.fromEntries(fields.map(([name, { place }]) => [name, formOf(place, depth + 1)])),
    }),
  }
}

function typesOf(variants: readonly Place[]): readonly string[] {
  return [...new Set(variants.flatMap(({ value }) => (isNode(value) ? typesIn(value) : [])))]
}

/** Whether some texts are no value of it: "null" may be one. */
function isLimited({ value }: Place): boolean {
  return ['enum', 'format', 'pattern'].some((keyword) => Object.hasOwn(Object(value), keyword))
}

const FILES = /^(?:binary|byte|base64)$/

function isFile({ value }: Place): boolean {
  const { format, contentMediaType, contentEncoding } = Object(value)
  return FILES.test(String(format)) || contentMediaType !== undefined || contentEncoding !== undefined
}

export function readExpected(given: Place): Expected {
  const schema = mainPart(given)
  const source = isNode(schema.value) ? schema.value : {}
  const { items } = formOf(given)
  const type = valueType(typesOf(variantsOf(given)))
  const { minimum, maximum } = integerBounds(source)
  const description = [given, schema]
    .map(({ value }) => Object(value).description)
    .find((item) => typeof item === 'string')
  const value: unknown = Object(given.value).default ?? source.default
  const described = {
    type,
    ...(items && items.types.length > 0 && { itemType: valueType(items.types) }),
    ...(Array.isArray(source.enum) && { enum: source.enum as readonly unknown[] }),
    ...(type === 'integer' && BigInt(minimum) > INT64_MINIMUM && { minimum: exactInteger(BigInt(minimum)) }),
    ...(type === 'integer' && BigInt(maximum) < INT64_MAXIMUM && { maximum: exactInteger(BigInt(maximum)) }),
    ...(value !== undefined && { default: value }),
    ...(description !== undefined && { description }),
  }
  const wording = wordingOf(described, source)
  return wording === undefined ? described : { ...described, wording }
}

const VALUE_TYPES: readonly unknown[] = ['integer', 'number', 'boolean', 'string', 'array'] satisfies ValueType[]

function valueType(types: readonly string[]): ValueType {
  const [name, ...others] = types.filter((type) => type !== 'null')
  return others.length === 0 && VALUE_TYPES.includes(name) ? (name as ValueType) : 'other'
}

const WITHOUT_WORDING = ['pattern', 'minLength', 'maxLength', 'multipleOf', 'allOf', 'anyOf', 'oneOf', 'not', 'const']

function wordingOf(expected: Omit<Expected, 'wording'>, source: Node): string | undefined {
  if (WITHOUT_WORDING.some((keyword) => source[keyword] !== undefined)) return undefined
  if (expected.enum !== undefined) return `one of ${expected.enum.map(String).join(', ')}`
  switch (expected.type) {
    case 'integer':
      return `a whole number from ${expected.minimum ?? INT64_MINIMUM} to ${expected.maximum ?? INT64_MAXIMUM}`
    case 'boolean':
      return 'true or false'
    case 'string':
      return FORMAT_WORDS[String(source.format)] ?? 'a string'
    default:
      return undefined
  }
}

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
