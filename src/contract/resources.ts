import { isNode, jsonContent, type Node, type Place } from './document.js'
import { fieldReader } from './field-reader.js'
import { stringifyJson } from './json.js'
import { patternText } from './pattern-text.js'
import {
  type ErrorData,
  type Fill,
  type HeaderData,
  type IdData,
  MESSAGE,
  type MetaField,
  type MetaRole,
  type ParentData,
  type PropertyData,
  placeInState,
  type QueryRoles,
  type ResourceAction,
  type ResourceData,
} from './resource-data.js'

export interface ResourceReading {
  readonly resources: readonly ResourceData[]
  /** By operation id (`operationId`, or method and path). */
  readonly actions: Readonly<Record<string, ResourceAction>>
  /** Why the other operations are mocked, by operation id. */
  readonly mocked: Readonly<Record<string, string>>
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']
const PARAMETER = /^\{([^{}]*)\}$/

interface PathShape {
  readonly path: string
  readonly item: Place
  readonly collection: string
  /** The parameter that identifies one record; undefined for the collection itself. */
  readonly parameter: string | undefined
}

type Collections = ReadonlyMap<string, readonly PathShape[]>

export const NO_RESOURCES: ResourceReading = { resources: [], actions: {}, mocked: {} }

export function readResources(root: Place): ResourceReading {
  const collections = groupByCollection(root)
  const actions: Record<string, ResourceAction> = {}
  const mocked: Record<string, string> = {}
  const found = new Map<string, FoundResource>()
  for (const [path, paths] of collections) {
    const read = readResource(path, paths, collections)
    if ('reason' in read) for (const { operationId } of paths.flatMap(operationsOf)) mocked[operationId] = read.reason
    else found.set(path, read)
  }
  const resources = [...found].flatMap(([path, one]) => {
    const origin = [...found.values()].find((other) => isViewOf(one, other))
    const own = (collections.get(path) ?? []).flatMap(operationsOf)
    for (const operation of own) {
      const action = readAction(operation, { ...one, resource: (origin ?? one).resource })
      if (typeof action === 'string') mocked[operation.operationId] = action
      else actions[operation.operationId] = origin === undefined ? action : asView(action, one.resource)
    }
    const isStateful = own.some(({ operationId }) => Object.hasOwn(actions, operationId))
    return isStateful && origin === undefined ? [one.resource] : []
  })
  const kept = resources.flatMap((resource) => {
    const own = Object.entries(actions).filter(([, action]) => action.resource === resource.name)
    const seeded = withExamples(
      resource,
      own.map(([, action]) => action),
      (collections.get(resource.path) ?? []).flatMap(operationsOf),
    )
    if (typeof seeded !== 'string') return [seeded]
    for (const [id] of own) {
      delete actions[id]
      mocked[id] = seeded
    }
    return []
  })
  return withShortNames({ resources: kept, actions, mocked })
}

function groupByCollection(root: Place): Collections {
  const collections = new Map<string, PathShape[]>()
  for (const [path, item] of root.children('paths')) {
    const shape = shapeOf(path, item)
    const known = collections.get(shape.collection)
    if (known === undefined) collections.set(shape.collection, [shape])
    else known.push(shape)
  }
  return collections
}

function asView(action: ResourceAction, { parents }: ResourceData): ResourceAction {
  return parents.length === 0 ? action : { ...action, pathFilters: parents }
}

/** A resource with the records that it starts with, or why its operations are mocked. */
function withExamples(
  resource: ResourceData,
  actions: readonly ResourceAction[],
  operations: readonly OperationShape[],
): ResourceData | string {
  if (resource.path === '/pets') return resource
  if (!actions.some(({ kind }) => kind === 'list' || kind === 'get')) return 'no operation reads its records'
  if (actions.some(({ kind }) => kind === 'create')) return resource
  const fixed = { ...resource, isFixed: true } as const
  if (actions.every(({ kind }) => kind === 'list') && placeInState(fixed) === 'orders') return fixed
  const examples = listExamples(resource, operations)
  if (examples.length > 0) return { ...fixed, examples }
  return 'no operation creates its records, and the list has no example'
}

function shapeOf(path: string, item: Place): PathShape {
  const bare = path.replace(/(?<=.)\/$/, '')
  const segments = bare.split('/')
  const [, parameter] = PARAMETER.exec(segments.at(-1) ?? '') ?? []
  const isItem = parameter !== undefined && segments.length > 2 && !PARAMETER.test(segments.at(-2) ?? '')
  return {
    path,
    item,
    collection: isItem ? segments.slice(0, -1).join('/') : bare,
    parameter: isItem ? parameter : undefined,
  }
}

/** The operationId, or method and path. A HEAD with the operationId of the GET beside it is the same to its author. */
export function operationIdOf(item: Place, method: string, path: string): string {
  const id = item.child(method)?.string('operationId')
  const isTwin = method === 'head' && id === item.child('get')?.string('operationId')
  return id === undefined || isTwin ? `${method.toUpperCase()}${path}` : id
}

interface OperationShape {
  readonly operationId: string
  readonly method: string
  readonly place: Place
  readonly isItem: boolean
  readonly item: Place
}

function operationsOf({ path, item, parameter }: PathShape): readonly OperationShape[] {
  return METHODS.flatMap((method) => {
    const place = item.child(method)
    if (place === undefined) return []
    const operationId = operationIdOf(item, method, path)
    return [{ operationId, method, place, isItem: parameter !== undefined, item }]
  })
}

/** The records of the first example of a list. */
function listExamples({ id, path }: ResourceData, operations: readonly OperationShape[]) {
  const list = operations.find(({ method, isItem }) => method === 'get' && !isItem)
  const outcome = list && success(list.place)
  const envelope = outcome?.schema && unwrapList(outcome.schema, path)?.envelope
  const value =
    envelope === undefined ? outcome?.example : isNode(outcome?.example) ? outcome.example[envelope] : undefined
  const records: unknown[] = Array.isArray(value) ? value : []
  return records.filter((record): record is Node => isNode(record) && record[id.property] !== undefined)
}

function literalsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '' && !PARAMETER.test(segment))
}

