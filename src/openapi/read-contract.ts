import type {
  Body,
  ContractData,
  DocumentedResponse,
  KeyHeader,
  OperationData,
  Parameter,
  PlanLimits,
} from '../contract/contract-data.js'
import { isNode, jsonContent, type Node, Place, rootPlace } from '../contract/document.js'
import { exampleOf } from '../contract/example-value.js'
import { readFields } from '../contract/expected.js'
import { stringifyJson } from '../contract/json.js'
import { checkSchema, type SchemaFindings, toJsonSchema } from '../contract/json-schema.js'
import { essenceOf, isFormType, isJsonType } from '../contract/media-types.js'
import type { ResourceAction } from '../contract/resource-data.js'
import { isOpen, readAllFields, readRecordFields, typeOf } from '../contract/schema-fields.js'
import { hasNoBody } from '../contract/sendable.js'
import { SpecError } from '../contract/spec-error.js'
import type { Schemas } from '../contract/validators.js'
import { checkResponse } from './check-response.js'
import { type CommonErrors, readCommonErrors, readErrors } from './documented-errors.js'
import { ignoredNotes } from './ignored-parts.js'
import { readLimitHeaders } from './limit-headers.js'
import { bodyContent, type OperationShape, parametersOf, readOperations, success } from './operations.js'
import { withParameterLists } from './parameter-lists.js'
import {
  defined,
  parameterOf,
  parameterSchema,
  type ReadParameter,
  readParameters,
  schemaOf,
  TEMPLATE_PARAMETER,
} from './parameters.js'
import { isPublic, readAccess, readKeys } from './read-access.js'
import { isLogin } from './read-login.js'
import { readResources } from './resources.js'

export interface ContractReading {
  readonly data: ContractData
  readonly schemas: Schemas
  /** The patterns that requests and records are held against, with the place of each. */
  readonly patterns: ReadonlyMap<string, string>
  /** Whether a schema has so many properties that it is compiled at the start. */
  readonly hasWide: boolean
}

export interface ReadingContext {
  /** Operations that are mocked although they fit a resource. */
  readonly mocked?: readonly string[]
}

/** The schema of more takes too long to compile for a request to wait for. */
const MAX_LAZY_PARAMETERS = 300

/** @param document in normal form @throws SpecError naming the place in it */
export function readContract(document: Node, { mocked = [] }: ReadingContext = {}): ContractReading {
  const root = rootPlace(document)
  const info = root.child('info')
  const schemas: Record<string, Schemas[string]> = {}
  const placeOfId = new Map<string, string>()
  const shapes = withParameterLists(readOperations(root))
  const reading = readResources(shapes)
  const { notes: ofAccess, ...access } = readAccess(root, shapes, readServers(root))
  const notes: string[] = []
  const found: SchemaFindings = { seen: new Set(), patterns: new Map(), notes, hasWide: false }
  const commonErrors = readCommonErrors(shapes)
  const operations = shapes.map((shape) => {
    const { id, place } = shape
    const twin = placeOfId.get(id)
    if (twin !== undefined) throw place.error(`has the same operationId as ${twin}: "${id}"`)
    placeOfId.set(id, place.name)
    const outcome = reading.outcomes.get(id)
    const isStateful = typeof outcome === 'object' && !mocked.includes(id)
    let isRead = true
    try {
      for (const schema of compiledSchemas(shape)) checkSchema(schema, found)
    } catch (error) {
      if (isStateful || !(error instanceof SpecError)) throw error
      notes.push(`The requests of ${id} are not checked: ${error.message}.`)
      isRead = false
    }
    const operation = readOperation(root, shape, isRead, isStateful, outcome, access.keyHeaders, commonErrors)
    Object.assign(schemas, operation.schemas)
    return { ...operation.data, ...defined({ keys: readKeys(root, place, access) }) }
  })
  const data = {
    title: info?.string('title') ?? '',
    version: info?.string('version') ?? '',
    ...access,
    notes: [
      ...ofAccess,
      ...reading.notes,
      ...notes,
      ...ignoredNotes(root, shapes),
      ...callbackNotes(shapes),
      ...unservedNotes(root),
      ...unreachedNotes(operations),
    ],
    ...readPlans(root),
    ...(Object.keys(commonErrors).length > 0 && { commonErrors }),
    operations,
    resources: reading.resources,
  }
  const hasWide = found.hasWide || operations.some(({ parameters }) => parameters.length > MAX_LAZY_PARAMETERS)
  return { data, schemas, patterns: found.patterns, hasWide }
}

