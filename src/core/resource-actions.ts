import type { Values } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import {
  fillValue,
  type HeaderData,
  type MetaField,
  type ParentData,
  type ResourceAction,
  type ResourceData,
} from '../contract/resource-data.js'
import type { Records, StoredRecord } from '../domain/records.js'
import type { EpochMs } from '../domain/time.js'

/** One request to a resource, validated. */
export interface ActionRequest {
  readonly resource: ResourceData
  readonly action: ResourceAction
  readonly path: Values
  /** With defaults filled in. */
  readonly query: Values
  readonly body: Values
  readonly now: EpochMs
  readonly newestFirst: boolean
  /** The address of the request without its query. */
  readonly address: string
  /** The raw query, without its `?`. */
  readonly search: string
}

/** All records of a space, and its chance. */
export interface RecordSpace {
  records(resource: string): Records | undefined
  resource(name: string): ResourceData | undefined
  /** Resources whose records have a parent record. */
  children(resource: string): readonly ResourceData[]
  /** The UUID of the next record of a resource. */
  newUuid(resource: string): string
}

export type RecordChange =
  | { readonly kind: 'put'; readonly resource: string; readonly record: StoredRecord }
  | { readonly kind: 'remove'; readonly resource: string; readonly scope: readonly string[]; readonly id: string }

export type ActionResult =
  | {
      readonly kind: 'done'
      readonly status: number
      /** Undefined if the response has no body. */
      readonly body?: unknown
      readonly headers: readonly (readonly [name: string, value: string])[]
      readonly changes: readonly RecordChange[]
    }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'conflict'; readonly property: string }

/** Performs an operation on a resource, and returns its changes. */
export function runAction(request: ActionRequest, space: RecordSpace): ActionResult {
  const { resource, action, path } = request
  const parents = action.pathFilters ?? resource.parents
  const ids = parents.map(({ parameter }) => String(path[parameter]))
  if (!hasParents(parents, ids, space)) return { kind: 'not-found' }
  const scope = action.pathFilters === undefined ? ids : []
  if (action.kind === 'list') return list(request, scope, space)
  if (action.kind === 'create') return create(request, scope, space)
  const id = action.isIdInBody ? request.body[resource.id.property] : Object.values(path).at(-1)
  const known = id === undefined ? undefined : space.records(resource.name)?.get(scope, String(id))
  if (known === undefined || !isMatch(known.value, filtersOf(request))) return { kind: 'not-found' }
  switch (action.kind) {
    case 'get':
      return done(request, known.value, [])
    case 'replace':
      return save(request, scope, change(request, known.value, request.body, {}), space)
    case 'merge':
      return save(request, scope, change(request, known.value, request.body, known.value), space)
    case 'remove':
      return done(request, known.value, removals(resource, scope, String(id), space))
  }
}

/** Whether every parent that is a resource has the record that the path names. */
function hasParents(parents: readonly ParentData[], ids: readonly string[], space: RecordSpace): boolean {
  return parents.every(({ resource }, index) => {
    if (resource === undefined) return true
    return space.records(resource)?.get(ids.slice(0, index), ids[index] ?? '') !== undefined
  })
}

function create(request: ActionRequest, scope: readonly string[], space: RecordSpace): ActionResult {
  const { resource, body, now, path, action } = request
  const { id } = resource
  const records = space.records(resource.name)
  const chosen =
    id.kind === 'integer' ? records?.nextId : id.kind === 'uuid' ? space.newUuid(resource.name) : body[id.property]
  const value: Record<string, unknown> = { [id.property]: chosen }
  for (const [name, { readOnly, fill }] of Object.entries(resource.properties)) {
    if (name === id.property) continue
    const sent = readOnly ? undefined : body[name]
    const filled = sent ?? (sent === undefined && fill !== undefined ? fillValue(fill, now) : sent)
    if (filled !== undefined) value[name] = filled
  }
  if (Object.keys(resource.properties).length === 0) Object.assign(value, body, { [id.property]: chosen })
  for (const { parameter, property } of [...resource.parents, ...(action.pathFilters ?? [])])
    if (property !== undefined) value[property] = path[parameter]
  if (action.hasConflict && id.kind === 'from-client' && records?.get(scope, String(chosen)) !== undefined)
    return { kind: 'conflict', property: id.property }
  return save(request, scope, value, space)
}

