import { isNode, type Place } from '../contract/document.js'
import { exampleValue, fits } from '../contract/example-value.js'
import { concreteType } from '../contract/media-types.js'
import { isOwnId, plainName } from '../contract/names.js'
import type { HeaderData, ResourceAction, View } from '../contract/resource-data.js'
import {
  alternativesOf,
  type Fields,
  isObject,
  isOpen,
  isUnion,
  readAllFields,
  readRecordFields,
  typeOf,
  typesOf,
  variantsOf,
} from '../contract/schema-fields.js'
import { isSameSchema } from './evidence.js'
import { type OperationShape, ofCollection, parametersOf, success } from './operations.js'
import { defined } from './parameters.js'
import type { FoundResource } from './read-resource.js'
import {
  isJsonPatch,
  type ListEnvelope,
  type SentRecord,
  unwrapList,
  unwrapRecord,
  unwrapSent,
} from './record-schema.js'
import { COUNTED, MADE, pageRole, queryRoles, REMOVED, readMeta, SUCCEEDED } from './roles.js'

type Base = Pick<ResourceAction, 'resource' | 'headers' | 'hasConflict' | 'hasMissing' | 'contentType'>
type Outcome = NonNullable<ReturnType<typeof success>>

/** What an operation does to a resource, or why it is mocked. */
export function readAction(operation: OperationShape, found: FoundResource): ResourceAction | string {
  const { effect, place, parameter } = operation
  const outcome = success(place)
  if (outcome === undefined) return `no success is documented (${place.name})`
  const isList = effect === 'get' && parameter === undefined && !found.isSingle
  const headers = readHeaders(outcome.response).filter(
    ({ role }) => role === 'value' || role === 'etag' || (role === 'location' ? effect === 'post' : isList),
  )
  const contentType = outcome.content && concreteType(outcome.content.mediaType)
  const has = (status: string) => place.child('responses')?.child(status) !== undefined
  const base = {
    resource: found.resource.name,
    ...(headers.length === 0 ? {} : { headers }),
    ...(contentType === undefined || contentType === 'application/json' ? {} : { contentType }),
    hasConflict: has('409'),
    ...(effect === 'post' && !operation.path.includes('{') && has('404') && { hasMissing: true }),
  }
  return isList ? readList(operation, found, outcome, base) : readOne(operation, found, outcome, base)
}

/** Headers that the sandbox sends with every response, or that belong to the connection. */
const HEADERS_SENT_ANYWAY =
  /^(x-ratelimit-.*|deprecation|sunset|content-(?!range$).*|date|retry-after|www-authenticate|x-sandbox-.*)$/i

function readHeaders(response: Place): readonly HeaderData[] {
  return response.entries('headers').flatMap(([name, place]): readonly HeaderData[] => {
    if (HEADERS_SENT_ANYWAY.test(name)) return []
    if (/^location$/i.test(name)) return [{ name, role: 'location' }]
    if (/^link$/i.test(name)) return [{ name, role: 'link' }]
    if (/^etag$/i.test(name)) return [{ name, role: 'etag' }]
    if (/^content-range$/i.test(name)) return [{ name, role: 'range' }]
    if (/^(x-)?(total(-count)?|pagination-total|count)$/i.test(name)) return [{ name, role: 'total' }]
    const role = pageRole(name)
    const form = { isRequired: false, isNullable: false, isAddress: /(link|ur[il])$/i.test(name), isNumber: false }
    if (role !== undefined) return [{ name, role: 'page', field: { role, ...form } }]
    const schema = place.child('schema')
    const example = place.child('example')?.value ?? (schema && exampleValue(schema))
    if (!place.flag('required') || example === undefined || example === null) return []
    return [{ name, role: 'value', value: String(example) }]
  })
}

function readList(
  operation: OperationShape,
  found: FoundResource,
  { schema, status, response, content }: Outcome,
  base: Base,
): ResourceAction | string {
  const { resource, fields, isWritten } = found
  const isUndocumented = schema === undefined && (content !== undefined || !hasContent(response)) && isWritten
  const list: ListEnvelope | undefined =
    schema === undefined ? (isUndocumented ? {} : undefined) : unwrapList(schema, resource.path)
  if (list === undefined) return `the response is not a list of records (${(schema ?? response).name})`
  const { items, envelope, outer, inner } = list
  const wrapped = items && unwrapRecord(items, resource.path)
  const own = wrapped?.outer === undefined && wrapped?.isListed === undefined ? wrapped?.envelope : undefined
  const part = readView(own === undefined ? items : wrapped?.schema, found)
  if (typeof part === 'string') return part
  const view =
    own === undefined ? part : { ...part, ...besideOf(wrapped?.fields, own, resource.id.property), envelope: own }
  const query = queryRoles(parametersOf(operation), fields)
  const isCursorLess = query.cursor === undefined
  const meta = list.fields && readMeta(list.fields, outer ?? envelope, COUNTED, isCursorLess)
  if (typeof meta === 'string') return meta
  const innerMeta = inner && readMeta(inner, envelope, COUNTED, isCursorLess)
  if (typeof innerMeta === 'string') return innerMeta
  return {
    ...base,
    kind: 'list',
    status: status || 200,
    hasBody: true,
    ...defined({ envelope, outer, view, meta, innerMeta }),
    query,
  }
}

