import type { Arbitrary } from 'fast-check'
import fc from './fast-check.js'

type Node = Readonly<Record<string, unknown>>

const FIELDS: Readonly<Record<string, Node>> = {
  name: { type: 'string', minLength: 1 },
  colour: { type: 'string', enum: ['red', 'green'] },
  size: { type: 'integer', minimum: 1, maximum: 1000 },
  price: { type: 'number' },
  open: { type: 'boolean' },
  day: { type: 'string', format: 'date' },
  owner: { type: 'string', format: 'uuid' },
  labels: { type: 'array', items: { type: 'string' } },
  note: { type: ['string', 'null'] },
  remark: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  place: { type: 'object', required: ['town'], properties: { town: { type: 'string' }, code: { type: 'integer' } } },
  state: { type: 'string', enum: ['new', 'done'], default: 'new' },
  createdAt: { type: 'string', format: 'date-time', readOnly: true },
  updated_at: { type: 'string', format: 'date-time', readOnly: true },
  version: { type: 'integer', readOnly: true },
}

const PAGES = {
  none: [],
  offset: ['limit', 'offset'],
  page: ['per_page', 'page'],
  cursor: ['limit', 'after'],
} as const

/** How a list and a record are wrapped: the properties beside the records. */
const LISTS: Readonly<Record<string, Node>> = {
  bare: {},
  items: { total: { type: 'integer' }, has_more: { type: 'boolean' } },
  data: { next_cursor: { type: ['string', 'null'] }, object: { type: 'string', enum: ['list'] } },
  results: { count: { type: 'integer' }, next: { type: ['string', 'null'], format: 'uri' } },
  records: {
    meta: {
      type: 'object',
      required: ['total'],
      properties: { total: { type: 'integer' }, page: { type: 'integer' } },
    },
  },
}

export interface RandomResource {
  readonly name: string
  readonly fields: readonly { readonly name: string; readonly isRequired: boolean; readonly isUnique: boolean }[]
  readonly id: 'integer' | 'int64' | 'uuid' | 'text' | 'chosen'
  readonly parameter: string
  readonly methods: readonly string[]
  readonly list: string
  readonly record: 'bare' | 'data' | 'name'
  readonly wrapsRequests: boolean
  readonly pages: keyof typeof PAGES
  readonly filters: boolean
  readonly removed: 'nothing' | 'record' | 'notice'
  readonly slash: '' | '/'
  readonly isNested: boolean
  readonly hasView: boolean
}

const resource: Arbitrary<Omit<RandomResource, 'name'>> = fc.record({
  fields: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...Object.keys(FIELDS)),
      isRequired: fc.boolean(),
      isUnique: fc.nat(5).map((n) => n === 0),
    }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 8 },
  ),
  id: fc.constantFrom('integer', 'int64', 'uuid', 'text', 'chosen'),
  parameter: fc.constantFrom('id', 'thingId', 'thing_id', 'key'),
  methods: fc.subarray(['get', 'put', 'patch', 'delete']),
  list: fc.constantFrom(...Object.keys(LISTS)),
  record: fc.constantFrom('bare', 'bare', 'data', 'name'),
  wrapsRequests: fc.boolean(),
  pages: fc.constantFrom('none', 'offset', 'page', 'cursor'),
  filters: fc.boolean(),
  removed: fc.constantFrom('nothing', 'record', 'notice'),
  slash: fc.constantFrom('', '', '/'),
  isNested: fc.boolean(),
  hasView: fc.boolean(),
})

/** Two or three resources; a nested one belongs to the one before it. */
export const randomResources: Arbitrary<readonly RandomResource[]> = fc
  .array(resource, { minLength: 1, maxLength: 3 })
  .map((all) =>
    all.map((one, at) => ({ ...one, name: ['gadget', 'company', 'box'][at] ?? '', isNested: one.isNested && at > 0 })),
  )

const PLURALS: Readonly<Record<string, string>> = { gadget: 'gadgets', company: 'companies', box: 'boxes' }

