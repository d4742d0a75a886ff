import { isNode, type Node, type Place } from '../contract/document.js'
import { exampleValue, fullExample } from '../contract/example-value.js'
import { FORMATS } from '../contract/formats.js'
import type { Shape } from '../contract/resource-data.js'
import { type Fields, mainPart, type RecordField, readRecordFields, typesOf } from '../contract/schema-fields.js'

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
  const shapes = requests.flatMap((fields) => fields.get(name) ?? []).map((sent) => shapeBetween(sent.place, place))
  if (shapes.includes('unlike')) return 'unlike'
  return shapes.every((shape) => shape === undefined) ? undefined : Object.assign({}, ...shapes)
}

/**
 * | sent | in the record | becomes |
 * | --- | --- | --- |
 * | a number, a boolean | a text | that text; an instant; a value of the schema if it has other choices |
 * | a text | a number | that number; an instant in seconds; else a value of the schema |
 * | one value | a list | a list of it |
 * | an id | an object with an id | an object with that id |
 * | an object with an id | an id | that id |
 * | a file, a text of another format | a text of a format | the text if it has the format, else a value of the schema |
 * | another type | | `unlike` |
 */
function shapeBetween(sent: Place, kept: Place, depth = 0): Shape | 'unlike' | undefined {
  if (sent.value === kept.value || depth > MAX_DEPTH) return undefined
  const [from, to] = [typesOf(sent), typesOf(kept)]
  const [sentItems, items] = [sent.child('items'), kept.child('items')]
  const inside = sentItems && items && from?.has('array') ? shapeBetween(sentItems, items, depth + 1) : undefined
  if (inside === 'unlike') return inside
  const completed = completion(kept, 0)
  const shape = inside === undefined ? completed : { ...completed, items: inside }
  if (to === undefined) return shape
  if (from === undefined) return { ...shape, types: [...to] }
  const inItems = to.has('array') && items !== undefined ? typesOf(items) : undefined
  const strange = [...from].filter((type) => !to.has(type))
  if (strange.length === 0) return to.has('string') ? (formatBetween(sent, kept) ?? shape) : shape
  const wraps = strange.some((type) => inItems?.has(type))
  const isText = to.has('string') && strange.some((type) => type === 'number' || type === 'boolean')
  const key = to.has('object') ? idIn(kept, from) : undefined
  const idOf = from.has('object') && key === undefined ? idIn(sent, to) : undefined
  const isNumber = to.has('number') && !to.has('string') && strange.includes('string')
  if (isNumber) return { ...shape, types: [...to], becomes: fullExample(kept) }
  const isLike = wraps || isText || key !== undefined || idOf !== undefined
  if (!isLike && ![...from].some((type) => type !== 'null' && to.has(type))) return 'unlike'
  const ids = { ...(key !== undefined && { key }), ...(idOf !== undefined && { idOf }) }
  const other = isText && strange.includes('number') ? textOf(kept) : undefined
  return { ...shape, types: [...to], ...(wraps && { wraps }), ...ids, ...other }
}

/** What a number becomes, where not every text will do. */
function textOf(kept: Place): Shape | undefined {
  const { format, enum: choices }: Node = Object(mainPart(kept).value)
  if (Array.isArray(choices)) return { becomes: fullExample(kept), choices }
  const isChecked = typeof format === 'string' && Object.hasOwn(FORMATS, format)
  return isChecked ? { becomes: fullExample(kept), unless: format } : undefined
}

/** The property of an object that identifies it, with one of these types. */
function idIn(schema: Place, types: ReadonlySet<string>): string | undefined {
  const named = [...readRecordFields(schema)].filter(([, { place }]) =>
    [...(typesOf(place) ?? [])].some((type) => /^(string|number)$/.test(type) && types.has(type)),
  )
  return ['id', '_id', 'pk', 'uuid', 'key', 'code', 'slug'].find((wanted) => named.some(([name]) => name === wanted))
}

const FILES = /^(binary|byte|base64)$/

function formatBetween(sent: Place, kept: Place): Shape | undefined {
  const [from, to] = [sent, kept].map((place) => String(Object(mainPart(place).value).format ?? ''))
  const isFile = FILES.test(from ?? '') && !FILES.test(to ?? '')
  const isChecked = to !== undefined && Object.hasOwn(FORMATS, to)
  if (from === to || from === '' || !(isFile || isChecked)) return undefined
  return { becomes: fullExample(kept), ...(isChecked && { unless: to }) }
}

/** The required properties that a nested object may lack. */
function completion(kept: Place, depth: number): Shape | undefined {
  if (depth > MAX_DEPTH || !isNode(kept.value)) return undefined
  const items = kept.child('items')
  const inItems = items && completion(items, depth + 1)
  const fields = [...readRecordFields(kept)]
  const fills = fields.flatMap(([name, { required, place }]) => {
    const value = required ? exampleValue(place) : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  const properties = fields.flatMap(([name, { place }]) => {
    const inside = completion(place, depth + 1)
    return inside === undefined ? [] : [[name, inside] as const]
  })
  if (inItems === undefined && fills.length === 0 && properties.length === 0) return undefined
  return {
    ...(inItems && { items: inItems }),
    ...(fills.length > 0 && { fills: Object.fromEntries(fills) }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
  }
}