/** The record after PUT (on nothing) or PATCH (on what there is): read-only properties stay, timestamps move. */
function change(request: ActionRequest, known: Values, body: Values, base: Values): Values {
  const { resource, now } = request
  const value: Record<string, unknown> = { [resource.id.property]: known[resource.id.property] }
  const patched = mergePatch(base, body) as Values
  const names = new Set([...Object.keys(resource.properties), ...Object.keys(known), ...Object.keys(patched)])
  for (const name of names) {
    const property = resource.properties[name]
    if (name === resource.id.property) continue
    const isOurs = property?.readOnly === true || property?.fill?.kind === 'created-at'
    let next =
      property?.fill?.kind === 'updated-at' ? fillValue(property.fill, now) : isOurs ? known[name] : patched[name]
    const isFilled = property?.required === true || request.action.kind === 'replace'
    if (next === undefined && isFilled && property?.fill !== undefined) next = fillValue(property.fill, now)
    if (next !== undefined) value[name] = next
  }
  return value
}

/** @source RFC 7396, section 2 */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch
  const result: Record<string, unknown> = isPlainObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name]
    else result[name] = mergePatch(result[name], value)
  return result
}

function isPlainObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function save(request: ActionRequest, scope: readonly string[], value: Values, space: RecordSpace): ActionResult {
  const { resource, action, address } = request
  const id = String(value[resource.id.property])
  for (const property of action.hasConflict ? resource.unique : []) {
    if (value[property] === undefined) continue
    for (const other of space.records(resource.name)?.all() ?? [])
      if (String(other.value[resource.id.property]) !== id && isSame(other.value[property], value[property]))
        return { kind: 'conflict', property }
  }
  const record = { scope, value }
  const location = `${address}/${encodeURIComponent(id)}`
  return done(request, value, [{ kind: 'put', resource: resource.name, record }], { location })
}

/** A record, and those that belong to it. */
function removals(
  resource: ResourceData,
  scope: readonly string[],
  id: string,
  space: RecordSpace,
): readonly RecordChange[] {
  const inside = [...scope, id]
  const nested = space.children(resource.name).flatMap((child) =>
    [...(space.records(child.name)?.all() ?? [])]
      .filter((record) => inside.every((value, index) => record.scope[index] === value))
      .map((record): RecordChange => {
        const own = String(record.value[child.id.property])
        return { kind: 'remove', resource: child.name, scope: record.scope, id: own }
      }),
  )
  return [...nested, { kind: 'remove', resource: resource.name, scope, id }]
}

function done(
  { action }: ActionRequest,
  value: unknown,
  changes: readonly RecordChange[],
  facts: HeaderFacts = {},
): ActionResult {
  const { status, hasBody, envelope } = action
  const body = envelope === undefined ? value : { [envelope]: value }
  return { kind: 'done', status, ...(hasBody ? { body } : {}), headers: headersOf(action, facts), changes }
}

type HeaderFacts = { readonly [Role in Exclude<HeaderData['role'], 'value'>]?: string | undefined }

/** Documented headers with a known value. */
function headersOf({ headers = [] }: ResourceAction, facts: HeaderFacts): readonly (readonly [string, string])[] {
  return headers.flatMap(({ name, role, value }) => {
    const text = role === 'value' ? value : facts[role]
    return text === undefined ? [] : [[name, text] as const]
  })
}

const DEFAULT_PAGE_SIZE = 20

