import { isNode, type Node, type Place } from '../contract/document.js'
import { exampleValue, fits, fullExample } from '../contract/example-value.js'
import { FORMATS } from '../contract/formats.js'
import { isOwnId } from '../contract/names.js'
import type { IdFill, Shape } from '../contract/resource-data.js'
import { type Fields, mainPart, type RecordField, readRecordFields, typesOf } from '../contract/schema-fields.js'
import { idFill } from './made-ids.js'

/** Levels of a value that are completed. */
const MAX_DEPTH = 5

/**
 * What a property needs to pass from requests into the record: undefined for nothing, and `unlike` if a type of the sent
 * values has no place in it.
 *
 * @param requests the fields of the requests that write the record
 */
export function shapeFor(
  name: string,
  { place }: RecordField,
  requests: readonly Fields[],
): Shape | 'unlike' | undefined {
  const shapes = requests
    .flatMap((fields) => fields.get(name) ?? [])
    .map((sent) => shapeBetween(sent.place, place, name))
  if (shapes.includes('unlike')) return 'unlike'
  return shapes.every((shape) => shape === undefined) ? undefined : Object.assign({}, ...shapes)
}

/**
 * | sent | in the record | becomes |
 * | --- | --- | --- |
 * | a number, a boolean | a text | that text; an instant; a value of the schema if it has other choices |
 * | a text | a number | that number; an instant in seconds; else a value of the schema |
 * | one value | a list | a list of it |
 * | an id, or a name | an object with one | an object with that one |
 * | an object with an id, or a name | an id, or a name | that one |
 * | a row without its id | a row with one | the row with an id of its own |
 * | a file, a text of another format | a text of a format | the text if it has the format, else a value of the schema |
 * | another type | | `unlike` |
 */
function shapeBetween(sent: Place, kept: Place, name: string, depth = 0): Shape | 'unlike' | undefined {
  if (depth > MAX_DEPTH) return undefined
  const isSame = sent.value === kept.value
  const completed = completion(kept, { name, isSame }, 0)
  if (isSame) return completed
  const [from, to] = [typesOf(sent), typesOf(kept)]
  const [sentItems, items] = [sent.child('items'), kept.child('items')]
  const inside = sentItems && items && from?.has('array') ? shapeBetween(sentItems, items, name, depth + 1) : undefined
  if (inside === 'unlike') return inside
  const own =
    from?.has('object') && to?.has('object') ? insideOf(sent, kept, completed, `${depth} ${name}`, depth) : completed
  const shape = inside === undefined ? own : { ...own, items: inside }
  if (to === undefined) return shape
  if (from === undefined) return { ...shape, types: [...to] }
  const inItems = to.has('array') && items !== undefined ? typesOf(items) : undefined
  const strange = [...from].filter((type) => !to.has(type))
  if (strange.length === 0) return to.has('string') ? (formatBetween(sent, kept) ?? shape) : shape
  const wraps = strange.some((type) => inItems?.has(type))
  const isText = to.has('string') && strange.some((type) => type === 'number' || type === 'boolean')
  const [key] = to.has('object') ? idsIn(kept, from) : []
  const [idOf] = from.has('object') && key === undefined ? idsIn(sent, to) : []
  const isNumber = to.has('number') && !to.has('string') && strange.includes('string')
  if (isNumber) return { ...shape, types: [...to], becomes: fullExample(kept) }
  const isLike = wraps || isText || key !== undefined || idOf !== undefined
  if (!isLike && ![...from].some((type) => type !== 'null' && to.has(type))) return 'unlike'
  const ids = { ...(key !== undefined && { key }), ...(idOf !== undefined && { idOf }) }
  const other = isText && strange.includes('number') ? textOf(kept) : undefined
  return { ...shape, types: [...to], ...(wraps && { wraps }), ...ids, ...other }
}

/** By the schemas in the request and in the record. */
const insides = new WeakMap<object, WeakMap<object, Map<string, Shape | undefined>>>()

/** The shape of an object whose properties may differ between requests and the record. */
function insideOf(sent: Place, kept: Place, completed: Shape | undefined, key: string, depth: number) {
  const known = insides.get(Object(sent.value)) ?? new WeakMap<object, Map<string, Shape | undefined>>()
  const own = known.get(Object(kept.value)) ?? new Map<string, Shape | undefined>()
  insides.set(Object(sent.value), known.set(Object(kept.value), own))
  if (!own.has(key)) own.set(key, readInside(sent, kept, completed, depth))
  return own.get(key)
}

