import type { Values } from '../contract/contract.js'
import { DESCENDING, DIRECTION } from '../contract/directions.js'
import { quote } from '../contract/excerpt.js'
import { stringifyJson } from '../contract/json.js'
import { plainName } from '../contract/names.js'
import { headersOf, type QueryRoles, queryValue } from '../contract/resource-data.js'
import { indexOf, propertyOf } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import { MASK } from '../domain/redaction.js'
import type { ActionRequest, RecordPage } from './action-request.js'
import type { RecordsView } from './collections.js'
import { metaEntries, type PageLink } from './meta-entries.js'

const DEFAULT_PAGE_SIZE = 20
const NO_ROLES: QueryRoles = { filters: [] }

/** Why there is no page, as a sentence part. */
interface PageProblem {
  readonly problem: string
}

/** @param places of all records that the list has, ascending */
export function readPage(
  request: ActionRequest,
  places: readonly number[],
  scope: Scope,
  records: RecordsView,
): RecordPage | PageProblem {
  const { resource, action, query } = request
  const { query: roles = NO_ROLES, envelope, outer } = action
  const total = places.length
  const keys = sortKeys(request)
  if (typeof keys === 'string')
    return { problem: `${roles.sort} must name properties of the records (it is ${quote(keys)})` }
  const sorted = keys.length === 0 ? undefined : sortedBy(keys, request, places, records)
  const isReversed = isNewestFirst(request)
  const at = (index: number) => sorted?.[index] ?? records.at(places[isReversed ? total - 1 - index : index] ?? -1)
  const isPaged = roles.page !== undefined || roles.offset !== undefined || roles.cursor !== undefined
  const numberOf = (parameter: string | undefined) => wholeNumber(queryValue(query, parameter))
  const base = roles.isOneBased ? 1 : 0
  const skipped = numberOf(roles.offset)
  const until = numberOf(roles.end)
  const size = until === undefined ? numberOf(roles.limit) : Math.max(0, until - (skipped ?? base))
  // Without a size, or with a negative one.
  const limit = size !== undefined && size >= 0 ? size : isPaged ? DEFAULT_PAGE_SIZE : total
  const firstPage = roles.isZeroBased ? 0 : 1
  const page = Math.max(firstPage, numberOf(roles.page) ?? firstPage)
  const find = (cursor: unknown) => positionOf(request, cursor, places, scope, records, sorted, keys)
  const end = isGiven(queryValue(query, roles.before)) ? find(queryValue(query, roles.before))?.from : total
  if (end === undefined) return { problem: `${roles.before} is not a cursor of this list` }
  const isBackwards = end < total || isGiven(queryValue(query, roles.before))
  const cursor = queryValue(query, roles.cursor)
  const after = isGiven(cursor) ? find(cursor) : undefined
  if (isGiven(cursor) && after === undefined) return { problem: `${roles.cursor} is not a cursor of this list` }
  // An offset may have a default beside the page that was sent.
  const isSkipped = skipped !== undefined && (skipped > base || page === firstPage)
  const offset = Math.max(0, isSkipped ? skipped - base : (page - firstPage) * limit)
  const start = isBackwards ? Math.max(0, end - limit) : after === undefined ? (isPaged ? offset : 0) : after.to
  const values: Values[] = []
  for (let index = start; index < Math.min(end, start + limit); index++) values.push(at(index))
  // After an empty page, the next page would be the same.
  const hasNext = values.length > 0 && start + values.length < total
  const hasPrevious = start > 0 && limit > 0
  const [first, last] = [values[0], values.at(-1)].map((value) => value && String(value[resource.id.property]))
  const linkTo = (parameter: PageParameter | undefined): PageLink | undefined => {
    if (parameter === undefined) return undefined
    const [, value] = parameter
    return { value, address: `${request.address}?${withParameter(request.search, parameter, roles, limit)}` }
  }
  const next = hasNext ? linkTo(pageAt(roles, page + 1, start + limit + base, roles.cursor, last)) : undefined
  const before = Math.max(0, start - limit) + base
  const previous = hasPrevious ? linkTo(pageAt(roles, page - 1, before, roles.before, first)) : undefined
  const pages = Math.max(1, Math.ceil(total / Math.max(1, limit)))
  const edge = (at: number) => linkTo(pageAt(roles, firstPage + at, at * limit + base))
  const linkHeader = () =>
    Object.entries({ next, prev: previous, first: hasPrevious && edge(0), last: hasNext && edge(pages - 1) })
      .flatMap(([relation, link]) => (link ? [`<${link.address}>; rel="${relation}"`] : []))
      .join(', ')
  // Most lists need none of the facts below.
  if (envelope === undefined && action.headers === undefined)
    return { values, before: '[', after: ']', headers: headersOf(action, {}) }
  const hasTotal = Object.values({ ...action.meta, ...action.innerMeta }).some(({ role }) => role === 'total')
  const count = hasTotal ? values.length : total
  const hasMore = isBackwards ? hasPrevious : hasNext
  const [onPage, path] = [values.length, request.address]
  const edges = { firstPage: edge(0), lastPage: edge(pages - 1), onPage, path, base }
  const facts = { total, count, hasMore, hasNext, page, limit, offset: start, first, last, next, previous, ...edges }
  const fields = action.headers?.flatMap(({ name, field }) => (field ? [[name, field] as const] : []))
  const headers = headersOf(action, {
    link: action.headers && (linkHeader() || undefined),
    total: String(total),
    range: rangeOf(resource.name, start, values.length, total),
    ...(fields && { page: metaEntries(Object.fromEntries(fields), facts) }),
  })
  if (envelope === undefined) return { values, before: '[', after: ']', headers }
  const inner = { ...metaEntries(action.innerMeta, facts), [envelope]: [] }
  const text = stringifyJson({ ...metaEntries(action.meta, facts), ...(outer ? { [outer]: inner } : inner) })
  const closing = outer ? ']}}' : ']}'
  return { values, before: text.slice(0, -closing.length), after: closing, headers }
}