/** The OpenAPI document of resources. */
export function documentOf(resources: readonly RandomResource[]): Node {
  const paths: Record<string, Node> = {}
  const schemas: Record<string, Node> = {}
  let parent = { path: '', parameters: [] as readonly Node[] }
  for (const one of resources) {
    const { name, methods, slash } = one
    const base = `${one.isNested ? parent.path : ''}/${PLURALS[name]}`
    const outer = one.isNested ? parent.parameters : []
    const parameter = `${one.parameter === 'id' && !one.isNested ? '' : `${name}_`}${one.parameter}`
    const path = `${base}/{${parameter}}`
    const own = [...outer, { name: parameter, in: 'path', required: true, schema: idSchema(one) }]
    const one$ = { $ref: `#/components/schemas/${name}` }
    Object.assign(schemas, { [name]: recordSchema(one, 'full'), [`${name}Patch`]: recordSchema(one, 'patch') })
    const record = { description: 'ok', content: json(wrapped(one, one$)) }
    const conflict = { 409: { description: 'taken' } }
    const body = (suffix: string) => {
      const schema = { $ref: `#/components/schemas/${name}${suffix}` }
      return { required: true, content: json(one.wrapsRequests ? wrapped(one, schema) : schema) }
    }
    const list = (operationId: string) => ({
      operationId,
      parameters: queryOf(one),
      responses: { 200: { description: 'ok', content: json(listSchema(one, one$)) } },
    })
    paths[`${base}${slash}`] = {
      parameters: outer,
      get: list(`${name}List`),
      post: {
        operationId: `${name}Create`,
        requestBody: body(''),
        responses: { 201: { ...record, headers: { Location: { schema: { type: 'string' } } } }, ...conflict },
      },
    }
    if (one.hasView && !one.isNested && methods.includes('get'))
      paths[`${base}/recent${slash}`] = { get: list(`${name}Recent`) }
    const gone = {
      nothing: { 204: { description: 'gone' } },
      record: { 200: record },
      notice: {
        200: {
          description: 'gone',
          content: json({ type: 'object', required: ['deleted'], properties: { deleted: { type: 'boolean' } } }),
        },
      },
    }
    const item: Readonly<Record<string, Node>> = {
      get: { operationId: `${name}Get`, responses: { 200: record } },
      put: { operationId: `${name}Put`, requestBody: body(''), responses: { 200: record, ...conflict } },
      patch: { operationId: `${name}Patch`, requestBody: body('Patch'), responses: { 200: record, ...conflict } },
      delete: { operationId: `${name}Delete`, responses: gone[one.removed] },
    }
    if (methods.length > 0)
      paths[`${path}${slash}`] = {
        parameters: own,
        ...Object.fromEntries(methods.map((method) => [method, item[method]])),
      }
    if (!one.isNested) parent = { path, parameters: own }
  }
  return { openapi: '3.1.0', info: { title: 'Random', version: '1' }, paths, components: { schemas } }
}

function json(schema: Node): Node {
  return { 'application/json': { schema } }
}

export function idName({ parameter, methods }: RandomResource): string {
  return parameter === 'key' && methods.length > 0 ? 'key' : 'id'
}

function idSchema({ id }: RandomResource): Node {
  if (id === 'integer' || id === 'int64') return { type: 'integer', ...(id === 'int64' ? { format: 'int64' } : {}) }
  return { type: 'string', ...(id === 'uuid' ? { format: 'uuid' } : {}) }
}

function recordSchema(one: RandomResource, use: 'full' | 'patch'): Node {
  const { fields, id } = one
  const isChosen = id === 'chosen'
  const properties = fields.map(({ name, isUnique }) => [
    name,
    { ...FIELDS[name], ...(isUnique ? { 'x-unique': true } : {}) },
  ])
  const required = [idName(one), ...fields.flatMap(({ name, isRequired }) => (isRequired ? name : []))]
  return {
    type: 'object',
    ...(use === 'full' ? { required } : {}),
    properties: {
      [idName(one)]: { ...idSchema(one), ...(isChosen ? { minLength: 1 } : { readOnly: true }) },
      ...Object.fromEntries(properties),
    },
  }
}

/** The property of an envelope that holds the record; undefined if it is bare. */
export function envelopeOf({ record, name }: RandomResource): string | undefined {
  return record === 'bare' ? undefined : record === 'data' ? 'data' : name
}

function wrapped(one: RandomResource, schema: Node): Node {
  const envelope = envelopeOf(one)
  return envelope === undefined ? schema : { type: 'object', required: [envelope], properties: { [envelope]: schema } }
}

function listSchema({ list }: RandomResource, items: Node): Node {
  const array = { type: 'array', items }
  if (list === 'bare') return array
  const beside = LISTS[list] ?? {}
  return { type: 'object', required: [list, ...Object.keys(beside)], properties: { ...beside, [list]: array } }
}

function queryOf({ pages, filters, fields }: RandomResource): readonly Node[] {
  const numbers = PAGES[pages].map((name) => ({
    name,
    in: 'query',
    schema:
      name === 'after' ? { type: 'string' } : { type: 'integer', minimum: name === 'offset' ? 0 : 1, maximum: 100 },
  }))
  const named = filters ? fields.filter(({ name }) => ['colour', 'state', 'open', 'size'].includes(name)) : []
  return [
    ...numbers,
    ...named.map(({ name }) => ({ name, in: 'query', schema: { ...FIELDS[name], default: undefined } })),
    { name: 'sort', in: 'query', schema: { type: 'string' } },
  ]
}