/** Shortens names, which are paths, to their last segment, else to the segments without parameters, where that is enough. */
function withShortNames({ resources, actions, mocked }: ResourceReading): ResourceReading {
  const lastOf = (path: string) => literalsOf(path).at(-1) ?? path
  const literalsIn = (path: string) => literalsOf(path).join('/')
  const isOwn = (path: string, shorten: (path: string) => string) =>
    resources.every((one) => one.path === path || shorten(one.path) !== shorten(path))
  const short = (path: string) => [lastOf, literalsIn].find((shorten) => isOwn(path, shorten))?.(path) ?? path.slice(1)
  const shortParents = (parents: readonly ParentData[]) =>
    parents.map(({ resource, ...parent }) => ({
      ...parent,
      ...(resources.some(({ name }) => name === resource) ? { resource: short(resource ?? '') } : {}),
    }))
  const shortAction = ({ pathFilters, ...action }: ResourceAction): ResourceAction => ({
    ...action,
    resource: short(action.resource),
    ...(pathFilters && { pathFilters: shortParents(pathFilters) }),
  })
  return {
    resources: resources.map((one) => ({ ...one, name: short(one.name), parents: shortParents(one.parents) })),
    actions: Object.fromEntries(Object.entries(actions).map(([id, action]) => [id, shortAction(action)])),
    mocked,
  }
}

interface FoundResource {
  readonly resource: ResourceData
  readonly fields: Fields
  readonly record: Place
  /** Has a path for one record, or takes new ones: not only a list. */
  readonly isWritten: boolean
}

/** `/pets/findByStatus` and `/owners/{ownerId}/pets` are views of `/pets`: lists of the same records. */
function isViewOf(one: FoundResource, origin: FoundResource): boolean {
  if (one === origin || one.record.value !== origin.record.value) return false
  const [own, others] = [one.resource.parents, origin.resource.parents]
  if (others.length > 0 || !origin.isWritten) return false
  return own.length === 0 ? !one.isWritten : own.every(({ property }) => property !== undefined)
}