function list(request: ActionRequest, scope: readonly string[], space: RecordSpace): ActionResult {
  const { resource, action, query, newestFirst } = request
  const { query: roles = { filters: [] }, meta = {} } = action
  const filters = filtersOf(request)
  let found = [...(space.records(resource.name)?.all() ?? [])]
    .filter((record) => scope.every((value, index) => record.scope[index] === value))
    .map(({ value }) => value)
    .filter((value) => isMatch(value, filters))
  if (newestFirst) found.reverse()
  const sort = roles.sort === undefined ? undefined : query[roles.sort]
  if (typeof sort === 'string' && sort !== '') found = sorted(found, sort, query[roles.order ?? ''])
  const isPaged = roles.page !== undefined || roles.offset !== undefined || roles.cursor !== undefined
  const given = roles.limit === undefined ? undefined : query[roles.limit]
  const limit = given === undefined ? (isPaged ? DEFAULT_PAGE_SIZE : found.length) : Number(given)
  const idOf = (value: Values | undefined) => String(value?.[resource.id.property])
  const page = Math.max(1, Number(query[roles.page ?? ''] ?? 1))
  const cursor = query[roles.cursor ?? '']
  const start =
    cursor !== undefined
      ? found.findIndex((value) => idOf(value) === String(cursor)) + 1
      : roles.offset !== undefined && query[roles.offset] !== undefined
        ? Number(query[roles.offset])
        : (page - 1) * limit
  const records = found.slice(start, start + limit)
  const hasMore = start + records.length < found.length
  const next: Readonly<Record<string, unknown>> | undefined = !hasMore
    ? undefined
    : roles.cursor !== undefined
      ? { [roles.cursor]: idOf(records.at(-1)) }
      : roles.page !== undefined
        ? { [roles.page]: page + 1 }
        : roles.offset !== undefined
          ? { [roles.offset]: start + limit }
          : undefined
  const link = next && `${request.address}?${withParameters(request.search, next)}`
  const facts = { total: found.length, count: records.length, hasMore, page, limit, offset: start, next, link }
  const body =
    action.envelope === undefined
      ? records
      : {
          ...Object.fromEntries(Object.entries(meta).flatMap(([name, field]) => metaEntry(name, field, facts))),
          [action.envelope]: records,
        }
  const headers = headersOf(action, { link: link && `<${link}>; rel="next"`, total: String(found.length) })
  return { kind: 'done', status: action.status, body, headers, changes: [] }
}

interface ListFacts {
  readonly total: number
  readonly count: number
  readonly hasMore: boolean
  readonly page: number
  readonly limit: number
  readonly offset: number
  readonly next: Readonly<Record<string, unknown>> | undefined
  readonly link: string | undefined
}

function metaEntry(name: string, field: MetaField, facts: ListFacts): readonly (readonly [string, unknown])[] {
  switch (field.role) {
    case 'has-more':
      return [[name, facts.hasMore]]
    case 'pages':
      return [[name, Math.max(1, Math.ceil(facts.total / Math.max(1, facts.limit)))]]
    case 'next': {
      const next = field.isAddress ? facts.link : facts.next && Object.values(facts.next)[0]
      if (next !== undefined) return [[name, next]]
      return field.isNullable ? [[name, null]] : field.isRequired ? [[name, '']] : []
    }
    default:
      return [[name, facts[field.role]]]
  }
}

type Filter = readonly [property: string, accepted: readonly unknown[]]

function filtersOf({ action, path, query }: ActionRequest): readonly Filter[] {
  const given = [
    ...(action.pathFilters ?? []).map(({ parameter, property = '' }) => [property, path[parameter]] as const),
    ...(action.query?.filters ?? []).map(([parameter, property]) => [property, query[parameter]] as const),
  ]
  return given.flatMap(([property, value]) => (value === undefined ? [] : [[property, [value].flat()] as const]))
}

/** A list matches if it has any of the values. */
function isMatch(value: Values, filters: readonly Filter[]): boolean {
  return filters.every(([property, accepted]) => {
    const own = [value[property]].flat()
    return accepted.some((one) => own.some((each) => isSame(each, one)))
  })
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && stringifyJson(a) === stringifyJson(b))
}

/** By one property: `name`, `-name`, `name:desc`, or `name` and a direction of its own. */
function sorted(values: readonly Values[], sort: string, direction: unknown): Values[] {
  const [, minus, name = '', suffix] = /^([+-]?)([^:,\s]+)(?:[:\s](asc|desc))?/i.exec(sort) ?? []
  const isDescending = minus === '-' || /^desc/i.test(suffix ?? String(direction ?? ''))
  const compared = values.toSorted((a, b) => compare(a[name], b[name]))
  return isDescending ? compared.reverse() : compared
}

/** Missing values last, numbers by size, the rest by code unit. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === undefined || a === null) return 1
  if (b === undefined || b === null) return -1
  const [x, y] = typeof a === 'object' || typeof b === 'object' ? [stringifyJson(a), stringifyJson(b)] : [a, b]
  return (x as string) < (y as string) ? -1 : 1
}

function withParameters(search: string, parameters: Readonly<Record<string, unknown>>): string {
  const all = new URLSearchParams(search)
  for (const [name, value] of Object.entries(parameters)) all.set(name, String(value))
  return all.toString()
}
