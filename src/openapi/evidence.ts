import type { Place } from '../contract/document.js'
import { exampleValue, fits } from '../contract/example-value.js'
import { isSingular, literalsOf, plainName } from '../contract/names.js'
import type { AddressData } from '../contract/resource-data.js'
import {
  alternativesOf,
  type Fields,
  isObject,
  type RecordField,
  readRecordFields,
  typeOf,
} from '../contract/schema-fields.js'
import { type OperationShape, ofCollection, success } from './operations.js'
import { returnedRecord, unwrapList, unwrapRecord } from './record-schema.js'

/** Operations on the same collection, and what they return as a record. */
export interface CollectionShape {
  readonly path: string
  readonly operations: readonly OperationShape[]
  /** The path parameter of its records, or of records with the same schema: `key` for `/pets/recent` beside `/pets/{key}`. */
  readonly parameter: string | undefined
  /** It has one record, such as `/settings`. */
  readonly isSingle: boolean
}

export interface Finding<Found> {
  readonly found: Found
  /** The row of the table, for people. */
  readonly because: string
}

type Row<Question, Found> = readonly [because: string, find: (question: Question) => Found | undefined]

/** The first row that finds something wins. */
function decide<Question, Found>(
  rows: readonly Row<Question, Found>[],
  question: Question,
): Finding<Found> | undefined {
  for (const [because, find] of rows) {
    const found = find(question)
    if (found !== undefined) return { found, because }
  }
  return undefined
}

function successOf({ operations, path }: CollectionShape, effect: string, isItem: boolean): Place | undefined {
  const operation = operations.find((shape) => shape.effect === effect && (shape.parameter !== undefined) === isItem)
  return returnedRecord(operation, path)
}

function itemsOf({ operations, path }: CollectionShape): Place | undefined {
  const list = ofCollection('get', operations)
  const schema = list && success(list.place)?.schema
  const items = schema && unwrapList(schema, path)?.items
  return items && unwrapRecord(items, path)?.schema
}

/** Which schema describes a record? */
const RECORD: readonly Row<CollectionShape, Place>[] = [
  ['the response with the one record', (shape) => (shape.isSingle ? successOf(shape, 'get', false) : undefined)],
  ['the response to GET of one record', (shape) => successOf(shape, 'get', true)],
  ['the response to POST', (shape) => successOf(shape, 'post', false)],
  ['an item of the list', (shape) => (isObject(itemsOf(shape)) ? itemsOf(shape) : undefined)],
]

/** Where the id is, if the record itself does not have it. */
const OTHER_SOURCES: readonly Row<CollectionShape, Place>[] = [
  ['in the response to POST', (shape) => successOf(shape, 'post', false)],
  ['in the items of the list', itemsOf],
]

/** Of several schemas in a response, as in `anyOf: [customer, deleted_customer]`, the one that other responses have. */
export function findRecord(collection: CollectionShape): Finding<Place> | undefined {
  const finding = decide(RECORD, collection)
  const others = OTHER_SOURCES.flatMap(([, find]) => find(collection) ?? [])
  const own = finding && alternativesOf(finding.found).find((part) => others.some((other) => isSameSchema(part, other)))
  return finding && { ...finding, found: own ?? finding.found }
}

/** The same, or an equal one, as generators write it again in each response. */
export function isSameSchema(schema: Place, other: Place): boolean {
  return schema.value === other.value || schemaText(schema) === schemaText(other)
}

function schemaText({ value }: Place): string {
  return JSON.stringify(value, (name, part) =>
    /^(?:description|title|examples?)$/.test(name) ? undefined : typeof part === 'bigint' ? `${part}n` : part,
  )
}

interface IdQuestion {
  readonly fields: Fields
  readonly collection: string
  readonly parameter: string | undefined
  readonly inPath: Place | undefined
  readonly sent: Fields | undefined
  /** Properties that links of responses pass as the parameter. */
  readonly linked: readonly string[]
}

/** The names of properties, the best first. */
type IdRow = readonly [because: string, find: (question: IdQuestion) => readonly string[]]

/** Which property identifies a record? These may have another type than the parameter, if none has its type. */
const NAMED: readonly IdRow[] = [
  ['it has the name of the path parameter', (question) => named(question, [question.parameter ?? ''])],
  ['a link leads from it to the record', (question) => named(question, question.linked)],
  [
    'it has the last word of the path parameter',
    (question) =>
      endsOf(question).length > 1
        ? named(question, endsOf(question).slice(-1)).filter(
            (name) => isOurs(name, question) && question.fields.get(name)?.required,
          )
        : [],
  ],
  ['it is called id', (question) => named(question, ['id'])],
  // What clients send is more likely a reference, such as `card_token` for `gift_card_token`.
  [
    'it has the end of the name of the path parameter, or the name of the collection',
    (question) => {
      const others = [
        ...named(question, endsOf(question)),
        ...named(question, ['uuid', 'guid', 'gid']),
        ...namedAfter(question),
      ]
      return [...others.filter((name) => isOurs(name, question)), ...others]
    },
  ],
]

