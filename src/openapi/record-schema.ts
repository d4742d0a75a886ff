import { isNode, type Node, type Place } from '../contract/document.js'
import { exampleOf, fits } from '../contract/example-value.js'
import { isOwnId, isSingular, literalsOf, plainName } from '../contract/names.js'
import { type ResourceData, recordsIn } from '../contract/resource-data.js'
import { alternativesOf, type Fields, isAny, isObject, readRecordFields, typeOf } from '../contract/schema-fields.js'
import { bodyContent, type OperationShape, ofCollection, success } from './operations.js'

interface RecordEnvelope {
  readonly schema: Place
  readonly envelope?: string
  /** The envelope holds a list with the record. */
  readonly isListed?: true
  /** The property that holds the envelope, as in `{ data: { budget: … } }`. */
  readonly outer?: string
  readonly fields?: Fields
}

/**
 * An object is a record, unless a property holds it: `{ data: … }`, `{ article: … }` of `/articles`, or
 * `{ articles: [one] }`.
 */
export function unwrapRecord(schema: Place, collection: string, isSent = false, depth = 0): RecordEnvelope | undefined {
  const own = typeOf(schema) === 'array' ? schema.child('items') : undefined
  if (isObject(own)) return { schema: own, isListed: true }
  if (!isObject(schema)) return undefined
  const fields = readRecordFields(schema)
  if (fields.has('id') || [...fields.keys()].some((name) => isOwnId(name, collection))) return { schema }
  const held = [...fields].filter(([name, field]) => {
    const isNamed =
      /^(data|result|item|record|resource|node|doc|entity|payload)$/i.test(name) || isSingular(name, collection)
    const inside = field.type === 'object' ? readRecordFields(field.place) : undefined
    return inside !== undefined && (isNamed ? inside.size > 0 : fields.size === 1 && !isSent && inside.has('id'))
  })
  const [[listName = '', list] = []] = fields
  const items = list?.type === 'array' ? list.place.child('items') : undefined
  const isList = fields.size === 1 && plainName(listName) === plainName(literalsOf(collection).at(-1) ?? '')
  if (isList && isObject(items)) return { schema: items, envelope: listName, isListed: true, fields }
  const [only] = held
  if (only === undefined || held.length > 1) return { schema }
  const [envelope, { place }] = only
  const isDeeper = fields.size === 1 && depth < MAX_DEPTH && !isWithin(place, schema)
  const inside = isDeeper ? unwrapRecord(place, collection, false, depth + 1) : undefined
  return inside?.envelope !== undefined && inside.outer === undefined
    ? { ...inside, outer: envelope }
    : { schema: place, envelope, fields }
}

/** The record that an operation returns. */
export function returnedRecord(operation: OperationShape | undefined, collection: string): Place | undefined {
  const schema = operation && success(operation.place)?.schema
  return schema && unwrapRecord(schema, collection)?.schema
}

export interface SentRecord extends RecordEnvelope {
  /** The request creates the records of a list. */
  readonly isBulk?: true
  /** Where the response to it has them; empty if it has something else, or nothing. */
  readonly made?: ListEnvelope | undefined
}

/** The record in the body of a request: in its envelope, unless the whole has more of the fields of the record. */
export function unwrapSent(operation: OperationShape, record: Fields): SentRecord | undefined {
  const { place, collection, effect, parameter } = operation
  const schema = bodyContent(place)?.child('schema')
  if (schema === undefined) return undefined
  const shared = (part: Place | undefined) =>
    part === undefined ? 0 : [...readRecordFields(part).keys()].filter((name) => record.has(name)).length
  const fields = readRecordFields(schema)
  const [[envelope, { place: inner }] = ['', { place: schema }]] = fields
  // The property may have any name if the record is in it.
  if (fields.size === 1 && isObject(inner) && shared(inner) > shared(schema)) return { schema: inner, envelope, fields }
  const { items, outer, ...list } =
    (effect === 'post' && parameter === undefined && unwrapList(schema, collection)) || {}
  const made = items && madeList(success(place)?.schema, collection, shared)
  const isMany = list.envelope === undefined || (made !== undefined && shared(items) > shared(schema))
  if (isObject(items) && outer === undefined && isMany)
    return { ...list, schema: items, isListed: true, isBulk: true, made }
  const unwrapped = unwrapRecord(schema, collection, true)
  const isWhole = unwrapped?.envelope !== undefined && shared(schema) > shared(unwrapped.schema)
  return isWhole || unwrapped?.outer !== undefined ? { schema } : unwrapped
}