function readResource(
  path: string,
  paths: readonly PathShape[],
  collections: Collections,
): FoundResource | { readonly reason: string } {
  if (paths.some(({ item }) => item.child('x-sandbox-resource')?.value === false))
    return { reason: 'x-sandbox-resource is false' }
  const operations = paths.flatMap(operationsOf)
  const record = recordSchema(operations, path) ?? sentSchema(operations, path)
  if (record === undefined) return { reason: 'no response describes a record' }
  const fields = readRecordFields(record)
  const parameter = paths.find((shape) => shape.parameter !== undefined)?.parameter
  const body = operations.find(({ method, isItem }) => method === 'post' && !isItem)
  const sent = sentSchema(operations, path)
  const sentFields = sent === undefined ? undefined : readRecordFields(sent)
  const isDocumented = recordSchema(operations, path) !== undefined
  const id = readId(fields, parameter ?? parameterElsewhere(record, collections), paths, sentFields, isDocumented)
  if (id === undefined) return { reason: 'no property of the record identifies it' }
  if (id.kind === 'from-client' && parameterSchema(paths)?.string('format') === 'uuid')
    return { reason: `the path takes a UUID, but "${id.property}" may be any text` }
  const undeclared = isDocumented ? requiredNames(record).find((name) => !fields.has(name)) : undefined
  if (undeclared !== undefined) return { reason: `nothing says how to fill the required property "${undeclared}"` }
  const properties: Record<string, PropertyData> = {}
  for (const [name, field] of fields) {
    const isRequired = isDocumented && field.required && name !== id.property
    const fill = isRequired || field.default !== undefined || isTimestamp(name, field) ? fillOf(name, field) : undefined
    if (isRequired && fill === undefined && sentFields?.get(name)?.required !== true)
      return { reason: `nothing says how to fill the required property "${name}"` }
    properties[name] = {
      readOnly: field.readOnly,
      required: field.required,
      ...(field.choices && { choices: field.choices }),
      ...(fill === undefined ? {} : { fill }),
    }
  }
  const resource = {
    name: path,
    path,
    parents: readParents(path, fields, id, collections),
    id,
    properties,
    unique: [...fields].filter(([, { isUnique }]) => isUnique).map(([name]) => name),
  }
  const isWritten = parameter !== undefined || body !== undefined
  return { resource, fields, record, isWritten }
}

/** The path parameter of the same record elsewhere: `key` for `/pets/recent` beside `/pets/{key}`. */
function parameterElsewhere({ value }: Place, collections: Collections): string | undefined {
  for (const [path, paths] of collections) {
    const parameter = paths.find((shape) => shape.parameter !== undefined)?.parameter
    if (parameter === undefined) continue
    if (recordSchema(paths.flatMap(operationsOf), path)?.value === value) return parameter
  }
  return undefined
}

/** The body of POST, without its envelope. */
function sentSchema(operations: readonly OperationShape[], collection: string): Place | undefined {
  const create = operations.find(({ method, isItem }) => method === 'post' && !isItem)
  const schema = create && jsonContent(create.place.child('requestBody'))?.child('schema')
  return schema && unwrapRecord(schema, collection)?.schema
}

