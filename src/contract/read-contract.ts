import type {
  Body,
  ContractData,
  DocumentedResponse,
  Field,
  OperationData,
  Parameter,
  Plans,
  Server,
} from './contract-data.js'
import { isNode, type Place, refuseForeignReferences, rootPlace } from './document.js'
import { readExpected } from './expected.js'
import { stringifyJson } from './json.js'
import { type JsonSchema, toJsonSchema, toObjectSchema } from './json-schema.js'
import { readPlans } from './read-plans.js'
import { checkResponse, hasNoBody } from './sendable.js'
import type { Schemas } from './validators.js'

export interface ContractReading {
  readonly data: ContractData
  /** Schemas for validating requests, not compiled yet. */
  readonly schemas: Schemas
}

/** What is known before a document is read. */
export interface ReadingContext {
  /** Operations with a handler: all, or those with these ids. Others are only routed here; Prism validates and mocks them. */
  readonly handled: 'all' | readonly string[]
  /** The plans of a document that has none. */
  readonly plans?: Plans
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i
const TEMPLATE_PARAMETER = /\{([^{}]*)\}/g

/**
 * Reads an OpenAPI 3.0 or 3.1 document into plain data.
 *
 * @throws SpecError naming the place in the document
 */
export function readContract(document: unknown, { handled, plans }: ReadingContext): ContractReading {
  const root = rootPlace(document)
  const openapi = root.string('openapi')
  if (openapi === undefined) throw root.error('is not an OpenAPI document: it has no field "openapi"')
  if (!/^3\.[01]\.\d+/.test(openapi)) {
    throw root.error(`uses OpenAPI ${JSON.stringify(openapi)}; only 3.0 and 3.1 are supported`)
  }
  refuseForeignReferences(root)
  const info = root.child('info')
  const operations: OperationData[] = []
  const schemas: Record<string, JsonSchema> = {}
  const placeOfId = new Map<string, string>()

  for (const [path, item] of root.children('paths')) {
    if (!path.startsWith('/')) throw item.error('must begin with "/"')
    for (const method of METHODS) {
      const place = item.child(method)
      if (place === undefined) continue
      const operation = readOperation(method.toUpperCase(), path, place, item, handled)
      const twin = placeOfId.get(operation.data.id)
      if (twin !== undefined) throw place.error(`has the same operationId as ${twin}: "${operation.data.id}"`)
      placeOfId.set(operation.data.id, place.name)
      operations.push(operation.data)
      Object.assign(schemas, operation.schemas)
    }
  }
  const data = {
    title: info?.string('title') ?? '',
    version: info?.string('version') ?? '',
    servers: readServers(root),
    plans: readPlans(root, plans),
    operations,
  }
  return { data, schemas }
}

function readOperation(
  method: string,
  path: string,
  place: Place,
  item: Place,
  handled: ReadingContext['handled'],
): { readonly data: OperationData; readonly schemas: Schemas } {
  const operationId = place.string('operationId')
  const id = operationId ?? `${method}${path}`
  const isHandled = handled === 'all' || handled.includes(id)
  const parameters = isHandled ? readParameters(path, [...item.items('parameters'), ...place.items('parameters')]) : []
  const body = isHandled ? readBody(place) : undefined
  const sunsetAt = readInstant(place, 'x-deprecated-sunset')
  const deprecatedSince = readInstant(place, 'x-deprecated-since')
  const successor = readSuccessor(place)
  const ranges = place.children('responses').flatMap(([status]) => (/^[2-5]XX$/i.test(status) ? Number(status[0]) : []))
  const stability = place.string('x-stability')
  const summary = place.string('summary')
  const description = place.string('description')
  return {
    data: {
      id,
      method,
      path,
      ...(summary === undefined ? {} : { summary }),
      ...(description === undefined ? {} : { description: description.trim() }),
      tags: place.items('tags').map(({ value }) => String(value)),
      deprecated: place.flag('deprecated'),
      ...(sunsetAt === undefined ? {} : { sunsetAt }),
      ...(deprecatedSince === undefined ? {} : { deprecatedSince }),
      ...(successor === undefined ? {} : { successor }),
      ...(stability === undefined ? {} : { stability }),
      hideTryItPanel: place.flag('x-hideTryItPanel'),
      parameters: parameters.map(({ parameter }) => parameter),
      ...(body === undefined ? {} : { body: body.body }),
      undocumentedShape: hasUndocumentedShape(place),
      responses: place.children('responses').flatMap(([status, response]) => readResponse(status, response)),
      ...(ranges.length === 0 ? {} : { ranges }),
    },
    schemas: {
      ...parameterSchema(`${id}_path`, 'path', parameters),
      ...parameterSchema(`${id}_query`, 'query', parameters),
      ...(body === undefined ? {} : { [`${id}_body`]: body.schema }),
    },
  }
}

interface ReadParameter {
  readonly parameter: Parameter
  readonly schema: Place | undefined
}

/** Path and query parameters; an operation's own override those of its path. */
function readParameters(path: string, places: readonly Place[]): readonly ReadParameter[] {
  const read = new Map<string, ReadParameter>()
  for (const place of places) {
    const name = place.string('name')
    const location = place.string('in')
    if (name === undefined || location === undefined) throw place.error('must have "name" and "in"')
    const schema = place.child('schema')
    if (schema === undefined || (location !== 'path' && location !== 'query')) continue
    const expected = readExpected(schema)
    const example = firstExample(place)
    const description = place.string('description')
    const parameter = {
      ...expected,
      ...(description === undefined ? {} : { description }),
      in: location,
      name,
      required: location === 'path' || place.flag('required'),
      explode: place.child('explode')?.value !== false,
      ...(example === undefined ? {} : { example: example.value }),
    } as const
    read.set(`${location} ${name}`, { parameter, schema: place.written('schema') })
  }
  const inPath = [...path.matchAll(TEMPLATE_PARAMETER)].flatMap(([, name = '']) => {
    const parameter = read.get(`path ${name}`)
    return [parameter ?? { parameter: undeclaredPathParameter(name), schema: undefined }]
  })
  return [...inPath, ...[...read.values()].filter(({ parameter }) => parameter.in === 'query')]
}

function undeclaredPathParameter(name: string): Parameter {
  return { in: 'path', name, type: 'string', required: true, explode: false }
}

function parameterSchema(name: string, location: Parameter['in'], all: readonly ReadParameter[]): Schemas {
  const parameters = all.filter(({ parameter }) => parameter.in === location)
  if (parameters.length === 0) return {}
  return { [name]: toObjectSchema(parameters.map(({ parameter, schema }) => ({ ...parameter, schema }))) }
}

function readBody(operation: Place): { readonly body: Body; readonly schema: JsonSchema } | undefined {
  const place = operation.child('requestBody')
  const content = jsonContent(place)
  const schema = content?.child('schema')
  if (place === undefined || content === undefined || schema === undefined) return undefined
  const example = firstExample(content)
  return {
    body: {
      required: place.flag('required'),
      fields: readFields(schema),
      ...(example === undefined ? {} : { example: stringifyJson(example.value) }),
    },
    schema: toJsonSchema(content.written('schema')),
  }
}

/** The fields of a schema, including those of the schemas it is composed of. */
export function readFields(schema: Place, read = new Map<unknown, readonly Field[]>()): readonly Field[] {
  // Each schema once, however many ways lead to it; one that is made of itself adds nothing.
  const before = read.get(schema.value)
  if (before !== undefined) return before
  read.set(schema.value, [])
  const required = new Set(schema.items('required').map(({ value }) => value))
  const own = schema.entries('properties').map(([name, place]) => ({
    ...readExpected(place),
    name,
    required: required.has(name),
  }))
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema.items(keyword))
  const fields = new Map<string, Field>()
  for (const field of [...parts.flatMap((part) => readFields(part, read)), ...own]) {
    const known = fields.get(field.name)
    fields.set(field.name, { ...known, ...field, required: field.required || known?.required === true })
  }
  for (const [name, field] of fields) if (required.has(name)) fields.set(name, { ...field, required: true })
  const result = [...fields.values()]
  read.set(schema.value, result)
  return result
}

