import { isNode, type Place } from './document.js'
import { exampleValue } from './example-value.js'
import type { Shape } from './resource-data.js'
import { type Fields, type RecordField, readRecordFields, typesOf } from './schema-fields.js'

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

function shapeBetween(sent: Place, kept: Place): Shape | 'unlike' | undefined {
  if (sent.value === kept.value) return undefined
  const [from, to] = [typesOf(sent), typesOf(kept)]
  const shape = completion(kept, 0)
  if (from === undefined || to === undefined) return shape
  const items = kept.child('items')
  const inItems = to.has('array') && items !== undefined ? typesOf(items) : undefined
  const strange = [...from].filter((type) => !to.has(type))
  if (strange.length === 0) return shape
  const wraps = strange.some((type) => inItems?.has(type))
  const isText = to.has('string') && strange.some((type) => type === 'number' || type === 'boolean')
  if (!wraps && !isText && ![...from].some((type) => type !== 'null' && to.has(type))) return 'unlike'
  return { ...shape, types: [...to], ...(wraps && { wraps }) }
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
