import {
  type Body,
  type ContractData,
  type DocumentedResponse,
  type OperationData,
  type Parameter,
  PLAN_NAMES,
  type PlanLimits,
  type PlanName,
  type Plans,
  type Server,
} from './contract-data.js'
import { isNode, jsonContent, Place, refuseForeignReferences, rootPlace } from './document.js'
import { exampleOf } from './example-value.js'
import { stringifyJson } from './json.js'
import { checkSchema, type JsonSchema, readExpected, toJsonSchema, toObjectSchema } from './json-schema.js'
import { bodySchema, type OperationShape, parametersOf, readOperations, success } from './operations.js'
import { readAccess } from './read-access.js'
import type { ResourceAction } from './resource-data.js'
import { NO_RESOURCES, type ResourceReading, readResources } from './resources.js'
import { readAllFields, readFields, readOnlyProperties } from './schema-fields.js'
import { checkResponse, hasNoBody } from './sendable.js'
import type { Schemas } from './validators.js'

export interface ContractReading {
  readonly data: ContractData
  readonly schemas: Schemas
}

export interface ReadingContext {
  /**
   * Operations whose parameters and bodies are read: all, those that fit a resource, or none. Prism validates and mocks the
   * others. `requests`: all, without deriving resources.
   */
  readonly handled: 'all' | 'requests' | 'stateful' | 'none'
  /** Operations that Prism mocks although they fit a resource. */
  readonly mocked?: readonly string[]
  /** The plans of a document that has none. */
  readonly plans?: Plans
}

const TEMPLATE_PARAMETER = /\{([^{}]*)\}/g

/** @throws SpecError naming the place in the document */
export function readContract(document: unknown, { handled, mocked = [], plans }: ReadingContext): ContractReading {
  const root = rootPlace(document)
  const openapi = root.string('openapi')
  if (openapi === undefined) throw root.error('is not an OpenAPI document: it has no field "openapi"')
  if (!/^3\.[01]\.\d+/.test(openapi)) {
    throw root.error(`uses OpenAPI ${JSON.stringify(openapi)}; only 3.0 and 3.1 are supported`)
  }
  refuseForeignReferences(root)
  const info = root.child('info')
  const schemas: Record<string, Schemas[string]> = {}
  const placeOfId = new Map<string, string>()
  const checked = new Set<unknown>()
  const shapes = readOperations(root)
  const reading = handled === 'none' || handled === 'requests' ? NO_RESOURCES : readResources(shapes)
  const operations = shapes.map((shape) => {
    const { id, place } = shape
    const twin = placeOfId.get(id)
    if (twin !== undefined) throw place.error(`has the same operationId as ${twin}: "${id}"`)
    placeOfId.set(id, place.name)
    const outcome = reading.outcomes.get(id)
    const isRead =
      handled === 'all' ||
      handled === 'requests' ||
      (handled === 'stateful' && typeof outcome === 'object' && !mocked.includes(id))
    if (isRead) for (const schema of compiledSchemas(shape)) checkSchema(schema, checked)
    const operation = readOperation(shape, isRead, outcome)
    Object.assign(schemas, operation.schemas)
    return operation.data
  })
  const servers = readServers(root)
  const { notes, ...access } = readAccess(root, shapes, servers)
  const data = {
    title: info?.string('title') ?? '',
    version: info?.string('version') ?? '',
    servers,
    ...access,
    notes: [...notes, ...reading.notes, ...callbackNotes(shapes, reading), ...unreachedNotes(operations)],
    plans: readPlans(root, plans),
    operations,
    resources: reading.resources,
  }
  return { data, schemas }
}

/** The schemas that requests and records are held against. */
function compiledSchemas(shape: OperationShape): readonly Place[] {
  const parameters = parametersOf(shape).filter(({ value }) => /^(path|query)$/.test(String(Object(value).in)))
  const inRequest = [...parameters.map((one) => one.child('schema')), bodySchema(shape.place)]
  return [...inRequest, success(shape.place)?.schema].filter((schema) => schema !== undefined)
}