/** `pets 0-9/42`, for Content-Range. */
function rangeOf(resource: string, start: number, count: number, total: number): string {
  return `${resource.replace(/^.*\//, '')} ${count === 0 ? '*' : `${start}-${start + count - 1}`}/${total}`
}

/** The contract may allow fractions, and texts. */
function wholeNumber(given: unknown): number | undefined {
  const number = isGiven(given) ? Math.trunc(Number(given)) : Number.NaN
  return Number.isNaN(number) ? undefined : number
}

/** Whether records come in the reverse order of creation; a direction without a property to sort by is of creation. */
function isNewestFirst({ action, query, newestFirst }: ActionRequest): boolean {
  const { order = '', sort } = action.query ?? {}
  const direction = query[order]
  const isDirection = direction !== undefined && (order !== sort || DIRECTION.test(String(direction)))
  return isDirection ? isDescending(direction) : newestFirst
}

const MAX_SORT_KEYS = 20

interface SortKey {
  readonly property: string
  readonly isDescending: boolean
}

/**
 * The properties that the request sorts by: `name`, `-name`, `name:desc`, `name,desc`, `name_desc`, several of them in a list
 * or with commas, or `name` and a direction of its own. A text if there is no such property.
 */
function sortKeys({ resource, action, query }: ActionRequest): readonly SortKey[] | string {
  const { sort = '', order = '', hasSortChoices } = action.query ?? {}
  const given = [queryValue(query, sort) ?? ''].flat().flatMap((value) => String(value).split(','))
  const keys: SortKey[] = []
  for (const text of given) {
    const [, minus, name = '', suffix] = /^\s*([+-]?)([^:\s]+)(?:[:\s]+(asc|desc)\w*)?\s*$/i.exec(text) ?? []
    const last = keys.at(-1)
    if (/^(asc|desc)$/i.test(text) && last !== undefined) {
      keys[keys.length - 1] = { ...last, isDescending: isDescending(text) }
      continue
    }
    const find = (wanted: string) => sortedProperty(wanted, Object.keys(resource.properties), resource.attributes)
    const whole = find(name)
    const [, short = '', end] = (whole === undefined && /^(.+?)[._-]?(asc|desc)$/i.exec(name)) || []
    const property = whole ?? (end === undefined ? undefined : find(short))
    const isAnything = resource.isOpen || Object.keys(resource.properties).length === 0
    if (property === undefined && !isAnything && !hasSortChoices && text !== '') return text
    if (name === '' || (property === undefined && hasSortChoices)) continue
    const wanted = property ?? name
    // The first one decides, and each costs a look at all records.
    if (keys.length === MAX_SORT_KEYS || keys.some((key) => key.property === wanted)) continue
    keys.push({
      property: wanted,
      isDescending: minus === '-' || isDescending(suffix ?? end ?? query[order]),
    })
  }
  return keys
}