/** These must be a text or a number, as the parameter is. */
const GUESSED: readonly IdRow[] = [
  [
    'it is the path of the record',
    (question) => where(question, (field, name) => isPathText(name, field, question.collection, question.parameter)),
  ],
  ['it has the usual name of a key', (question) => named(question, KEY_NAMES)],
  [
    'it is a UUID, or is described as the identifier',
    (question) =>
      where(
        question,
        ({ format, place }, name) => isOurs(name, question) && (format === 'uuid' || isSaidToIdentify(place)),
      ),
  ],
  [
    'it is the only read-only property',
    (question) => {
      const all = where(question, (field, name) => field.readOnly && isScalar(field) && !isTimestamp(name, field))
      return all.length === 1 ? all : []
    },
  ],
  [
    'it is the only property, or the first one, that is called an id and that clients do not send',
    (question) => {
      const all = where(question, (_, name) => /_id$|[a-z]I[dD]$/.test(name) && isOurs(name, question))
      return all.length === 1 || question.fields.keys().next().value === all[0] ? all.slice(0, 1) : []
    },
  ],
  [
    'the path parameter names one of the collection, and it has a name',
    (question) => (isSingular(question.parameter ?? '', question.collection) ? named(question, ['name']) : []),
  ],
]

/** Names of keys, the most usual first. */
const KEY_NAMES = 'pk sid uid key code slug token ref reference handle number'.split(' ')

export interface FoundId {
  readonly property: string
  /** Undefined if no schema has it. */
  readonly field: RecordField | undefined
}

/** @param collection whose responses are asked if the record does not have its id */
export function findId(question: IdQuestion, collection: CollectionShape): Finding<FoundId> | undefined {
  const own = idIn(question)
  if (own !== undefined || question.parameter === undefined) return own
  for (const [where, find] of OTHER_SOURCES) {
    const place = find(collection)
    const fields = place && readRecordFields(place)
    const other = fields && idIn({ ...question, fields })
    if (other !== undefined) return { found: other.found, because: `${other.because}, ${where}` }
  }
  const property = ['id', '_id', '$id'].find((name) => !question.fields.has(name)) ?? '$id'
  const hidden = decide(UNSEEN, { ...question, collection })
  return hidden && { found: { property, field: undefined }, because: hidden.because }
}

interface UnseenQuestion extends Omit<IdQuestion, 'collection'> {
  readonly collection: CollectionShape
}

function createdBy(operations: readonly OperationShape[]) {
  const create = ofCollection('post', operations)
  return create && success(create.place)
}

/** How do clients learn an id that no response has as a property? */
const UNSEEN: readonly Row<UnseenQuestion, true>[] = [
  [
    'the header Location has it',
    ({ collection: { operations } }) => {
      const headers = createdBy(operations)?.response.entries('headers') ?? []
      return headers.some(([name]) => /^location$/i.test(name)) || undefined
    },
  ],
  [
    'the response to POST is the id',
    ({ collection: { operations }, inPath }) => {
      const schema = createdBy(operations)?.schema
      const type = schema && typeOf(schema)
      return (inPath && /^(?:string|integer)$/.test(type ?? '') && type === typeOf(inPath)) || undefined
    },
  ],
  ['a property is the address of the record', (question) => findAddress(question.fields, question.sent) && true],
  [
    'the client chooses it, with PUT',
    ({ collection: { operations } }) =>
      (ofCollection('post', operations) === undefined &&
        operations.some((operation) => operation.effect === 'put' && operation.parameter !== undefined)) ||
      undefined,
  ],
]

/** The links of HAL in a record with an id, if `self` may be the record's address. */
export function findSelfLink(fields: Fields, sent: Fields | undefined): AddressData | undefined {
  const allowsSelf = ([name, { place, required }]: [string, RecordField]) =>
    (name === '_links' || readRecordFields(place).has('self')) &&
    fits({ ...(required && Object(exampleValue(place))), self: { href: 'http://localhost/v1/things/1' } }, place)
  const links = [...fields].filter(([name, { type }]) => type === 'object' && /^_?links$/i.test(name))
  return findAddress(new Map(links.filter(allowsSelf)), sent)
}