/** The list in a response; empty for a message, or nothing; undefined for one record. */
function madeList(
  schema: Place | undefined,
  collection: string,
  shared: (part: Place | undefined) => number,
): ListEnvelope | undefined {
  const one = schema && unwrapRecord(schema, collection)
  const list = schema && unwrapList(schema, collection)
  const isOne = one !== undefined && !one.isListed && shared(one.schema) > shared(list?.items)
  return isOne ? undefined : (list ?? {})
}

/** A list of operations. @source RFC 6902 */
export function isJsonPatch({ schema, envelope, isListed }: RecordEnvelope): boolean {
  const fields = readRecordFields(schema)
  return isListed === true && envelope === undefined && fields.has('op') && fields.has('path')
}

export interface ListEnvelope {
  /** Undefined if they may be anything. */
  readonly items?: Place
  readonly envelope?: string
  /** The property that holds the envelope. */
  readonly outer?: string
  readonly fields?: Fields
  /** The properties beside the envelope in `outer`. */
  readonly inner?: Fields
}

/** Envelopes in envelopes: only one is known, and a ring of them has no end. */
const MAX_DEPTH = 3

/** Lists beside the records. */
const NOT_RECORDS = /^(errors|warnings|messages|_?links|meta|includes|included|facets)$/i

/**
 * A list of records: an array, or an object with one array; of several, the one of objects with the usual name. The
 * array may be one level further down, as in `{ data: { items: [] } }` or the `_embedded` of HAL.
 */
export function unwrapList(schema: Place, collection: string, depth = 0): ListEnvelope | undefined {
  if (typeOf(schema) === 'array') return itemsOf(schema)
  const fields = readRecordFields(schema)
  // One record, such as an account with its entries.
  if (depth === 0 && fields.has('id')) return undefined
  const last = plainName(literalsOf(collection).at(-1) ?? '')
  const isUsual = (name: string) =>
    /^(data|items|results|records|values|list|rows|entries|content|edges|nodes)$/i.test(name) ||
    plainName(name) === last
  const own = [...fields].filter(([name]) => !NOT_RECORDS.test(name) || plainName(name) === last)
  const arrays = own.flatMap(([name, { place, type }]) =>
    type === 'array' ? [{ ...itemsOf(place), envelope: name, fields }] : [],
  )
  const pick = (all: typeof arrays) => (all.length === 1 ? all[0] : all.find(({ envelope }) => isUsual(envelope)))
  const outer = (wanted: (name: string) => boolean) =>
    own.flatMap(([name, { place, type }]): ListEnvelope[] => {
      const isDeeper = type === 'object' && depth < MAX_DEPTH && wanted(name) && !isWithin(place, schema)
      const inside = isDeeper ? unwrapList(place, collection, depth + 1) : {}
      const { fields: inner, envelope } = inside ?? {}
      if (envelope === undefined || inner === undefined || inside?.outer !== undefined) return []
      return [{ ...inside, inner, outer: name, fields }]
    })[0]
  return (
    outer((name) => name === '_embedded') ??
    pick(arrays.filter(({ items }) => items === undefined || isObject(items))) ??
    outer((name) => isUsual(name) || /^(result|response|payload|body|page)$/i.test(name)) ??
    pick(arrays) ??
    // A list, or a page of it.
    (fields.size === 0 ? firstList(schema, collection, depth) : undefined)
  )
}

function firstList(schema: Place, collection: string, depth: number): ListEnvelope | undefined {
  const others = alternativesOf(schema).filter(
    (alternative) => alternative.value !== schema.value && alternativesOf(alternative).length === 0,
  )
  return others.flatMap((other) => unwrapList(other, collection, depth) ?? [])[0]
}

function isWithin(inner: Place, schema: Place): boolean {
  return (
    inner.value === schema.value ||
    [...readRecordFields(inner).values()].some(({ place }) => place.value === schema.value)
  )
}

function itemsOf(list: Place): ListEnvelope {
  const items = list.child('items')
  return items === undefined || isAny(items) ? {} : { items }
}

export function listExamples({ id, path }: ResourceData, operations: readonly OperationShape[]): readonly Node[] {
  const list = ofCollection('get', operations)
  const { content, schema } = (list && success(list.place)) ?? {}
  const envelope = schema && unwrapList(schema, path)
  const records = recordsIn(exampleOf(content?.content), envelope)
  const items = envelope?.items
  return (Array.isArray(records) ? (records as readonly unknown[]) : []).filter(
    (record): record is Node =>
      isNode(record) && record[id.property] !== undefined && (items === undefined || fits(record, items)),
  )
}