function readOperation(
  shape: OperationShape,
  isRead: boolean,
  outcome: ResourceAction | string | undefined,
): { readonly data: OperationData; readonly schemas: Schemas } {
  const { id, method, path, place } = shape
  const parameters = isRead ? readParameters(path, parametersOf(shape)) : []
  const body = isRead ? readBody(place) : undefined
  const responses = place.children('responses')
  const ranges = responses.flatMap(([status]) => (/^[2-5]XX$/i.test(status) ? Number(status[0]) : []))
  return {
    data: {
      id,
      method: method.toUpperCase(),
      path,
      ...defined({ summary: place.string('summary'), description: place.string('description')?.trim() }),
      tags: place.items('tags').map(({ value }) => String(value)),
      deprecated: place.flag('deprecated'),
      ...defined({
        sunsetAt: readInstant(place, 'x-deprecated-sunset'),
        deprecatedSince: readInstant(place, 'x-deprecated-since'),
        successor: readSuccessor(place),
        stability: place.string('x-stability'),
      }),
      hideTryItPanel: place.flag('x-hideTryItPanel'),
      parameters: parameters.map(({ parameter }) => parameter),
      ...defined({ body: body?.body }),
      undocumentedShape: hasUndocumentedShape(place),
      responses: responses.flatMap(([status, response]) => readResponse(status, response)),
      ...(ranges.length > 0 && { ranges }),
      ...(typeof outcome === 'string' ? { whyMocked: outcome } : defined({ action: outcome })),
    },
    schemas: {
      ...parameterSchema(`${id}_path`, 'path', parameters),
      ...parameterSchema(`${id}_query`, 'query', parameters),
      ...(body && { [`${id}_body`]: body.schema }),
      ...(body?.closed !== undefined && { [`${id}_closed`]: body.closed }),
    },
  }
}

function callbackNotes(shapes: readonly OperationShape[], { outcomes }: ResourceReading): readonly string[] {
  const calling = shapes.filter(
    ({ id, place }) => typeof outcomes.get(id) === 'object' && place.child('callbacks') !== undefined,
  )
  if (calling.length === 0) return []
  return [`The sandbox does not call the callbacks of ${calling.map(({ id }) => id).join(', ')}.`]
}

function unreachedNotes(operations: readonly OperationData[]): readonly string[] {
  if (operations.length === 0) return ['The contract has no operations, so the response to each request is a 404.']
  const known = new Map<string, string>()
  return operations.flatMap(({ id, method, path }) => {
    const template = `${method} ${path.replace(TEMPLATE_PARAMETER, '{}')}`
    const first = known.get(template)
    if (first !== undefined) return [`No request reaches ${id}: it has the same path as ${first}.`]
    known.set(template, id)
    return []
  })
}

function defined<Members extends object>(members: Members) {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
}

interface ReadParameter {
  readonly parameter: Parameter
  readonly schema: Place | undefined
}

function readParameters(path: string, places: readonly Place[]): readonly ReadParameter[] {
  const read = new Map<string, ReadParameter>()
  for (const place of places) {
    const name = place.string('name')
    const location = place.string('in')
    if (name === undefined || location === undefined) throw place.error('must have "name" and "in"')
    const schema = place.child('schema')
    if (schema === undefined || (location !== 'path' && location !== 'query')) continue
    const parameter = {
      ...readExpected(schema),
      ...defined({ description: place.string('description') }),
      in: location,
      name,
      required: location === 'path' || place.flag('required'),
      explode: place.child('explode')?.value !== false,
      ...defined({ example: exampleOf(place) }),
    } as const
    read.set(`${location} ${name}`, { parameter, schema: place.written('schema') })
  }
  const inPath = [...path.matchAll(TEMPLATE_PARAMETER)].flatMap(([, name = '']) => {
    const parameter = read.get(`path ${name}`)
    const undeclared = { in: 'path', name, type: 'string', required: true, explode: false } as const
    return [parameter ?? { parameter: undeclared, schema: undefined }]
  })
  return [...inPath, ...[...read.values()].filter(({ parameter }) => parameter.in === 'query')]
}

