import { isNode, type Node, type Place } from '../contract/document.js'
import { exampleOf, fits } from '../contract/example-value.js'
import { type ResourceData, recordsIn } from '../contract/resource-data.js'
import { type Fields, isAny, isObject, readRecordFields, typeOf } from '../contract/schema-fields.js'
import { bodyContent, literalsOf, type OperationShape, plainName, success } from './operations.js'

/** The schema of one record: what GET on the item returns, else POST, else the items of the list. */
export function recordSchema(operations: readonly OperationShape[], collection: string): Place | undefined {
  const one = (method: string, isItem: boolean) => {
    const operation = operations.find((other) => other.method === method && (other.parameter !== undefined) === isItem)
    return operation && success(operation.place)?.schema
  }
  for (const schema of [one('get', true), one('post', false)]) {
    const record = schema && unwrapRecord(schema, collection)
    if (record !== undefined) return record.schema
  }
  const list = one('get', false)
  const items = list && unwrapList(list, collection)?.items
  return isObject(items) ? items : undefined
}

interface RecordEnvelope {
  readonly schema: Place
  readonly envelope?: string
  /** The envelope holds a list with the record. */
  readonly isListed?: true
  readonly fields?: Fields
}

/**
 * An object is a record, unless a property holds it: `{ data: … }`, `{ article: … }` of `/articles`, or
 * `{ articles: [one] }`.
 */
export function unwrapRecord(schema: Place, collection: string): RecordEnvelope | undefined {
  if (!isObject(schema)) return undefined
  const fields = readRecordFields(schema)
  if (fields.has('id')) return { schema }
  const held = [...fields].filter(([name, field]) => {
    const isNamed = /^(data|result|item|record|resource)$/i.test(name) || isSingular(name, collection)
    return isNamed && field.type === 'object' && readRecordFields(field.place).size > 0
  })
  const [[listName = '', list] = []] = fields
  const items = list?.type === 'array' ? list.place.child('items') : undefined
  const isList = fields.size === 1 && plainName(listName) === plainName(literalsOf(collection).at(-1) ?? '')
  if (isList && isObject(items)) return { schema: items, envelope: listName, isListed: true, fields }
  const [only] = held
  return only === undefined || held.length > 1 ? { schema } : { schema: only[1].place, envelope: only[0], fields }
}

/** The record in the body of a request: in its envelope, unless the whole has more of the fields of the record. */
export function unwrapSent({ place, collection }: OperationShape, record: Fields): RecordEnvelope | undefined {
  const schema = bodyContent(place)?.child('schema')
  const unwrapped = schema && unwrapRecord(schema, collection)
  const shared = (part: Place) => [...readRecordFields(part).keys()].filter((name) => record.has(name)).length
  const isWhole = unwrapped?.envelope !== undefined && shared(schema as Place) > shared(unwrapped.schema)
  return isWhole ? { schema: schema as Place } : unwrapped
}

/** `article` of `/articles`, `category` of `/categories`, `addressBook` of `/address-books`. */
export function isSingular(name: string, collection: string): boolean {
  const [one, many] = [plainName(name), plainName(literalsOf(collection).at(-1) ?? '')]
  return [one, `${one}s`, `${one}es`, one.replace(/y$/, 'ies'), one.replace(/fe?$/, 'ves')].includes(many)
}

/** `article` of `/articles`, `addressBook` of `/address-books`. */
export function singularOf(collection: string): string {
  const many = (literalsOf(collection).at(-1) ?? '').replace(/[-.](\w)/g, (_, letter: string) => letter.toUpperCase())
  const one = many.replace(/ies$/i, 'y').replace(/(ss|x|[nt]ch|sh|tus)es$/i, '$1')
  return (one === many ? many.replace(/(?<!s)s$/i, '') : one).replace(/^[A-Z](?=[a-z])/, (letter) =>
    letter.toLowerCase(),
  )
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

/** Lists beside the records. */
const NOT_RECORDS = /^(errors|warnings|messages|_?links|meta|includes|included|facets)$/i

/**
 * A list of records: an array, or an object with one array; of several, the one of objects with the usual name. The
 * array may be one level further down, as in `{ data: { items: [] } }` or the `_embedded` of HAL.
 */
export function unwrapList(schema: Place, collection: string): ListEnvelope | undefined {
  if (typeOf(schema) === 'array') return itemsOf(schema)
  const fields = readRecordFields(schema)
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
      const inside = type === 'object' && wanted(name) && !isWithin(place, schema) ? unwrapList(place, collection) : {}
      const { fields: inner, envelope } = inside ?? {}
      if (envelope === undefined || inner === undefined || inside?.outer !== undefined) return []
      return [{ ...inside, inner, outer: name, fields }]
    })[0]
  return (
    outer((name) => name === '_embedded') ??
    pick(arrays.filter(({ items }) => items === undefined || isObject(items))) ??
    outer((name) => isUsual(name) || /^(result|response|payload|body|page)$/i.test(name)) ??
    pick(arrays)
  )
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
  const list = operations.find(({ method, parameter }) => method === 'get' && parameter === undefined)
  const { content, schema } = (list && success(list.place)) ?? {}
  const envelope = schema && unwrapList(schema, path)
  const records = recordsIn(exampleOf(content?.content), envelope)
  const items = envelope?.items
  return (Array.isArray(records) ? (records as readonly unknown[]) : []).filter(
    (record): record is Node =>
      isNode(record) && record[id.property] !== undefined && (items === undefined || fits(record, items)),
  )
}