/** `cursor` of `{ node, cursor }`, and what each item must have. */
function besideOf(fields: Fields = new Map(), envelope: string, id: string): Pick<View, 'beside' | 'cursor'> {
  const others = [...fields].filter(([name]) => name !== envelope)
  const [cursor] = others.find(([name, { type }]) => /^cursor$/i.test(name) && type === 'string') ?? []
  const required = others.filter(([name, { required }]) => required && name !== cursor)
  const beside = Object.fromEntries(required.map(([name, { place }]) => [name, exampleValue(place)]))
  return { ...(required.length > 0 && { beside }), ...(cursor !== undefined && { cursor: [cursor, id] }) }
}

function hasContent(response: Place): boolean {
  return response.children('content').length > 0
}

function readOne(
  operation: OperationShape,
  found: FoundResource,
  { schema, status, response, content }: Outcome,
  given: Base,
): ResourceAction | string {
  const { effect } = operation
  const isItem = operation.parameter !== undefined || found.isSingle
  const { resource } = found
  const isJson = content !== undefined
  const idParameter = effect === 'delete' && !isItem ? idInQuery(operation, found) : undefined
  const isRemoval = effect === 'delete' && (isItem || idParameter !== undefined || sendsId(operation, found))
  if (hasContent(response) && !isJson) return `the response is not JSON (${response.name})`
  const { isBulk = false, made } = isItem ? {} : (unwrapSent(operation, found.fields) ?? {})
  const many =
    made?.items && made.outer === undefined ? ({ ...made, schema: made.items, isListed: true } as const) : undefined
  const record = schema && (many ?? unwrapRecord(schema, resource.path) ?? { schema })
  const meta = record?.fields && readMeta(record.fields, record.envelope, isBulk ? MADE : SUCCEEDED)
  if (typeof meta === 'string') return meta
  const view = readView(record?.schema, found)
  const base = {
    ...given,
    hasBody: isJson || effect === 'get' || (effect === 'post' && !found.isDocumented),
    ...defined({ outer: record?.outer, envelope: record?.envelope, isListed: record?.isListed }),
    ...(meta === undefined || Object.keys(meta).length === 0 ? {} : { meta }),
    ...(typeof view === 'object' && { view }),
  }
  const inBody = isRemoval && !isItem && (idParameter === undefined ? { isIdInBody: true } : { idParameter })
  if (isRemoval && schema === undefined) return { ...base, ...inBody, kind: 'remove', status: status || 204 }
  if (typeof view === 'string' || (isRemoval && view !== undefined)) {
    const isOther = isRemoval || (effect !== 'get' && String(view).startsWith(NO_RECORD))
    const isText = isOther && schema !== undefined && /^(?:boolean|string|integer|number)$/.test(typeOf(schema) ?? '')
    const literal = isText
      ? typeOf(schema) === 'boolean' && fits(true, schema)
        ? true
        : exampleValue(schema)
      : undefined
    if (literal !== undefined) {
      const said = { ...given, ...inBody, hasBody: true, literal }
      return isRemoval
        ? { ...said, kind: 'remove', status: status || 200 }
        : readWrite(operation, found, { ...said, status })
    }
    const notice =
      isOther && isObject(schema) ? readMeta(readRecordFields(schema), undefined, isBulk ? MADE : REMOVED) : undefined
    if (notice === undefined || typeof notice === 'string') return notice ?? (view as string)
    const told = { ...given, ...inBody, status, hasBody: true, isNotice: true, meta: notice }
    return isRemoval ? { ...told, kind: 'remove', status: status || 200 } : readWrite(operation, found, told)
  }
  if (isRemoval) return { ...base, ...inBody, kind: 'remove', status: status || 200 }
  if (effect === 'get') return { ...base, kind: 'get', status: status || 200 }
  return readWrite(operation, found, { ...base, status })
}

const WRITES = { 'post false': ['create', 201], 'put true': ['replace', 200], 'patch true': ['merge', 200] } as const

function isItemWrite({ effect, parameter }: OperationShape): boolean {
  return parameter !== undefined && effect === 'patch'
}