function parameterSchema(name: string, location: Parameter['in'], all: readonly ReadParameter[]): Schemas {
  const parameters = all.filter(({ parameter }) => parameter.in === location)
  if (parameters.length === 0) return {}
  return { [name]: toObjectSchema(parameters.map(({ parameter, schema }) => ({ ...parameter, schema }))) }
}

interface ReadBody {
  readonly body: Body
  readonly schema: JsonSchema
  /** The same, with declared nested fields only; undefined without nested objects. */
  readonly closed: (() => JsonSchema) | undefined
}

function readBody(operation: Place): ReadBody | undefined {
  const place = operation.child('requestBody')
  const content = jsonContent(place)
  const schema = content?.child('schema')
  if (place === undefined || content === undefined || schema === undefined) return undefined
  let hasNested = false
  const readOnly = readOnlyProperties(schema)
  const written = content.written('schema')
  const isNested = (place: Place) => {
    const resolved = new Place(place.document, { place: place.value }, place.name).child('place')
    return resolved !== undefined && readAllFields(resolved).size > 0
  }
  const openSchema = toJsonSchema(
    written,
    (place) => {
      hasNested ||= isNested(place)
      return false
    },
    readOnly,
  )
  return {
    body: {
      required: place.flag('required'),
      fields: readFields(schema).map((field) => (readOnly.has(field.name) ? { ...field, required: false } : field)),
      ...defined({ example: exampleText(content) }),
    },
    schema: openSchema,
    closed: hasNested ? () => toJsonSchema(written, isNested, readOnly) : undefined,
  }
}

function readResponse(status: string, place: Place): readonly DocumentedResponse[] {
  checkResponse(status, place)
  // After a 1xx a client goes on waiting for the response.
  if (!/^[2-5]\d\d$/.test(status)) return []
  const content = jsonContent(place)
  const example = content === undefined || hasNoBody(Number(status)) ? undefined : exampleText(content)
  return [{ status: Number(status), description: place.string('description') ?? '', ...defined({ example }) }]
}

function hasUndocumentedShape(operation: Place): boolean {
  const success = operation.children('responses').find(([status]) => /^2(?:\d\d|XX)$/i.test(status))?.[1]
  const content = jsonContent(success)
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
    throw place.error(`must be a path such as /pets?status=available (it is ${stringifyJson(value)})`)
  return value
}

function readServers(root: Place): readonly Server[] {
  return root.items('servers').flatMap((server) => {
    const url = server.string('url')
    if (url === undefined) return []
    const variables = server.child('variables')
    const filled = url.replace(
      TEMPLATE_PARAMETER,
      (whole, name: string) => variables?.child(name)?.string('default') ?? whole,
    )
    return [{ url: filled, ...defined({ description: server.string('description') }) }]
  })
}

const NO_PLANS: Plans = { free: {}, pro: {}, business: {}, enterprise: {} }

/** Reads `x-plans`. Plans that the document leaves out keep their previous limits. */
function readPlans(root: Place, before: Plans = NO_PLANS): Plans {
  const place = root.child('x-plans')
  if (place === undefined) return before
  const unknown = Object.keys(place.object()).find((name) => !PLAN_NAMES.some((known) => known === name))
  if (unknown !== undefined)
    throw place.error(`has the unknown plan "${unknown}". The plans are ${PLAN_NAMES.join(', ')}`)
  const plan = (name: PlanName): PlanLimits => {
    const limits = place.child(name)
    if (limits === undefined) return before[name]
    return defined({
      perMinute: readLimit(limits, 'requestsPerMinute'),
      perDay: readLimit(limits, 'requestsPerDay'),
    })
  }
  return { free: plan('free'), pro: plan('pro'), business: plan('business'), enterprise: plan('enterprise') }
}

function readLimit(plan: Place, name: string): number | undefined {
  const place = plan.child(name)
  if (place === undefined) throw plan.error(`must have "${name}"`)
  if (place.value === 'custom') return undefined
  if (typeof place.value === 'number' && Number.isSafeInteger(place.value) && place.value >= 1) return place.value
  throw place.error('must be a whole number of at least 1, or "custom"')
}
