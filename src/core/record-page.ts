import type { Values } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import { headersOf, type MetaField, type QueryRoles, type ResourceAction } from '../contract/resource-data.js'
import { type Collection, indexOf } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import type { ActionRequest, RecordPage } from './action-request.js'
import { readFirstPage } from './first-page.js'

const DEFAULT_PAGE_SIZE = 20
const NO_ROLES: QueryRoles = { filters: [] }

/** @param places of all records that the list has, ascending */
export function readPage(
  request: ActionRequest,
  places: readonly number[],
  scope: Scope,
  records: Collection,
): RecordPage {
  const { resource, action, query, newestFirst } = request
  const { query: roles = NO_ROLES, envelope } = action
  if (isBare(action)) return readFirstPage(request, places, records)
  const total = places.length
  const sorted = sortedValues(request, places, records)
  const at = (index: number) => sorted?.[index] ?? records.at(places[newestFirst ? total - 1 - index : index] ?? -1)
  const isPaged = roles.page !== undefined || roles.offset !== undefined || roles.cursor !== undefined
  const given = roles.limit === undefined ? undefined : query[roles.limit]
  const limit = given === undefined ? (isPaged ? DEFAULT_PAGE_SIZE : total) : Number(given)
  const page = Math.max(1, Number(query[roles.page ?? ''] ?? 1))
  const start = isPaged ? firstOf(request, { page, limit }, places, scope, records, sorted) : 0
  const values: Values[] = []
  for (let index = start; index < Math.min(total, start + limit); index++) values.push(at(index))
  const hasMore = start + values.length < total
  const lastId = String(values.at(-1)?.[resource.id.property])
  const next = hasMore ? nextPage(roles, { page, offset: start + limit, lastId }) : undefined
  const link = next && `${request.address()}?${withParameters(request.search, next)}`
  const headers = headersOf(action, { link: link && `<${link}>; rel="next"`, total: String(total) })
  if (envelope === undefined) return { values, before: '[', after: ']', headers }
  const facts = { total, count: values.length, hasMore, page, limit, offset: start, next, link }
  const meta = Object.entries(action.meta ?? {}).flatMap(([name, field]) => metaEntry(name, field, facts))
  const text = stringifyJson({ ...Object.fromEntries(meta), [envelope]: [] })
  return { values, before: text.slice(0, -2), after: ']}', headers }
}

function isBare({ query, headers, envelope }: ResourceAction): boolean {
  if (headers !== undefined || envelope !== undefined) return false
  const { page, offset, cursor, sort } = query ?? NO_ROLES
  return page === undefined && offset === undefined && cursor === undefined && sort === undefined
}

/** The values in the order that the request asks for; undefined if it is that of creation. */
function sortedValues(
  { action, query, newestFirst }: ActionRequest,
  places: readonly number[],
  records: Collection,
): readonly Values[] | undefined {
  const { sort: parameter = '', order = '' } = action.query ?? {}
  const sort = query[parameter]
  if (typeof sort !== 'string' || sort === '') return undefined
  const values = places.map((place) => records.at(place))
  return sorted(newestFirst ? values.reverse() : values, sort, query[order])
}

/** Number of matching records before the first one of the page. */
function firstOf(
  { resource, action, query, newestFirst }: ActionRequest,
  { page, limit }: { readonly page: number; readonly limit: number },
  places: readonly number[],
  scope: Scope,
  records: Collection,
  sorted: readonly Values[] | undefined,
): number {
  const { cursor: byCursor = '', offset: byOffset = '' } = action.query ?? {}
  const cursor = query[byCursor]
  if (cursor === undefined) return query[byOffset] === undefined ? (page - 1) * limit : Number(query[byOffset])
  if (sorted !== undefined)
    return sorted.findIndex((value) => String(value[resource.id.property]) === String(cursor)) + 1
  const place = records.placeOf(scope, cursor)
  if (place === undefined) return 0
  return newestFirst ? places.length - indexOf(places, place) : indexOf(places, place + 1)
}

type Page = Readonly<Record<'page' | 'offset', number>> & { readonly lastId: string }

/** The parameter that asks for the next page. */
function nextPage(roles: QueryRoles, { page, offset, lastId }: Page): Readonly<Record<string, unknown>> | undefined {
  if (roles.cursor !== undefined) return { [roles.cursor]: lastId }
  if (roles.page !== undefined) return { [roles.page]: page + 1 }
  return roles.offset === undefined ? undefined : { [roles.offset]: offset }
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