/** The schemas that requests and records are held against. */
function compiledSchemas(shape: OperationShape): readonly Place[] {
  const inParameters = parametersOf(shape).map((parameter) => schemaOf(parameter)?.child('schema'))
  const inBody = shape.place
    .child('requestBody')
    ?.entries('content')
    .map(([, content]) => content.child('schema'))
  return [...inParameters, ...(inBody ?? []), success(shape.place)?.schema].filter((schema) => schema !== undefined)
}

/** Web pages may read them anyway. */
const OWN_HEADERS =
  /^(?:x-ratelimit-.*|retry-after|date|deprecation|sunset|link|allow|www-authenticate|preference-applied|x-sandbox-reason|cache-control|content-(?:language|length|type)|expires|last-modified|pragma)$/i

function readOperation(
  root: Place,
  shape: OperationShape,
  isRead: boolean,
  isStateful: boolean,
  outcome: ResourceAction | string | undefined,
  keyHeaders: readonly KeyHeader[],
  commonErrors: CommonErrors,
): { readonly data: OperationData; readonly schemas: Schemas } {
  const { id, method, path, place } = shape
  const { filters = [] } = typeof outcome === 'string' ? {} : (outcome?.query ?? {})
  const all = isRead ? readParameters(path, parametersOf(shape)) : []
  const isInUrl = ({ parameter }: ReadParameter) => parameter.in === 'path' || parameter.in === 'query'
  const headers = all.filter((readParameter) => !isInUrl(readParameter))
  const isBulk = isStateful && Object(outcome).bodyEnvelope === ''
  const body = isRead ? readBody(id, place, isStateful && !isBulk, isBulk) : undefined
  const responses = place.children('responses')
  const ranges = responses.flatMap(([status]) => (/^[2-5]XX$/i.test(status) ? Number(status[0]) : []))
  const errors = readErrors(place, commonErrors)
  const hasPlans = root.child('x-plans') !== undefined
  const limitHeaders = readLimitHeaders(place).filter((limitHeader) => !hasPlans || !limitHeader.isOwn)
  const named = responses.flatMap(([, response]) => response.entries('headers').map(([name]) => name))
  const exposed = [...new Set(named)].filter((name) => !OWN_HEADERS.test(name)).join(', ')
  return {
    data: {
      id,
      method: method.toUpperCase(),
      path,
      ...defined({ names: shape.names }),
      ...defined({ summary: place.string('summary'), description: place.string('description')?.trim() }),
      deprecated: place.flag('deprecated'),
      ...defined({
        sunsetAt: readInstant(place, 'x-deprecated-sunset'),
        deprecatedSince: readInstant(place, 'x-deprecated-since'),
        successor: readSuccessor(place),
        stability: place.string('x-stability'),
      }),
      parameters: all.filter(isInUrl).map(({ parameter }) => {
        const { default: _, ...others } = parameter
        return filters.some(([name, , isShared]) => isShared && name === parameter.name) ? others : parameter
      }),
      ...(headers.length > 0 && { headers: headers.map(({ parameter }) => parameter) }),
      ...defined({ body: body?.body }),
      undocumentedShape: hasUndocumentedShape(place),
      responses: responses.flatMap(([status, response]) => readResponse(status, response)),
      ...(ranges.length > 0 && { ranges }),
      ...(place.child('responses')?.child('default') && { hasDefault: true as const }),
      ...(errors.length > 0 && { errors }),
      ...(limitHeaders.length > 0 && { limitHeaders }),
      ...(exposed !== '' && { exposed }),
      ...(isPublic(root, place) && { isPublic: true, ...(isLogin(shape, keyHeaders) && { isLogin: true }) }),
      ...(typeof outcome === 'string' ? { whyMocked: outcome } : defined({ action: outcome })),
    },
    schemas: {
      ...parameterSchema(
        `${id}_path`,
        all.filter(({ parameter }) => parameter.in === 'path'),
      ),
      ...parameterSchema(
        `${id}_query`,
        all.filter(({ parameter }) => parameter.in === 'query'),
      ),
      ...parameterSchema(`${id}_headers`, headers),
      ...body?.schemas,
    },
  }
}

function callbackNotes(shapes: readonly OperationShape[]): readonly string[] {
  const calling = shapes.filter(({ place }) => place.child('callbacks') !== undefined)
  if (calling.length === 0) return []
  return [`The sandbox does not call the callbacks of ${calling.map(({ id }) => id).join(', ')}.`]
}