/** The schema of one record: what GET on the item returns, else POST, else the items of the list. */
function recordSchema(operations: readonly OperationShape[], collection: string): Place | undefined {
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
function success(operation: Place): Success | undefined {
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

/**
 * The documented errors that have an example, or that have another shape than the errors of the service. The service's own
 * 400 names the violations, unlike an example.
 */
function readErrors(operation: Place): readonly ErrorData[] {
  const documented = operation.children('responses')
  return (['400', '404', '409'] as const).flatMap((status) => {
    const [, response] =
      documented.find(([name]) => name === status) ?? documented.find(([name]) => /^4XX$/i.test(name)) ?? []
    if (response === undefined) return []
    const [contentType, content] = response.children('content').find(([name]) => /\bjson\b/i.test(name)) ?? []
    if (contentType === undefined || content === undefined) return []
    const schema = content.child('schema')
    const own = ['code', 'message', 'status']
    const isOwnShape =
      /^application\/json/i.test(contentType) &&
      schema !== undefined &&
      readRecordFields(schema).get('code')?.type === 'string' &&
      [...readRecordFields(schema)].every(([name, { required }]) => !required || own.includes(name))
    if (isOwnShape && status === '400') return []
    const value = exampleOf(content) ?? (isOwnShape || schema === undefined ? undefined : exampleError(schema, status))
    return value === undefined ? [] : [{ status: Number(status), contentType, body: stringifyJson(value) }]
  })
}

const ERRORS = {
  400: { code: 'invalid_request', sentence: MESSAGE },
  404: { code: 'not_found', sentence: 'Not found' },
  409: { code: 'conflict', sentence: MESSAGE },
}

/** The simplest error of a schema, with a sentence where it has a place for one. */
function exampleError(schema: Place, status: '400' | '404' | '409'): unknown {
  const value = exampleValue(schema)
  if (!isNode(value)) return value
  const { code, sentence } = ERRORS[status]
  const texts = [...readRecordFields(schema)].flatMap(([name, { place, type, required }]) => {
    const isText = type === 'string' && exampleValue(place) === ''
    if (name === 'status' && type === 'integer') return [[name, Number(status)]]
    if (isText && name === 'code') return [[name, code]]
    return isText && (required || /^(message|detail|title|error)$/.test(name)) ? [[name, sentence]] : []
  })
  return { ...value, ...Object.fromEntries(texts) }
}

function exampleOf(content: Place | undefined): unknown {
  return (content?.children('examples')[0]?.[1].child('value') ?? content?.child('example'))?.value
}

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
function unwrapRecord(schema: Place, collection: string): RecordEnvelope | undefined {
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

function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

interface ListEnvelope {
  readonly items?: Place
  readonly envelope?: string
  readonly fields?: Fields
}

/** A list of records: an array, or an object with one array of objects; of several, the one with the usual name. */
function unwrapList(schema: Place, collection: string): ListEnvelope | undefined {
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

function readAction(
  { method, place, isItem, item }: OperationShape,
  { resource, fields, isWritten }: FoundResource,
): ResourceAction | string {
  const outcome = success(place)
  if (outcome === undefined) return 'no success is documented'
  const schema = outcome.schema
  const isList = method === 'get' && !isItem
  const headers = outcome.headers.filter(
    ({ role }) => role === 'value' || (role === 'location' ? method === 'post' : isList),
  )
  const errors = readErrors(place)
  const base = {
    resource: resource.name,
    ...(headers.length === 0 ? {} : { headers }),
    ...(errors.length === 0 ? {} : { errors }),
    hasConflict: place.children('responses').some(([status]) => status === '409'),
  }
  if (method === 'get' && !isItem) {
    const isUndocumented = schema === undefined && !outcome.hasContent && isWritten
    const list: ListEnvelope | undefined =
      schema === undefined ? (isUndocumented ? {} : undefined) : unwrapList(schema, resource.path)
    if (list === undefined) return 'the response is not a list of records'
    const missing = missingProperty(list.items, resource)
    if (missing !== undefined) return missing
    const meta = list.fields && readMeta(list.fields, list.envelope, COUNTED)
    if (typeof meta === 'string') return meta
    return {
      ...base,
      kind: 'list',
      status: outcome.status || 200,
      hasBody: true,
      ...(list.envelope === undefined ? {} : { envelope: list.envelope }),
      query: queryRoles([...item.items('parameters'), ...place.items('parameters')], fields),
      ...(meta === undefined ? {} : { meta }),
    }
  }
  const record = schema && unwrapRecord(schema, resource.path)
  if (schema !== undefined && record === undefined) return 'the response is not a record'
  const meta = record?.fields && readMeta(record.fields, record.envelope, [])
  if (typeof meta === 'string') return meta
  const hasId = record !== undefined && readRecordFields(record.schema).has(resource.id.property)
  const isGetOrCreate = method === 'get' || method === 'post'
  if (outcome.hasContent && !outcome.isJson) return 'the response is not JSON'
  const body = {
    hasBody: outcome.isJson || isGetOrCreate,
    ...(record?.envelope === undefined ? {} : { envelope: record.envelope }),
    ...(meta === undefined || Object.keys(meta).length === 0 ? {} : { meta }),
  }
  const isFreeForm = Object.keys(resource.properties).length === 0
  if (method === 'delete' && isItem) {
    const remove = { ...base, kind: 'remove', status: outcome.status || (schema === undefined ? 204 : 200) } as const
    const isRecord = hasId && missingProperty(record?.schema, resource) === undefined
    if (schema === undefined || isRecord || isFreeForm) return { ...remove, ...body }
    const notice = readMeta(readRecordFields(schema), undefined, REMOVED)
    return typeof notice === 'string' ? notice : { ...remove, hasBody: true, isNotice: true, meta: notice }
  }
  if (schema !== undefined && !hasId && !isFreeForm) return 'the response is not a record'
  const missing = missingProperty(record?.schema, resource)
  if (missing !== undefined) return missing
  if (method === 'get' && isItem) return { ...base, kind: 'get', status: outcome.status || 200, ...body }
  const content = jsonContent(place.child('requestBody'))?.child('schema')
  const sent = content && unwrapRecord(content, resource.path)
  if (sent === undefined) return 'the request has no JSON object'
  const bodyEnvelope = sent.envelope === undefined ? {} : { bodyEnvelope: sent.envelope }
  const kinds = { 'post false': ['create', 201], 'put true': ['replace', 200], 'patch true': ['merge', 200] } as const
  const known = kinds[`${method} ${isItem}` as keyof typeof kinds]
  if (known !== undefined)
    return { ...base, kind: known[0], status: outcome.status || known[1], ...body, ...bodyEnvelope }
  if ((method === 'put' || method === 'patch') && readRecordFields(sent.schema).has(resource.id.property))
    return {
      ...base,
      kind: method === 'put' ? 'replace' : 'merge',
      status: outcome.status || 200,
      ...body,
      ...bodyEnvelope,
      isIdInBody: true,
    }
  return `${method.toUpperCase()} is not an operation of a ${isItem ? 'record' : 'collection'}`
}

/** Why records cannot be the response of a schema: it requires a property that not every record has. */
function missingProperty(schema: Place | undefined, { id, properties }: ResourceData): string | undefined {
  if (schema === undefined) return undefined
  for (const [name, { required }] of readRecordFields(schema)) {
    const property = properties[name]
    if (required && name !== id.property && property?.required !== true && property?.fill === undefined)
      return `nothing says how to fill the required property "${name}" of its response`
  }
  return undefined
}

function readId(
  fields: Fields,
  parameter: string | undefined,
  paths: readonly PathShape[],
  sent: Fields | undefined,
  isDocumented: boolean,
): IdData | undefined {
  const name =
    idProperty(fields, parameter, parameterType(paths)) ?? (fields.size === 0 || !isDocumented ? 'id' : undefined)
  if (name === undefined) return undefined
  const field = fields.get(name)
  const type = field?.type ?? parameterType(paths) ?? 'integer'
  if (type === 'integer' || type === 'number') return { property: name, kind: 'integer' }
  if (type !== 'string') return undefined
  const isSent = sent?.get(name) !== undefined && sent.get(name)?.readOnly !== true && field?.readOnly !== true
  const isChosen = isSent && field?.format !== 'uuid' && (sent?.get(name)?.required === true || name !== 'id')
  return { property: name, kind: isChosen ? 'from-client' : 'uuid' }
}

/**
 * The property with the name of the path parameter, in any case; else `id`; else the property at the end of its name,
 * such as `name` for `pool_name`. The property has the type of the parameter.
 */
function idProperty(fields: Fields, parameter: string | undefined, type: string | undefined): string | undefined {
  const words = parameter?.match(/[A-Z]?[a-z\d]+|[A-Z]+/g) ?? []
  const ends = words.map((_, index) => words.slice(index).join(''))
  const wanted = [parameter ?? '', 'id', ...ends, 'uuid', 'guid', 'gid'].map(plainName)
  const found = wanted.flatMap((one) => [...fields.keys()].find((name) => plainName(name) === one) ?? [])
  const isCounted = (one: string | undefined) => one === 'integer' || one === 'number'
  return found.find((name) => type === undefined || isCounted(type) === isCounted(fields.get(name)?.type)) ?? found[0]
}

function parameterType(paths: readonly PathShape[]): string | undefined {
  const schema = parameterSchema(paths)
  return schema && typeOf(schema)
}

function parameterSchema(paths: readonly PathShape[]): Place | undefined {
  const shape = paths.find(({ parameter }) => parameter !== undefined)
  if (shape === undefined) return undefined
  const parameters = [
    ...shape.item.items('parameters'),
    ...operationsOf(shape).flatMap(({ place }) => place.items('parameters')),
  ]
  return parameters
    .find((one) => one.string('in') === 'path' && one.string('name') === shape.parameter)
    ?.child('schema')
}

function readParents(path: string, fields: Fields, id: IdData, collections: Collections): readonly ParentData[] {
  const segments = path.split('/')
  return segments.flatMap((segment, index) => {
    const [, parameter] = PARAMETER.exec(segment) ?? []
    if (parameter === undefined) return []
    const collection = segments.slice(0, index).join('/')
    return [
      {
        parameter,
        ...(collections.has(collection) ? { resource: collection } : {}),
        ...(fields.has(parameter) && parameter !== id.property ? { property: parameter } : {}),
      },
    ]
  })
}

const QUERY_NAMES = {
  limit: /^(limit|per_?page|page_?size|max_?results)$/i,
  offset: /^(offset|skip)$/i,
  page: /^(page|page_?number)$/i,
  cursor: /^(cursor|after|starting_?after|page_?token|next_?token|iterator)$/i,
  sort: /^(sort|sort_?by|order_?by|ordering)$/i,
  order: /^(order|sort_?order|direction|sort_?dir)$/i,
} as const

const COUNTS: ReadonlySet<string> = new Set(['limit', 'offset', 'page'])

function queryRoles(parameters: readonly Place[], fields: Fields): QueryRoles {
  const roles: { -readonly [Role in keyof typeof QUERY_NAMES]?: string } = {}
  const filters: (readonly [string, string])[] = []
  for (const parameter of parameters) {
    const name = parameter.string('name')
    if (name === undefined || parameter.string('in') !== 'query') continue
    if (fields.has(name)) {
      if (!filters.some(([known]) => known === name)) filters.push([name, name])
      continue
    }
    const type = typeOf(parameter.child('schema') ?? parameter)
    for (const [role, pattern] of Object.entries(QUERY_NAMES) as [keyof typeof QUERY_NAMES, RegExp][])
      if (pattern.test(name))
        if (type === 'integer' || !COUNTS.has(role)) roles[role] ??= name
        // A text is the token of a page.
        else if (role === 'offset') roles.cursor ??= name
  }
  return { ...roles, filters }
}

const COUNTED: readonly (readonly [MetaRole, RegExp])[] = [
  ['total', /^(total|[a-z_]*total_?(count|items|results|entries|records|elements)|[a-z]+_count|[a-zA-Z]+Count)$/],
  ['count', /^(count|size)$/i],
  ['has-more', /^(has_?more|has_?next|has_?next_?page)$/i],
  ['done', /^(done|is_?last(_?page)?)$/i],
  ['next', /^(next|next_?cursor|next_?page_?token|next_?token|cursor|iterator|end_?cursor)$/i],
  ['first', /^first_?id$/i],
  ['last', /^last_?id$/i],
  ['page', /^(page|current_?page|page_?number)$/i],
  ['limit', /^(limit|per_?page|page_?size)$/i],
  ['offset', /^(offset|skip)$/i],
  ['pages', /^(pages|total_?pages|page_?count)$/i],
]

/** In a response to DELETE that is not the record: `{ id, deleted: true }`. */
const REMOVED: readonly (readonly [MetaRole, RegExp])[] = [
  ['removed', /^(deleted|removed|success|ok)$/i],
  ['last', /^g?id$/i],
]

/** The types of the properties that need not be numbers. */
const FORMS: { readonly [Role in MetaRole]?: string } = {
  'has-more': 'boolean',
  done: 'boolean',
  removed: 'boolean',
  next: 'string',
  first: 'string',
  last: 'string',
}

/** The properties beside the record, or the records; or why one of them cannot be filled. */
function readMeta(
  fields: Fields,
  envelope: string | undefined,
  known: readonly (readonly [MetaRole, RegExp])[],
): Readonly<Record<string, MetaField>> | string {
  const meta: Record<string, MetaField> = {}
  for (const [name, { place, type, format, required }] of fields) {
    if (name === envelope) continue
    const found = known.find(([, pattern]) => pattern.test(name))?.[0]
    const role = found === 'offset' && type === 'string' ? 'next' : found
    const isNullable = allowsNull(place)
    const isAddress = type === 'string' && format !== undefined && /^ur[il]/.test(format)
    const isCount = type === 'integer' || type === 'number'
    const fits =
      (isCount && (role === undefined || FORMS[role] !== 'boolean')) || type === (role !== undefined && FORMS[role])
    if (role !== undefined && fits)
      meta[name] = { role, isRequired: required, isNullable, isAddress, isNumber: isCount }
    else if (type === 'object') {
      const inner = readMeta(readRecordFields(place), undefined, known)
      if (typeof inner !== 'string' && Object.keys(inner).length > 0)
        meta[name] = { role: 'group', fields: inner, isNullable }
      else if (typeof inner !== 'string' && required) meta[name] = { role: 'value', value: {} }
      else if (required) return inner
    } else if (required) {
      const value = exampleValue(place)
      if (value === undefined) return `nothing says how to fill the required property "${name}" of its response`
      meta[name] = { role: 'value', value }
    }
  }
  return meta
}

/** In OpenAPI 3.0, `nullable` concerns the `type` beside it, not other keywords. */
function allowsNull(schema: Place): boolean {
  const { type, nullable } = isNode(schema.value) ? schema.value : {}
  const checks = schema.items('allOf').map(allowsNull)
  if (type !== undefined) checks.push(nullable === true || [type].flat().includes('null'))
  for (const keyword of ['anyOf', 'oneOf']) {
    const alternatives = schema.items(keyword)
    if (alternatives.length > 0) checks.push(alternatives.some(allowsNull))
  }
  return checks.length > 0 && checks.every(Boolean)
}

interface RecordField {
  readonly place: Place
  readonly type: string | undefined
  readonly format: string | undefined
  readonly required: boolean
  readonly readOnly: boolean
  readonly isUnique: boolean
  readonly choices: readonly unknown[] | undefined
  readonly default: unknown
}

type Fields = ReadonlyMap<string, RecordField>

/** Properties that only the service sets: a request may omit them. */
export function readOnlyProperties(schema: Place): ReadonlySet<string> {
  return new Set([...readRecordFields(schema)].flatMap(([name, { readOnly }]) => (readOnly ? [name] : [])))
}

/** The properties of an object schema, and of its parts. */
const readRecordFields = fieldReader<RecordField>(partsOf, (place, name, schema) => {
  const written = schema.written('properties').object()[name]
  const flag = (key: string) => place.flag(key) || (isNode(written) && written[key] === true)
  const value = isNode(place.value) ? place.value : {}
  return {
    place,
    type: typeOf(place),
    format: typeof value.format === 'string' ? value.format : undefined,
    readOnly: flag('readOnly'),
    isUnique: flag('x-unique'),
    choices: Array.isArray(value.enum) ? value.enum : value.type === 'boolean' ? [false, true] : undefined,
    default: value.default,
  }
})

/** The names that a schema requires, declared or not. */
function requiredNames(schema: Place, seen = new Set<unknown>()): readonly string[] {
  if (seen.has(schema.value)) return []
  seen.add(schema.value)
  const own = schema.items('required').flatMap(({ value }) => (typeof value === 'string' ? value : []))
  return [...own, ...partsOf(schema).flatMap((part) => requiredNames(part, seen))]
}

/** The schemas that all values match: `allOf`, and the only alternative to null. */
function partsOf(schema: Place): readonly Place[] {
  const only = ['anyOf', 'oneOf'].flatMap((keyword) => {
    const alternatives = schema.items(keyword).filter(({ value }) => !isNode(value) || value.type !== 'null')
    return alternatives.length === 1 ? alternatives : []
  })
  return [...schema.items('allOf'), ...only]
}

const CREATED = /^(created|inserted|added|placed|started)(_?(at|on|time|date))?$/i
const UPDATED = /^(updated|modified|changed|last_?(updated|modified))(_?(at|on|time|date))?$/i

function isTimestamp(name: string, { type, format }: RecordField): boolean {
  return (
    type === 'string' && (format === 'date-time' || format === 'date') && (CREATED.test(name) || UPDATED.test(name))
  )
}

/** The default of an omitted property; undefined if the schema has no value. */
function fillOf(name: string, field: RecordField): Fill | undefined {
  if (isTimestamp(name, field))
    return {
      kind: UPDATED.test(name) ? 'updated-at' : 'created-at',
      format: field.format === 'date' ? 'date' : 'date-time',
    }
  if (field.default !== undefined) return { kind: 'value', value: field.default }
  const value = exampleValue(field.place)
  return value === undefined ? undefined : { kind: 'value', value }
}

const examples = new WeakMap<Node, unknown>()

/** A value of a schema: its example, constant or first choice, else the simplest value of its type. */
function exampleValue(schema: Place): unknown {
  const { value } = schema
  if (!isNode(value)) return undefined
  if (examples.has(value)) return examples.get(value)
  // A schema that requires itself has no value.
  examples.set(value, undefined)
  const made = makeExample(schema, value)
  examples.set(value, made)
  return made
}

function makeExample(schema: Place, value: Node): unknown {
  const given = [
    value.default,
    value.const,
    value.example,
    Array.isArray(value.examples) ? value.examples[0] : undefined,
  ]
  const found = given.find((one) => one !== undefined) ?? (Array.isArray(value.enum) ? value.enum[0] : undefined)
  if (found !== undefined) return found
  const type = typeOf(schema)
  if (type === 'null' || allowsNull(schema)) return null
  if (type !== 'object') {
    const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema.items(keyword))
    const inner = parts.map(exampleValue).find((one) => one !== undefined)
    if (inner !== undefined) return inner
  }
  switch (type) {
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return exampleNumber(value)
    case 'string':
      return exampleString(value)
    case 'array':
      return exampleArray(schema, value)
    case 'object':
      return exampleObject(schema)
    default:
      return undefined
  }
}

/** The least number that is allowed, else 0, else the greatest. */
function exampleNumber({ minimum, exclusiveMinimum, maximum, multipleOf }: Node): number | undefined {
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined)
  const least = Math.max(...[minimum, exclusiveMinimum].flatMap((value) => number(value) ?? []))
  const isExcluded = exclusiveMinimum === true || number(exclusiveMinimum) === least
  const start = Number.isFinite(least) ? Math.ceil(least) + (isExcluded && Number.isInteger(least) ? 1 : 0) : 0
  const step = number(multipleOf) ?? 1
  const made = step > 0 ? Math.ceil(start / step) * step : start
  const greatest = number(maximum) ?? made
  return made <= greatest ? made : Number.isFinite(least) ? undefined : greatest
}

function exampleArray(schema: Place, { minItems }: Node): readonly unknown[] | undefined {
  const length = typeof minItems === 'number' ? minItems : 0
  if (length === 0) return []
  const items = schema.child('items')
  const item = items && exampleValue(items)
  return item === undefined || length > 10 ? undefined : Array(length).fill(item)
}

const STRINGS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  uuid: '00000000-0000-4000-8000-000000000000',
  uri: 'https://example.com/',
  email: 'user@example.com',
}

function exampleString({ format, pattern, minLength, maxLength }: Node): string | undefined {
  if (typeof pattern === 'string') return patternText(pattern, { minLength, maxLength })
  const known = typeof format === 'string' ? STRINGS[format] : undefined
  return known ?? 'x'.repeat(typeof minLength === 'number' ? minLength : 0)
}

function exampleObject(schema: Place): Readonly<Record<string, unknown>> | undefined {
  const alternatives = ['anyOf', 'oneOf'].flatMap((keyword) => schema.items(keyword))
  const object: Record<string, unknown> = { ...alternatives.map(exampleValue).find(isNode) }
  for (const [name, field] of readRecordFields(schema)) {
    if (!field.required) continue
    const value = exampleValue(field.place)
    if (value === undefined) return undefined
    object[name] = value
  }
  return object
}

function isObject(schema: Place | undefined): schema is Place {
  if (schema === undefined) return false
  const type = typeOf(schema)
  return type === 'object' || (type === undefined && readRecordFields(schema).size > 0)
}

function typeOf(schema: Place, seen = new Set<unknown>()): string | undefined {
  const { value } = schema
  if (!isNode(value) || seen.has(value)) return undefined
  seen.add(value)
  const own: unknown = Array.isArray(value.type) ? value.type.find((one) => one !== 'null') : value.type
  if (typeof own === 'string') return own
  if (isNode(value.properties)) return 'object'
  for (const part of partsOf(schema)) {
    const type = typeOf(part, seen)
    if (type !== undefined) return type
  }
  return undefined
}
