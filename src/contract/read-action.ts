import type { OperationShape } from './collections.js'
import { jsonContent, type Place } from './document.js'
import { readErrors } from './documented-errors.js'
import type { FoundResource } from './read-resource.js'
import { type ListEnvelope, success, unwrapList, unwrapRecord } from './record-schema.js'
import type { ResourceAction, ResourceData } from './resource-data.js'
import { COUNTED, queryRoles, REMOVED, readMeta } from './roles.js'
import { readRecordFields } from './schema-fields.js'

export function readAction(
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