/** @source OpenAPI specification 3.2: Path Item Object */
function unservedNotes(root: Place): readonly string[] {
  const unserved = root.children('paths').flatMap(([path, item]) => {
    const others = item.entries('additionalOperations').map(([method]) => `${method} ${path}`)
    return item.child('query') === undefined ? others : [`QUERY ${path}`, ...others]
  })
  if (unserved.length === 0) return []
  return [`The sandbox does not serve ${unserved.join(', ')}: it has the methods of OpenAPI 3.1.`]
}

function unreachedNotes(operations: readonly OperationData[]): readonly string[] {
  if (operations.length === 0) return ['The contract has no operations, so the response to each request is a 404.']
  const known = new Map<string, string>()
  return operations.flatMap(({ id, method, path, names }) => {
    const template = `${method} ${path.replace(TEMPLATE_PARAMETER, (_, name: string) => names?.[name] ?? '{}')}`
    const first = known.get(template)
    if (first !== undefined) return [`No request reaches ${id}: it has the same path as ${first}.`]
    known.set(template, id)
    return []
  })
}

interface ReadBody {
  readonly body: Body
  readonly schemas: Schemas
}

/** @param mustBeObject whether a record is made of it */
function readBody(id: string, operation: Place, mustBeObject: boolean, takesList: boolean): ReadBody | undefined {
  const place = operation.child('requestBody')
  const json = jsonContent(place)?.content
  const isList = (content: Place | undefined) => {
    const schema = content?.child('schema')
    return schema !== undefined && typeOf(schema) === 'array'
  }
  const isReadable = (mediaType: string) => isJsonType(essenceOf(mediaType)) || isFormType(essenceOf(mediaType))
  const contents = place?.entries('content') ?? []
  // Of a record, only JSON and forms are read, and no JSON Patch beside them.
  const isRecord = mustBeObject && contents.some(([mediaType]) => isReadable(mediaType))
  const all = contents.filter(
    ([mediaType, one]) =>
      (!isRecord || isReadable(mediaType)) && (!/json-patch/i.test(mediaType) || !isList(one) || isList(json)),
  )
  const form = all.find(([mediaType]) => isFormType(essenceOf(mediaType)))?.[1]
  const content = bodyContent(operation) ?? all[0]?.[1]
  if (place === undefined || content === undefined) return undefined
  const schema = content.child('schema')
  const isNested = (item: Place) => {
    const resolved = new Place(item.document, { place: item.value }, item.name).child('place')
    return resolved !== undefined && readAllFields(resolved).size > 0
  }
  const convert = (from: Place | undefined, isClosed?: (item: Place) => boolean) => {
    const written = from?.child('schema') && from.written('schema')
    return written && (() => toJsonSchema(written, { of: 'request', ...defined({ isClosed }) }))
  }
  const fields = (schema ? readFields(schema) : []).map((field) =>
    schema && readRecordFields(schema).get(field.name)?.readOnly ? { ...field, required: false } : field,
  )
  return {
    body: {
      required: place.flag('required'),
      mediaTypes: [json, form, ...all.map(([, one]) => one)]
        .flatMap((value) => all.find(([, other]) => other.value === value?.value)?.[0] ?? [])
        .map(essenceOf)
        .filter((mediaType, index, list) => list.indexOf(mediaType) === index),
      fields,
      ...(form && { formFields: formFields(form) }),
      ...(!mustBeObject && { takesAnyValue: true }),
      ...(takesList && { takesList }),
      ...(schema && isOpen(schema) && { isOpen: true }),
      ...defined({ example: exampleText(content) }),
    },
    schemas: defined({
      [`${id}_body`]: convert(json),
      [`${id}_form`]: convert(form),
      [`${id}_closed`]:
        mustBeObject && fields.some(({ type }) => type === 'array' || type === 'other')
          ? convert(content, isNested)
          : undefined,
    }) as Schemas,
  }
}

/** The fields of a form as the parameters of a query: `tags=a&tags=b`, `address[city]=Bern`. */
function formFields(content: Place): readonly Parameter[] {
  const schema = content.child('schema')
  return [...(schema ? readAllFields(schema) : [])].map(([name, { place }]) => {
    const encoding = content.child('encoding')?.child(name)
    const isStyled = encoding?.string('style') !== undefined || encoding?.child('explode') !== undefined
    const field = parameterOf(name, 'query', encoding ?? place, place, isStyled ? undefined : 'deepObject')
    return isStyled ? field : { ...field, explode: true }
  })
}

function readResponse(status: string, place: Place): readonly DocumentedResponse[] {
  checkResponse(status, place)
  // After a 1xx a client goes on waiting for the response.
  if (!/^[2-5]\d\d$/.test(status)) return []
  const content = jsonContent(place)?.content
  const example = content === undefined || hasNoBody(Number(status)) ? undefined : exampleText(content)
  return [{ status: Number(status), ...defined({ example }) }]
}