function readInside(sent: Place, kept: Place, completed: Shape | undefined, depth: number): Shape | undefined {
  const fields = readRecordFields(kept)
  const properties = [...readRecordFields(sent)].flatMap(([name, { place }]): [string, Shape][] => {
    const field = fields.get(name)
    if (field === undefined || field.place.value === place.value) return []
    const shape = shapeBetween(place, field.place, name, depth + 1)
    return shape === undefined || shape === 'unlike' ? [] : [[name, shape]]
  })
  if (properties.length === 0) return completed
  return { ...completed, properties: { ...completed?.properties, ...Object.fromEntries(properties) } }
}

/** What a number becomes, where not every text will do. */
function textOf(kept: Place): Shape | undefined {
  const { format, enum: choices }: Node = Object(mainPart(kept).value)
  if (Array.isArray(choices)) return { becomes: fullExample(kept), choices }
  const isChecked = typeof format === 'string' && Object.hasOwn(FORMATS, format)
  return isChecked ? { becomes: fullExample(kept), unless: format } : undefined
}

/** The properties of an object that identify it, with one of these types, the best first. */
export function idsIn(schema: Place, types: ReadonlySet<string>): readonly string[] {
  const fields = readRecordFields(schema)
  return 'id _id pk uuid key code slug login username name'.split(' ').filter((name) => {
    const { place } = fields.get(name) ?? {}
    return [...((place && typesOf(place)) ?? [])].some((type) => /^(string|number)$/.test(type) && types.has(type))
  })
}

const FILES = /^(binary|byte|base64)$/

function formatBetween(sent: Place, kept: Place): Shape | undefined {
  const [from, to] = [sent, kept].map((place) => String(Object(mainPart(place).value).format ?? ''))
  const isFile = FILES.test(from ?? '') && !FILES.test(to ?? '')
  const isChecked = to !== undefined && Object.hasOwn(FORMATS, to)
  if (from === to || from === '' || !(isFile || isChecked)) return undefined
  return { becomes: fullExample(kept), ...(isChecked && { unless: to }) }
}

interface CompletedProperty {
  readonly name: string
  /** Requests have the same schema: only read-only properties may be missing. */
  readonly isSame: boolean
}

const completions = new WeakMap<object, Map<string, Shape | undefined>>()

/** The required properties that a nested object may lack. @param of what holds it */
function completion(kept: Place, of: CompletedProperty, depth: number): Shape | undefined {
  if (depth > MAX_DEPTH || !isNode(kept.value)) return undefined
  const known = completions.get(kept.value) ?? new Map<string, Shape | undefined>()
  completions.set(kept.value, known)
  const key = `${depth} ${of.isSame} ${of.name}`
  if (!known.has(key)) known.set(key, readCompletion(kept, of, depth))
  return known.get(key)
}

function readCompletion(kept: Place, of: CompletedProperty, depth: number): Shape | undefined {
  const items = kept.child('items')
  const inItems = items && completion(items, of, depth + 1)
  const fills: Record<string, unknown> = {}
  const ids: Record<string, IdFill> = {}
  const properties: Record<string, Shape> = {}
  for (const [name, field] of readRecordFields(kept)) {
    const { required, readOnly, place, default: usual } = field
    const isLacking = of.isSame ? readOnly : required || readOnly
    const id = isLacking && isOwnId(name, `/${of.name}`) ? idFill(field) : undefined
    const isUsual = usual !== undefined && fits(usual, place)
    const value =
      id !== undefined ? undefined : isUsual ? usual : isLacking && required ? exampleValue(place) : undefined
    if (id !== undefined) ids[name] = id
    if (value !== undefined) fills[name] = value
    const inside = completion(place, { ...of, name }, depth + 1)
    if (inside !== undefined) properties[name] = inside
  }
  const parts = Object.entries({ fills, ids, properties }).filter(([, part]) => Object.keys(part).length > 0)
  return inItems === undefined && parts.length === 0
    ? undefined
    : { ...(inItems && { items: inItems }), ...Object.fromEntries(parts) }
}
