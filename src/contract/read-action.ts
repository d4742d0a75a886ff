import { isNode, type Place } from './document.js'
import { exampleValue, fits } from './example-value.js'
import { concreteType } from './media-types.js'
import { type OperationShape, parametersOf, success } from './operations.js'
import type { FoundResource } from './read-resource.js'
import { type ListEnvelope, unwrapList, unwrapRecord, unwrapSent } from './record-schema.js'
import type { HeaderData, ResourceAction } from './resource-data.js'
import { COUNTED, queryRoles, REMOVED, readMeta } from './roles.js'
import { readRecordFields, typesOf } from './schema-fields.js'

type Base = Pick<ResourceAction, 'resource' | 'headers' | 'hasConflict' | 'contentType'>
type Outcome = NonNullable<ReturnType<typeof success>>

/** What an operation does to a resource, or why it is mocked. */
export function readAction(operation: OperationShape, found: FoundResource): ResourceAction | string {
  const { method, place, parameter } = operation
  const outcome = success(place)
  if (outcome === undefined) return 'no success is documented'
  const isList = method === 'get' && parameter === undefined
  const headers = readHeaders(outcome.response).filter(
    ({ role }) => role === 'value' || (role === 'location' ? method === 'post' : isList),
  )
  const contentType = outcome.content && concreteType(outcome.content.mediaType)
  const base = {
    resource: found.resource.name,
    ...(headers.length === 0 ? {} : { headers }),
    ...(contentType === undefined || contentType === 'application/json' ? {} : { contentType }),
    hasConflict: place.children('responses').some(([status]) => status === '409'),
  }
  return isList ? readList(operation, found, outcome, base) : readOne(operation, found, outcome, base)
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

function readList(
  operation: OperationShape,
  { resource, fields, isWritten }: FoundResource,
  { schema, status, response }: Outcome,
  base: Base,
): ResourceAction | string {
  const isUndocumented = schema === undefined && !hasContent(response) && isWritten
  const list: ListEnvelope | undefined =
    schema === undefined ? (isUndocumented ? {} : undefined) : unwrapList(schema, resource.path)
  if (list === undefined) return 'the response is not a list of records'
  const missing = missingProperty(list.items, { resource, fields })
  if (missing !== undefined) return missing
  const query = queryRoles(parametersOf(operation), fields)
  const meta = list.fields && readMeta(list.fields, list.outer ?? list.envelope, COUNTED, query.cursor === undefined)
  if (typeof meta === 'string') return meta
  return {
    ...base,
    kind: 'list',
    status: status || 200,
    hasBody: true,
    ...(list.envelope === undefined ? {} : { envelope: list.envelope }),
    ...(list.outer === undefined ? {} : { outer: list.outer }),
    query,
    ...(meta === undefined ? {} : { meta }),
  }
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
  const { method } = operation
  const isItem = operation.parameter !== undefined
  const { resource } = found
  const isJson = content !== undefined
  const record = schema && unwrapRecord(schema, resource.path)
  if (schema !== undefined && record === undefined) return 'the response is not a record'
  const meta = record?.fields && readMeta(record.fields, record.envelope, [])
  if (typeof meta === 'string') return meta
  if (hasContent(response) && !isJson) return 'the response is not JSON'
  const base = {
    ...given,
    hasBody: isJson || method === 'get' || method === 'post',
    ...(record?.envelope === undefined ? {} : { envelope: record.envelope }),
    ...(record?.isListed && { isListed: true }),
    ...(meta === undefined || Object.keys(meta).length === 0 ? {} : { meta }),
  }
  const hasId = record !== undefined && readRecordFields(record.schema).has(resource.id.property)
  const isFreeForm = Object.keys(resource.properties).length === 0
  const missing = missingProperty(record?.schema, found)
  if (method === 'delete' && isItem) {
    const isRecord = hasId && missing === undefined
    const kind = 'remove' as const
    if (schema === undefined) return { ...base, kind, status: status || 204 }
    if (isRecord || isFreeForm) return { ...base, kind, status: status || 200 }
    const notice = readMeta(readRecordFields(schema), undefined, REMOVED)
    if (typeof notice === 'string') return notice
    return { ...given, kind, status: status || 200, hasBody: true, isNotice: true, meta: notice }
  }
  if (schema !== undefined && !hasId && !isFreeForm) return 'the response is not a record'
  if (missing !== undefined) return missing
  if (method === 'get') return { ...base, kind: 'get', status: status || 200 }
  return readWrite(operation, found, { ...base, status })
}

const WRITES = { 'post false': ['create', 201], 'put true': ['replace', 200], 'patch true': ['merge', 200] } as const

function isItemWrite({ method, parameter }: OperationShape): boolean {
  return parameter !== undefined && (method === 'put' || method === 'patch')
}

function readWrite(
  operation: OperationShape,
  { resource, fields, operations }: FoundResource,
  { status, ...base }: Omit<ResourceAction, 'kind'>,
): ResourceAction | string {
  const { method } = operation
  const isItem = operation.parameter !== undefined
  const sent = unwrapSent(operation, fields)
  if (sent === undefined) return 'the request has no JSON object'
  const names = [...readRecordFields(sent.schema).keys()]
  if (names.length > 0 && fields.size > 0 && !names.some((name) => fields.has(name)))
    return 'the request has no property of the record'
  const write = {
    ...base,
    ...(sent.envelope === undefined ? {} : { bodyEnvelope: sent.envelope }),
    ...(sent.isListed && { isBodyListed: true }),
  }
  const isUpdate = method === 'post' && isItem && !operations.some(isItemWrite)
  const known = isUpdate ? (['merge', 200] as const) : WRITES[`${method} ${isItem}` as keyof typeof WRITES]
  const isPost = (other: OperationShape) => other.method === 'post' && other.parameter === undefined
  const has = (code: string) => operation.place.child('responses')?.child(code) !== undefined
  const creates = known?.[0] === 'replace' && (has('201') || !(has('404') || operations.some(isPost)))
  const keeps = names.length === 0 ? [] : [...fields.keys()].filter((name) => !names.includes(name))
  if (known !== undefined)
    return {
      ...write,
      ...(known[0] === 'replace' && keeps.length > 0 && { keeps }),
      kind: known[0],
      status: has('201') && has('200') ? known[1] : status || known[1],
      ...(creates && { createdStatus: has('201') ? 201 : status || known[1] }),
    }
  const isOnlyWrite = method === 'put' && !operations.some(isPost)
  if ((method === 'put' || method === 'patch') && names.includes(resource.id.property)) {
    const kind = method === 'put' ? 'replace' : 'merge'
    const created = isOnlyWrite && { createdStatus: status || 200 }
    return { ...write, kind, status: status || 200, isIdInBody: true, ...created }
  }
  if (isOnlyWrite) return { ...write, kind: 'create', status: status || 200 }
  return `${method.toUpperCase()} is not an operation of a ${isItem ? 'record' : 'collection'}`
}

/** Why records cannot be the response of a schema: it requires a property that not every record has, or another type. */
function missingProperty(
  schema: Place | undefined,
  { resource: { id, properties }, fields }: Pick<FoundResource, 'resource' | 'fields'>,
): string | undefined {
  if (schema === undefined) return undefined
  const own = readRecordFields(schema)
  const isClosed = isNode(schema.value) && schema.value.additionalProperties === false
  const extra = isClosed ? Object.keys(properties).find((name) => !own.has(name)) : undefined
  if (extra !== undefined) return `its response does not allow the property "${extra}"`
  for (const [name, { required, place }] of own) {
    const { fill, ...property } = properties[name] ?? { required: false }
    if (required && name !== id.property && !property.required && fill === undefined)
      return `nothing says how to fill the required property "${name}" of its response`
    const kept = fields.get(name)?.place
    const [here, there] = kept === undefined || kept.value === place.value ? [] : [typesOf(place), typesOf(kept)]
    if (here && there && [...there].every((type) => !here.has(type)))
      return `the property "${name}" of its response has another type than elsewhere`
    if (fill?.kind === 'value' && !fits(fill.value, place))
      return `the property "${name}" of its response contradicts its schema elsewhere`
  }
  return undefined
}