function hasUndocumentedShape(operation: Place): boolean {
  const success = operation.children('responses').find(([status]) => /^2(?:\d\d|XX)$/i.test(status))?.[1]
  const content = jsonContent(success)?.content
  return content !== undefined && isShapeless(content.child('schema'))
}

const SHAPE_WORDS = '$ref properties additionalProperties patternProperties prefixItems allOf anyOf oneOf enum const'

function isShapeless(schema: Place | undefined, seen: ReadonlySet<unknown> = new Set()): boolean {
  if (schema === undefined || !isNode(schema.value) || seen.has(schema.value)) return true
  const { value } = schema
  if (SHAPE_WORDS.split(' ').some((word) => Object.hasOwn(value, word))) return false
  const types: unknown[] = [value.type].flat()
  if (types.includes('array')) return isShapeless(schema.child('items'), new Set([...seen, value]))
  return types.every((type) => type === undefined || type === 'object' || type === 'null')
}

function exampleText(content: Place): string | undefined {
  const example = exampleOf(content)
  return example === undefined ? undefined : stringifyJson(example)
}

/** A date, or a date and a time; UTC without an offset. */
const INSTANT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i

function readInstant(operation: Place, extension: string): number | undefined {
  const place = operation.child(extension)
  if (place === undefined) return undefined
  const [, day, time = '00:00', offset = 'Z'] = INSTANT.exec(String(place.value)) ?? []
  const instant = Date.parse(`${day}T${time}${offset}`)
  if (Number.isNaN(instant))
    throw place.error(`must be a date such as 2030-12-05 (it is ${stringifyJson(place.value)})`)
  return instant
}

/** It becomes part of a header, so only characters of an address are allowed. */
function readSuccessor(operation: Place): string | undefined {
  const place = operation.child('x-deprecated-successor')
  if (place === undefined) return undefined
  const { value } = place
  if (typeof value !== 'string' || !/^\/[\w\-.~!$&'()*+,;=:@%/?]*$/.test(value))
    throw place.error(`must be a path with its query, such as /users?active=true (it is ${stringifyJson(value)})`)
  return value
}

/** Those of the first path if the document has none. */
function readServers(root: Place): readonly string[] {
  const own = root.items('servers')
  const places = own.length > 0 ? own : (root.children('paths')[0]?.[1].items('servers') ?? [])
  return places.flatMap((server) => {
    const url = server.string('url')
    if (url === undefined) return []
    const variables = server.child('variables')
    return url.replace(TEMPLATE_PARAMETER, (whole, name: string) => variables?.child(name)?.string('default') ?? whole)
  })
}

const MAX_PLANS = 8
/** Part of a key, and not the name of one. */
const PLAN_NAME = /^(?!(?:default|limited|banned|revoked)$)[a-z][\w.-]{0,63}$/i

/** @source docs/spec.md, "Plans" */
function readPlans(root: Place): Pick<ContractData, 'plans' | 'defaultPlan'> {
  const place = root.child('x-plans')
  if (place === undefined) return { plans: {} }
  const names = Object.keys(place.object())
  const unusable = names.find((name) => !PLAN_NAME.test(name))
  if (unusable !== undefined) throw place.error(`has a plan that no key can name: "${unusable}"`)
  if (names.length === 0 || names.length > MAX_PLANS) throw place.error(`must have 1 to ${MAX_PLANS} plans`)
  const defaultPlan = root.string('x-default-plan') ?? names[0]
  if (defaultPlan === undefined || !names.includes(defaultPlan))
    throw root.error(`has the x-default-plan "${defaultPlan}", which is not in x-plans`)
  return { plans: Object.fromEntries(names.map((name) => [name, planIn(place, name)])), defaultPlan }
}

function planIn(plans: Place, name: string): PlanLimits {
  const limits = plans.child(name)
  if (limits === undefined) return {}
  return defined({ perMinute: readLimit(limits, 'requestsPerMinute'), perDay: readLimit(limits, 'requestsPerDay') })
}

function readLimit(plan: Place, name: string): number | undefined {
  const place = plan.child(name)
  if (place === undefined) throw plan.error(`must have "${name}"`)
  if (place.value === 'custom') return undefined
  if (typeof place.value === 'number' && Number.isSafeInteger(place.value) && place.value >= 1) return place.value
  throw place.error('must be a whole number of at least 1, or "custom"')
}