/** The property with the address of a record, which clients do not send. */
export function findAddress(fields: Fields, sent: Fields | undefined): AddressData | undefined {
  const forms = [...fields].flatMap(([property, { type, readOnly, place }]): AddressData[] => {
    if (!readOnly && sent?.has(property)) return []
    if (/^(url|uri|href|self|link)$/i.test(property)) return type === 'string' ? [{ property, form: 'text' }] : []
    if (!/^_?links$/i.test(property)) return []
    if (type === 'object') return [{ property, form: 'hal' }]
    const items = type === 'array' ? place.child('items') : undefined
    return items && readRecordFields(items).has('href') ? [{ property, form: 'list' }] : []
  })
  return forms[0]
}

function idIn(question: IdQuestion): Finding<FoundId> | undefined {
  const { fields, inPath, parameter } = question
  const type = inPath && typeOf(inPath)
  const hasType = (name: string) => type === undefined || isCounted(type) === isCounted(fields.get(name)?.type)
  const all = (rows: readonly IdRow[]) =>
    rows.flatMap(([because, find]) =>
      find(question).map((property) => ({ found: { property, field: fields.get(property) }, because })),
    )
  const byName = all(NAMED)
  // The last row is too weak for a property of another type.
  const strong = byName.find(({ found }) => hasType(found.property)) ?? all(NAMED.slice(0, -1))[0]
  if (strong !== undefined || parameter === undefined) return strong
  return all(GUESSED).find(({ found: { property, field } }) => field && hasType(property) && isScalar(field))
}

function named({ fields }: IdQuestion, wanted: readonly string[]): readonly string[] {
  const names = [...fields.keys()]
  return wanted.flatMap((value) => names.find((name) => plainName(name) === plainName(value)) ?? [])
}

function where({ fields }: IdQuestion, test: (field: RecordField, name: string) => boolean): readonly string[] {
  return [...fields].flatMap(([name, field]) => (test(field, name) ? [name] : []))
}

/** `poolName` and `name` of `poolName`. */
function endsOf({ parameter }: IdQuestion): readonly string[] {
  const words = parameter?.match(/[A-Z]?[a-z\d]+|[A-Z]+/g) ?? []
  return words.map((_, index) => plainName(words.slice(index).join('')))
}

/** Such as `itemId` of `/items`. */
function namedAfter({ fields, collection }: IdQuestion): readonly string[] {
  return [...fields.keys()].filter((name) => {
    const [, one] = /^(.+?)_?(?:id|key|uuid|guid|token|code|number|no)$/i.exec(name) ?? []
    return one !== undefined && isSingular(one, collection)
  })
}

/** Clients do not send it. */
function isOurs(name: string, { fields, sent }: IdQuestion): boolean {
  return !sent?.has(name) || fields.get(name)?.readOnly === true
}

function isCounted(type: string | undefined): boolean {
  return type === 'integer' || type === 'number'
}

function isScalar({ type, choices }: RecordField): boolean {
  return (isCounted(type) || type === 'string') && choices === undefined
}

function isSaidToIdentify({ value }: Place): boolean {
  const { title, description } = Object(value)
  return (
    /^id$/i.test(title) || /^(the |a |an )?(unique |primary )+(\w+ )?(id|key|identifier|value)\b/i.test(description)
  )
}

function isTimestamp(name: string, { format }: RecordField): boolean {
  return /^date/.test(format ?? '') || /(_at|At|_on|_?date|Date)$/.test(name)
}

/** Whether a text is the path of its record, as in gRPC: `name` of `/cards/{card}`, or what the contract says is one. */
export function isPathText(
  name: string,
  { type, readOnly, place }: RecordField,
  path: string,
  parameter = '',
): boolean {
  const last = literalsOf(path).at(-1) ?? ''
  const { description, example, pattern, title } = Object(place.value)
  const saysSo = [description, example, pattern, title].some((value) =>
    ` ${String(value).replaceAll(/(?<!\w)\w{1,30}:\/\/\S*/g, '')}`
      .split(/[^\w-](?=[\w-]+\/)/)
      .some((part) => part.startsWith(`${last}/`)),
  )
  const isNamed = plainName(name) === 'name' && isSingular(parameter.replace(/_?id$/i, ''), path)
  return type === 'string' && plainName(parameter) !== plainName(name) && (saysSo || (isNamed && readOnly))
}

/** Properties that links of the responses pass as the parameter. @source OpenAPI specification: Link Object */
export function linkedProperties(
  operations: readonly OperationShape[],
  parameter: string | undefined,
): readonly string[] {
  return operations.flatMap(({ place }) =>
    (success(place)?.response.entries('links') ?? []).flatMap(([, link]) =>
      Object.entries(link.child('parameters')?.object() ?? {}).flatMap(([name, expression]) => {
        const [, property] = /^\$response\.body#\/([^/]+)$/.exec(String(expression)) ?? []
        return property !== undefined && name.replace(/^path\./, '') === parameter ? [property] : []
      }),
    ),
  )
}