/** The query parameter that names the record, as in `DELETE /things?id=1`. */
function idInQuery(operation: OperationShape, { resource: { id } }: FoundResource): string | undefined {
  return namesInQuery(operation, true).find((name) => plainName(name) === plainName(id.property))
}

/** The one that names a new record. @source google.aip.dev/133, "User-specified IDs" */
function newIdInQuery(operation: OperationShape, { resource: { id, path } }: FoundResource): string | undefined {
  return id.kind === 'integer' ? undefined : namesInQuery(operation).find((name) => isOwnId(name, path))
}

function namesInQuery(operation: OperationShape, mustBeSent = false): readonly string[] {
  return parametersOf(operation)
    .filter((parameter) => parameter.string('in') === 'query' && (!mustBeSent || parameter.flag('required')))
    .flatMap((parameter) => parameter.string('name') ?? [])
}

/** Whether the body names the record: `POST /things/delete` with its id. */
function sendsId(operation: OperationShape, { resource: { id }, fields }: FoundResource): boolean {
  const sent = unwrapSent(operation, fields)?.schema
  return sent !== undefined && readRecordFields(sent).has(id.property)
}

function readWrite(
  operation: OperationShape,
  found: FoundResource,
  { status, ...base }: Omit<ResourceAction, 'kind'>,
): ResourceAction | string {
  const { resource, fields, record, operations, isSingle } = found
  const { effect } = operation
  const isItem = operation.parameter !== undefined || isSingle
  // `POST /carts` may need nothing, or other things than a cart has.
  const made = success(operation.place)
  const isMade = made?.schema !== undefined && [201, 202].includes(made.status) && isSameSchema(made.schema, record)
  const makes = isMade && effect === 'post' && !isItem
  const body = unwrapSent(operation, fields)
  if (addsWithoutBody(operation, found))
    return { ...base, kind: 'merge', status: status || 200, createdStatus: status || 201 }
  if (body === undefined && !makes) return `the request has no JSON object (${operation.place.name})`
  if (effect === 'patch' && isItem && body !== undefined && isJsonPatch(body))
    return { ...base, kind: 'patch', status: status || 200, bodyEnvelope: '', isBulk: true }
  const { aliases } = resource
  const sent: Partial<SentRecord> = body ?? {}
  const own: Fields = body === undefined ? new Map() : readRecordFields(body.schema)
  const names = [...own.keys()].map((name) => aliases?.[name] ?? name)
  if (!makes && names.length > 0 && fields.size > 0 && !names.some((name) => readAllFields(record).has(name)))
    return `the request has no property of the record (${body?.schema.name})`
  const ignores = [...own].flatMap(([name, { readOnly }]) =>
    readOnly && resource.properties[name]?.readOnly === false && name !== resource.id.property ? [name] : [],
  )
  const isBulk = sent.isBulk && !isItem
  if (sent.isListed && sent.envelope === undefined && !isBulk)
    return `the request is a list, and ${operation.method.toUpperCase()} changes one record (${sent.schema?.name})`
  const write = {
    ...base,
    ...(ignores.length > 0 && { ignores }),
    ...(sent.isListed || sent.envelope !== undefined ? { bodyEnvelope: sent.envelope ?? '' } : {}),
    ...(sent.isListed && { isBodyListed: true }),
    ...(isBulk && { isBulk }),
  }
  const isMissing = isSingle && resource.single?.initial === undefined
  const isUpdate = effect === 'post' && isItem && !isMissing && !operations.some(isItemWrite)
  const written = isMissing && effect === 'post' ? 'put true' : `${effect} ${isItem}`
  const known = isUpdate ? (['merge', 200] as const) : WRITES[written as keyof typeof WRITES]
  const isCreatedByPost = ofCollection('post', operations) !== undefined
  const has = (code: string) => operation.place.child('responses')?.child(code) !== undefined
  const creates = known?.[0] === 'replace' && (isMissing || has('201') || !(has('404') || isCreatedByPost))
  const left =
    names.length === 0 ? [] : [...fields.keys()].filter((name) => !names.includes(name) || ignores.includes(name))
  const keeps = left.length > 0 && { keeps: left }
  if (known !== undefined)
    return {
      ...write,
      ...(known[0] === 'replace' && keeps),
      ...(known[0] === 'create' && !isBulk && defined({ idParameter: newIdInQuery(operation, found) })),
      kind: known[0],
      status: has('201') && has('200') ? known[1] : status || known[1],
      ...(creates && { createdStatus: has('201') ? 201 : status || known[1] }),
    }
  const isOnlyWrite = effect === 'put' && !isCreatedByPost
  if ((effect === 'put' || effect === 'patch') && names.includes(resource.id.property)) {
    const kind = effect === 'put' ? 'replace' : 'merge'
    const created = isOnlyWrite && { createdStatus: status || 200 }
    return { ...write, ...(kind === 'replace' && keeps), kind, status: status || 200, isIdInBody: true, ...created }
  }
  if (isOnlyWrite) return { ...write, kind: 'create', status: status || 200 }
  return `${operation.method.toUpperCase()} is not an operation of a ${isItem ? 'record' : 'collection'} (${operation.place.name})`
}