/** `created` is short for `created_at`; the attributes of JSON:API are meant without their prefix. */
function sortedProperty(
  name: string,
  properties: readonly string[],
  attributes: readonly string[] | undefined,
): string | undefined {
  if (properties.includes(name)) return name
  const named = (wanted: string, names = properties) => names.find((one) => plainName(one) === plainName(wanted))
  const own = named(name) ?? named(`${name}At`) ?? named(`${name}Date`)
  if (own !== undefined || !properties.includes('attributes')) return own
  const inside = attributes === undefined ? name : sortedProperty(name, attributes, undefined)
  return inside && `attributes.${inside}`
}

function isGiven(cursor: unknown): boolean {
  return cursor !== undefined && cursor !== '' && cursor !== null
}

/**
 * The index of the record that a cursor names, and that of the next one. If the filters no longer show the record, both are
 * the index that it would have. Undefined for a cursor that is not ours.
 */
function positionOf(
  request: ActionRequest,
  cursor: unknown,
  places: readonly number[],
  scope: Scope,
  records: RecordsView,
  sorted: readonly Values[] | undefined,
  keys: readonly SortKey[],
): { readonly from: number; readonly to: number } | undefined {
  const place = records.placeOf(scope, cursor)
  if (place === undefined) return undefined
  const older = indexOf(places, place)
  const own = places[older] === place ? 1 : 0
  const withOwn = () => [...places.slice(0, older), place, ...places.slice(older)]
  const from =
    sorted !== undefined
      ? (own === 1 ? sorted : sortedBy(keys, request, withOwn(), records)).indexOf(records.at(place))
      : isNewestFirst(request)
        ? places.length - older - own
        : older
  return { from, to: from + own }
}

type PageParameter = readonly [name: string, value: unknown]

/** The parameter that asks for a page. @param cursor the one of its direction, with the id of the record beside the page */
function pageAt(
  roles: QueryRoles,
  page: number,
  offset: number,
  cursor?: string,
  id?: string,
): PageParameter | undefined {
  if (roles.cursor !== undefined) return cursor === undefined || id === undefined ? undefined : [cursor, id]
  if (roles.page !== undefined) return [roles.page, page]
  return roles.offset === undefined ? undefined : [roles.offset, offset]
}

/** A text such as `9.99`, of a price. */
const DECIMAL = /^-?\d+\.\d+$/

/** Records without a property come last in both directions. Texts that are all decimal numbers are compared as numbers. */
function sortedBy(
  keys: readonly SortKey[],
  { newestFirst }: ActionRequest,
  places: readonly number[],
  records: RecordsView,
): readonly Values[] {
  const values = places.map((place) => records.at(place))
  const isDecimal = ({ property }: SortKey) =>
    values.every((value) => DECIMAL.test(String(propertyOf(value, property) ?? '0.0')))
  const decimals = new Set(keys.filter(isDecimal))
  return (newestFirst ? values.reverse() : values).sort((one, other) => {
    for (const key of keys) {
      const { property, isDescending } = key
      const [a, b] = [propertyOf(one, property) ?? undefined, propertyOf(other, property) ?? undefined]
      if (a === undefined || b === undefined) {
        if (a !== b) return a === undefined ? 1 : -1
        continue
      }
      const difference = decimals.has(key) ? Number(a) - Number(b) : compare(a, b)
      if (difference !== 0) return isDescending ? -difference : difference
    }
    return 0
  })
}

function isDescending(direction: unknown): boolean {
  return DESCENDING.test(String(direction))
}

/** Numbers by size, the rest by code unit. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  const [x, y] = typeof a === 'object' || typeof b === 'object' ? [stringifyJson(a), stringifyJson(b)] : [a, b]
  return (x as string) < (y as string) ? -1 : 1
}

function withParameter(search: string, [name, value]: PageParameter, roles: QueryRoles, limit: number): string {
  const all = new URLSearchParams(search)
  // A key in the query is masked here; the client sends its own again.
  for (const [key, text] of [...all]) if (text === MASK) all.delete(key)
  // A page goes in one direction.
  for (const cursor of [roles.cursor, roles.before]) if (cursor !== undefined && cursor !== name) all.delete(cursor)
  all.set(name, String(value))
  if (roles.end !== undefined) all.set(roles.end, String(Number(value) + limit))
  return all.toString()
}