function readResponse(status: string, place: Place): readonly DocumentedResponse[] {
  checkResponse(status, place)
  // 1xx is never an answer by itself: whoever got one would go on waiting.
  if (!/^[2-5]\d\d$/.test(status)) return []
  const content = jsonContent(place)
  const example = content === undefined || hasNoBody(Number(status)) ? undefined : firstExample(content)
  return [
    {
      status: Number(status),
      description: place.string('description') ?? '',
      ...(example === undefined ? {} : { example: stringifyJson(example.value) }),
    },
  ]
}

/** Whether the first documented success may be any JSON, any object, or a list of those. */
function hasUndocumentedShape(operation: Place): boolean {
  const success = operation.children('responses').find(([status]) => /^2(?:\d\d|XX)$/i.test(status))?.[1]
  const content = jsonContent(success)
  return content !== undefined && isShapeless(content.child('schema'))
}

/** Keywords that give a schema a shape. */
const SHAPE_WORDS = [
  '$ref',
  'properties',
  'additionalProperties',
  'patternProperties',
  'prefixItems',
  'allOf',
  'anyOf',
  'oneOf',
  'enum',
  'const',
]

function isShapeless(schema: Place | undefined, seen: ReadonlySet<unknown> = new Set()): boolean {
  if (schema === undefined || !isNode(schema.value) || seen.has(schema.value)) return true
  const { value } = schema
  if (SHAPE_WORDS.some((word) => Object.hasOwn(value, word))) return false
  const types: unknown[] = [value.type].flat()
  if (types.includes('array')) return isShapeless(schema.child('items'), new Set([...seen, value]))
  return types.every((type) => type === undefined || type === 'object' || type === 'null')
}

export function jsonContent(place: Place | undefined): Place | undefined {
  return place?.children('content').find(([mediaType]) => JSON_MEDIA_TYPE.test(mediaType))?.[1]
}

/** The first named example, or the only one. */
function firstExample(place: Place): { readonly value: unknown } | undefined {
  const named = place.children('examples')[0]?.[1].child('value')
  const example = named ?? place.child('example')
  return example === undefined ? undefined : { value: example.value }
}

/** A date, or a date and a time; without an offset they are UTC, wherever the sandbox runs. */
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

/** It becomes part of a header, so it is no more than an address. */
function readSuccessor(operation: Place): string | undefined {
  const place = operation.child('x-deprecated-successor')
  if (place === undefined) return undefined
  const { value } = place
  if (typeof value !== 'string' || !/^\/[\w\-.~!$&'()*+,;=:@%/?]*$/.test(value))
    throw place.error(`must be a path such as /pets?status=available (it is ${stringifyJson(value)})`)
  return value
}

/** Base addresses with each variable at its default. */
function readServers(root: Place): readonly Server[] {
  return root.items('servers').flatMap((server) => {
    const url = server.string('url')
    if (url === undefined) return []
    const variables = server.child('variables')
    const filled = url.replace(
      TEMPLATE_PARAMETER,
      (whole, name: string) => variables?.child(name)?.string('default') ?? whole,
    )
    const description = server.string('description')
    return [{ url: filled, ...(description === undefined ? {} : { description }) }]
  })
}
