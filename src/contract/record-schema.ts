import { literalsOf, type OperationShape, plainName } from './collections.js'
import { isNode, jsonContent, type Node, type Place } from './document.js'
import { exampleOf, exampleValue, fits } from './example-value.js'
import type { HeaderData, ResourceData } from './resource-data.js'
import { type Fields, isObject, readRecordFields, typeOf } from './schema-fields.js'

/** The body of POST, without its envelope. */
export function sentSchema(operations: readonly OperationShape[], collection: string): Place | undefined {
  const create = operations.find(({ method, isItem }) => method === 'post' && !isItem)
  const schema = create && jsonContent(create.place.child('requestBody'))?.child('schema')
  return schema && unwrapRecord(schema, collection)?.schema
}

/** The fields of the records that an operation takes, without its envelope; undefined if it takes none. */
export function sentFields({ method, place, isItem }: OperationShape, collection: string, record: Fields) {
  const isWrite = method === 'put' || method === 'patch' || (method === 'post' && !isItem)
  const schema = isWrite ? jsonContent(place.child('requestBody'))?.child('schema') : undefined
  const sent = schema && unwrapSent(schema, collection, record)?.schema
  return sent && readRecordFields(sent)
}

/** Unwraps the body of a request: the part of it that has more of the record's fields than the whole. */
export function unwrapSent(schema: Place, collection: string, record: Fields): RecordEnvelope | undefined {
  const unwrapped = unwrapRecord(schema, collection)
  const shared = (place: Place) => [...readRecordFields(place).keys()].filter((name) => record.has(name)).length
  const isWhole = unwrapped?.envelope !== undefined && shared(schema) > shared(unwrapped.schema)
  return isWhole ? { schema } : unwrapped
}

/** The schema of one record: what GET on the item returns, else POST, else the items of the list. */
export function recordSchema(operations: readonly OperationShape[], collection: string): Place | undefined {
  const one = (method: string, isItem: boolean) => {
    const operation = operations.find((candidate) => candidate.method === method && candidate.isItem === isItem)
    return operation && success(operation.place)?.schema
  }
  for (const schema of [one('get', true), one('post', false)]) {
    const record = schema && unwrapRecord(schema, collection)
    if (record !== undefined) return record.schema
  }
  const list = one('get', false)
  return list && unwrapList(list, collection)?.items
}

interface Success {
  /** 0 for `2XX` and `default`. */
  readonly status: number
  readonly schema: Place | undefined
  /** A body is documented, JSON or not. */
  readonly hasContent: boolean
  readonly isJson: boolean
  readonly headers: readonly HeaderData[]
  /** The first named example, or the only one. */
  readonly example: unknown
}

/** The documented success of an operation: the lowest 2xx, else `2XX`, else `default`. */
export function success(operation: Place): Success | undefined {
  const responses = operation.children('responses')
  const exact = responses.filter(([status]) => /^2\d\d$/.test(status)).sort(([a], [b]) => Number(a) - Number(b))[0]
  const [status, response] =
    exact ?? responses.find(([name]) => /^2XX$/i.test(name)) ?? responses.find(([name]) => name === 'default') ?? []
  if (status === undefined || response === undefined) return undefined
  return {
    status: /^2\d\d$/.test(status) ? Number(status) : 0,
    schema: jsonContent(response)?.child('schema'),
    hasContent: response.children('content').length > 0,
    isJson: jsonContent(response) !== undefined,
    headers: readHeaders(response),
    example: exampleOf(jsonContent(response)),
  }
}

/** Headers that the sandbox sends with every response, or that belong to the connection. */
const HEADERS_SENT_ANYWAY =
  /^(x-ratelimit-.*|deprecation|sunset|content-.*|date|retry-after|www-authenticate|x-sandbox-.*)$/i

function readHeaders(response: Place): readonly HeaderData[] {
  return response.entries('headers').flatMap(([name, place]): readonly HeaderData[] => {
    if (HEADERS_SENT_ANYWAY.test(name)) return []
    if (/^location$/i.test(name)) return [{ name, role: 'location' }]
    if (/^link$/i.test(name)) return [{ name, role: 'link' }]
    if (/^(x-)?(total(-count)?|pagination-total|count)$/i.test(name)) return [{ name, role: 'total' }]
    const schema = place.child('schema')
    const example = place.child('example')?.value ?? (schema && exampleValue(schema))
    if (!place.flag('required') || example === undefined || example === null) return []
    return [{ name, role: 'value', value: String(example) }]
  })
}

interface RecordEnvelope {
  readonly schema: Place
  readonly envelope?: string
  /** The properties of the envelope. */
  readonly fields?: Fields
}

/** An object is a record, unless a property holds it: `{ data: … }`, or `{ article: … }` of `/articles`. */
export function unwrapRecord(schema: Place, collection: string): RecordEnvelope | undefined {
  if (!isObject(schema)) return undefined
  const fields = readRecordFields(schema)
  if (fields.has('id')) return { schema }
  const held = [...fields].filter(([name, field]) => {
    const isNamed = /^(data|result|item|record|resource)$/i.test(name) || isSingular(name, collection)
    return isNamed && field.type === 'object' && readRecordFields(field.place).size > 0
  })
  const [only] = held
  return only === undefined || held.length > 1 ? { schema } : { schema: only[1].place, envelope: only[0], fields }
}

/** `article` of `/articles`, `category` of `/categories`, `addressBook` of `/address-books`. */
function isSingular(name: string, collection: string): boolean {
  const [one, many] = [plainName(name), plainName(literalsOf(collection).at(-1) ?? '')]
  return [one, `${one}s`, `${one}es`, one.replace(/y$/, 'ies')].includes(many)
}

export interface ListEnvelope {
  readonly items?: Place
  readonly envelope?: string
  readonly fields?: Fields
}

/** A list of records: an array, or an object with one array of objects; of several, the one with the usual name. */
export function unwrapList(schema: Place, collection: string): ListEnvelope | undefined {
  if (typeOf(schema) === 'array') {
    const items = schema.child('items')
    return items !== undefined && isObject(items) ? { items } : undefined
  }
  const fields = readRecordFields(schema)
  const arrays = [...fields].flatMap(([name, { place, type }]) => {
    const items = type === 'array' ? place.child('items') : undefined
    return items !== undefined && isObject(items) ? [{ items, envelope: name, fields }] : []
  })
  const isUsual = (name: string) =>
    /^(data|items|results|records|values|list)$/i.test(name) ||
    plainName(name) === plainName(literalsOf(collection).at(-1) ?? '')
  return arrays.length === 1 ? arrays[0] : arrays.find(({ envelope }) => isUsual(envelope))
}

/** The records of the first example of a list. */
export function listExamples({ id, path }: ResourceData, operations: readonly OperationShape[]) {
  const list = operations.find(({ method, isItem }) => method === 'get' && !isItem)
  const outcome = list && success(list.place)
  const envelope = outcome?.schema && unwrapList(outcome.schema, path)?.envelope
  const value =
    envelope === undefined ? outcome?.example : isNode(outcome?.example) ? outcome.example[envelope] : undefined
  const records: unknown[] = Array.isArray(value) ? value : []
  const items = outcome?.schema && unwrapList(outcome.schema, path)?.items
  return records.filter(
    (record): record is Node =>
      isNode(record) && record[id.property] !== undefined && (items === undefined || fits(record, items)),
  )
}