/** Whether an operation only names a record below another that it adds: `PUT /projects/{id}/members/{userId}`. */
export function addsWithoutBody(operation: OperationShape, { resource, operations }: FoundResource): boolean {
  const { effect, parameter, place } = operation
  const isBelow = parameter !== undefined && resource.path.includes('{')
  if (effect !== 'put' || !isBelow || place.child('requestBody') !== undefined) return false
  const isRemoved = operations.some((other) => other.effect === 'delete' && other.parameter !== undefined)
  return isRemoved && ofCollection('post', operations) === undefined
}

const NO_RECORD = 'the response is not a record'

/**
 * What a response has of a record, by its schema: undefined for all of it; or why it is not a record.
 *
 * | the schema | the response has |
 * | --- | --- |
 * | is of the type of the id | the id |
 * | declares other properties only | no record |
 * | declares fewer, and does not say that there may be more | those |
 * | has the id under another name, such as `productId` | the id under that name |
 * | requires a property that a record may lack, or declares it with another type | a value made for its schema |
 */
function readView(
  schema: Place | undefined,
  { resource: { id, path, properties }, fields, record, isDocumented }: FoundResource,
): View | string | undefined {
  if (schema === undefined) return undefined
  const noRecord = `${NO_RECORD} (${schema.name})`
  const idType = id.kind === 'integer' ? 'integer' : 'string'
  if (!isObject(schema)) return typeOf(schema) === idType ? { isId: true } : noRecord
  const own = readRecordFields(schema)
  const names = [...new Set([id.property, ...Object.keys(properties)])]
  const shared = names.filter((name) => own.has(name))
  const [idName] = own.has(id.property)
    ? []
    : [...own].flatMap(([name, { type }]) =>
        type === idType && !fields.has(name) && isOwnId(name, path) ? [name] : [],
      )
  const hasNothing = shared.length === 0 && idName === undefined
  if (fields.size > 0 && hasNothing && schema.value !== record.value) return noRecord
  const fills: Record<string, unknown> = {}
  const unlike = new Set<string>()
  for (const [name, { required, place }] of own) {
    const { fill, ...property } = properties[name] ?? { required: false }
    const kept = fields.get(name)?.place
    const [here, there] = kept === undefined || kept.value === place.value ? [] : [typesOf(place), typesOf(kept)]
    const isUnlike = here && there && [...there].every((type) => !here.has(type))
    if (isUnlike && name === id.property) return `the id "${name}" has another type elsewhere (${place.name})`
    if (isUnlike) unlike.add(name)
    else if (fill?.kind === 'value' && !fits(fill.value, place))
      return `the property "${name}" of its response contradicts its schema elsewhere (${place.name})`
    // Without a body, an undocumented record has nothing.
    const isThere = name === id.property || (property.required && isDocumented) || fill !== undefined
    if (!required || name === idName || (isThere && !isUnlike)) continue
    const isSuccess = REMOVED[0]?.[1].test(name) && fits(true, place)
    const value = isSuccess ? true : exampleValue(place)
    if (value === undefined)
      return `nothing says how to fill the required property "${name}" of its response (${place.name})`
    fills[name] = value
  }
  const isClosed = isNode(schema.value) && schema.value.additionalProperties === false
  if (isClosed && own.size === 0) return noRecord
  const isSummary =
    own.size > 0 && !isOpen(schema) && variantsOf(schema).every((variant) => alternativesOf(variant).length < 2)
  const isPart = shared.length < names.length && (isClosed || isSummary)
  const only = isPart || unlike.size > 0 ? names.filter((name) => own.has(name) && !unlike.has(name)) : undefined
  const sample = isUnion(schema) && schema.value !== record.value ? exampleValue(record) : undefined
  if (isNode(sample) && fits(sample, record, 'response') && !fits({ ...fills, ...sample }, schema, 'response'))
    return `a record matches none of the alternatives of its response, or several (${schema.name})`
  const idAs = idName === undefined ? undefined : ([idName, id.property] as const)
  const view = defined({ only, fills: Object.keys(fills).length > 0 ? fills : undefined, idAs })
  return Object.keys(view).length > 0 ? view : undefined
}
