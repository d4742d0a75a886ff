import type { Values } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import { headersOf, type QueryRoles, queryValue, type ResourceAction } from '../contract/resource-data.js'
import { type Collection, indexOf } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import type { ActionRequest, RecordPage } from './action-request.js'
import { metaEntries } from './envelopes.js'

const DEFAULT_PAGE_SIZE = 20
const NO_ROLES: QueryRoles = { filters: [] }

/** @param places of all records that the list has, ascending */
export function readPage(
  request: ActionRequest,
  places: readonly number[],
  scope: Scope,
  records: Collection,
): RecordPage | 'no-such-page' {
  const { resource, action, query } = request
  const { query: roles = NO_ROLES, envelope } = action
  if (isBare(action)) return readFirstPage(request, places, records)
  const total = places.length
  const sorted = sortedValues(request, places, records)
  const isReversed = isNewestFirst(request)
  const at = (index: number) => sorted?.[index] ?? records.at(places[isReversed ? total - 1 - index : index] ?? -1)
  const isPaged = roles.page !== undefined || roles.offset !== undefined || roles.cursor !== undefined
  const given = queryValue(query, roles.limit)
  const limit = given === undefined ? (isPaged ? DEFAULT_PAGE_SIZE : total) : Number(given)
  const firstPage = roles.isZeroBased ? 0 : 1
  const page = Math.max(firstPage, Number(queryValue(query, roles.page) ?? firstPage))
  const start = isPaged ? firstOf(request, (page - firstPage) * limit, places, scope, records, sorted) : 0
  if (start === undefined) return 'no-such-page'
  const values: Values[] = []
  for (let index = start; index < Math.min(total, start + limit); index++) values.push(at(index))
  const hasMore = start + values.length < total
  const [first, last] = [values[0], values.at(-1)].map((value) => value && String(value[resource.id.property]))
  const next = hasMore ? nextPage(roles, { page, offset: start + limit, lastId: last }) : undefined
  const link = next && `${request.address}?${withParameters(request.search, next)}`
  const headers = headersOf(action, { link: link && `<${link}>; rel="next"`, total: String(total) })
  if (envelope === undefined) return { values, before: '[', after: ']', headers }
  const hasTotal = Object.values(action.meta ?? {}).some(({ role }) => role === 'total')
  const count = hasTotal ? values.length : total
  const facts = { total, count, hasMore, page, limit, offset: start, first, last, next, link }
  const text = stringifyJson({ ...metaEntries(action.meta, facts), [envelope]: [] })
  return { values, before: text.slice(0, -2), after: ']}', headers }
}

const NO_HEADERS: RecordPage['headers'] = []

/** The only page of a bare list that has a limit and no other parameter for pages. */
function readFirstPage(
  { action, query, newestFirst }: ActionRequest,
  places: readonly number[],
  records: Collection,
): RecordPage {
  const total = places.length
  const limit = queryValue(query, action.query?.limit)
  const count = limit === undefined ? total : Math.min(total, Number(limit))
  const values: Values[] = []
  for (let i = 0; i < count; i++) values.push(records.at(places[newestFirst ? total - 1 - i : i] ?? -1))
  return { values, before: '[', after: ']', headers: NO_HEADERS }
}

function isBare({ query, headers, envelope }: ResourceAction): boolean {
  if (headers !== undefined || envelope !== undefined) return false
  const { page, offset, cursor, sort, order } = query ?? NO_ROLES
  return [page, offset, cursor, sort, order].every((parameter) => parameter === undefined)
}

/** Whether records come in the reverse order of creation; a direction without a property to sort by is of creation. */
function isNewestFirst({ action, query, newestFirst }: ActionRequest): boolean {
  const direction = query[action.query?.order ?? '']
  return direction === undefined ? newestFirst : isDescending(direction)
}

/** The values in the order that the request asks for; undefined for the order of creation. */
function sortedValues(
  { action, query, newestFirst }: ActionRequest,
  places: readonly number[],
  records: Collection,
): readonly Values[] | undefined {
  const { sort: parameter = '', order = '' } = action.query ?? {}
  const given = [queryValue(query, parameter)].flat()
  // Spring has the direction as a second item.
  const sort = /^(asc|desc)$/i.test(String(given[1])) ? given.slice(0, 2).join() : given[0]
  if (typeof sort !== 'string' || sort === '') return undefined
  const values = places.map((place) => records.at(place))
  return sorted(newestFirst ? values.reverse() : values, sort, query[order])
}

/** Number of matching records before the first one of the page; undefined for a cursor that is not ours. */
function firstOf(
  request: ActionRequest,
  byPage: number,
  places: readonly number[],
  scope: Scope,
  records: Collection,
  sorted: readonly Values[] | undefined,
): number | undefined {
  const { resource, action, query } = request
  const cursor = queryValue(query, action.query?.cursor)
  if (cursor === undefined || cursor === '' || cursor === null)
    return Number(queryValue(query, action.query?.offset) ?? byPage)
  const place = records.placeOf(scope, cursor)
  if (place === undefined) return undefined
  if (sorted !== undefined)
    return sorted.findIndex((value) => String(value[resource.id.property]) === String(cursor)) + 1
  return isNewestFirst(request) ? places.length - indexOf(places, place) : indexOf(places, place + 1)
}

type Page = Readonly<Record<'page' | 'offset', number>> & { readonly lastId: string | undefined }

/** The parameter that asks for the next page. */
function nextPage(roles: QueryRoles, { page, offset, lastId }: Page): Readonly<Record<string, unknown>> | undefined {
  if (roles.cursor !== undefined) return { [roles.cursor]: lastId }
  if (roles.page !== undefined) return { [roles.page]: page + 1 }
  return roles.offset === undefined ? undefined : { [roles.offset]: offset }
}

/**
 * By one property: `name`, `-name`, `name:desc`, `name,desc`, or `name` and a direction of its own. Records without the property come
 * last in both directions.
 */
function sorted(values: readonly Values[], sort: string, direction: unknown): Values[] {
  const [, minus, name = '', suffix] = /^([+-]?)([^:,\s]+)(?:[:,\s](asc|desc))?/i.exec(sort) ?? []
  const isMissing = (value: Values) => value[name] === undefined || value[name] === null
  const compared = values.filter((value) => !isMissing(value)).sort((a, b) => compare(a[name], b[name]))
  if (minus === '-' || isDescending(suffix ?? direction)) compared.reverse()
  return [...compared, ...values.filter(isMissing)]
}

function isDescending(direction: unknown): boolean {
  return /^desc/i.test(String(direction))
}

/** Numbers by size, the rest by code unit. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  const [x, y] = typeof a === 'object' || typeof b === 'object' ? [stringifyJson(a), stringifyJson(b)] : [a, b]
  return (x as string) < (y as string) ? -1 : 1
}

function withParameters(search: string, parameters: Readonly<Record<string, unknown>>): string {
  const all = new URLSearchParams(search)
  for (const [name, value] of Object.entries(parameters)) all.set(name, String(value))
  return all.toString()
}
