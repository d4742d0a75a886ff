import type { Values } from '../contract/contract.js'
import { isNode, stringifyJson } from '../contract/json.js'
import { type MetaField, type ResourceAction, type ResourceData, viewed } from '../contract/resource-data.js'
import { recordText } from '../domain/records.js'
import type { ActionRequest } from './action-request.js'

/** The request with the record of its envelope as its body, under the names of the record's properties. */
export function unwrapBody(request: ActionRequest): ActionRequest {
  const { bodyEnvelope } = request.action
  const held = bodyEnvelope === undefined ? undefined : request.body[bodyEnvelope]
  const inner: unknown = Array.isArray(held) ? held[0] : held
  return withBody(request, isNode(inner) ? inner : request.body)
}

/** @param body a record as it was sent */
export function withBody(request: ActionRequest, body: Values): ActionRequest {
  const { ignores } = request.action
  const { aliases } = request.resource
  if (ignores === undefined && aliases === undefined) return body === request.body ? request : { ...request, body }
  const sent = Object.entries(body).filter(([name]) => !ignores?.includes(name))
  return { ...request, body: Object.fromEntries(sent.map(([name, value]) => [aliases?.[name] ?? name, value])) }
}

/** The response body with one record, or with the notice of its removal. @param list all records, of a request that made several */
export function bodyText({ action, resource }: ActionRequest, kept: Values, list: readonly Values[] = [kept]): string {
  const { outer, envelope, isListed, meta, isNotice } = action
  if ('literal' in action) return stringifyJson(action.literal)
  if (envelope === undefined && !isNotice && !isListed) return shownText(kept, resource, action)
  const values = list.map((value) => shown(value, resource, action))
  const value = isListed ? values : values[0]
  if (envelope === undefined && !isNotice) return stringifyJson(value)
  const id = String(kept[resource.id.property])
  const beside = metaEntries(meta, { ...ONE_RECORD, first: id, last: id })
  const whole = envelope === undefined ? beside : { ...beside, [envelope]: value }
  return stringifyJson(outer === undefined ? whole : { [outer]: whole })
}

/** What a response has of a record, as JSON. */
export function shownText(value: Values, resource: ResourceData, action: Pick<ResourceAction, 'view'>): string {
  if (action.view?.isId) return stringifyJson(value[resource.id.property])
  return recordText(shown(value, resource, action) as Values)
}

function shown(value: Values, resource: ResourceData, { view }: Pick<ResourceAction, 'view'>): unknown {
  if (view?.isId) return value[resource.id.property]
  const record = resource.hidden === undefined ? value : shownRecord(value, resource)
  return view === undefined ? record : viewed(record, view)
}

/** A record without its write-only properties. */
function shownRecord(value: Values, { hidden = [] }: ResourceData): Values {
  return hidden.reduce((shown, path) => without(shown, path) as Values, value)
}

function without(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, [name, ...rest]))
  if (!isNode(value) || value[name] === undefined) return value
  const { [name]: inner, ...others } = value
  return rest.length === 0 ? others : { ...value, [name]: without(inner, rest) }
}

export interface PageLink {
  readonly value: unknown
  readonly address: string
}

export interface ListFacts {
  readonly total: number
  readonly count: number
  readonly onPage: number
  readonly hasMore: boolean
  readonly page: number
  readonly limit: number
  readonly offset: number
  /** Ids of the first and the last record of the page. */
  readonly first: string | undefined
  readonly last: string | undefined
  /** The parameter that asks for the next page, and the address with it. */
  readonly next: PageLink | undefined
  readonly previous: PageLink | undefined
  readonly firstPage: PageLink | undefined
  readonly lastPage: PageLink | undefined
  /** The address without a query. */
  readonly path: string
  /** Added to the number of skipped records. */
  readonly base?: number
}

const ONE_RECORD = {
  total: 1,
  count: 1,
  onPage: 1,
  hasMore: false,
  page: 1,
  limit: 1,
  offset: 0,
  next: undefined,
  previous: undefined,
  firstPage: undefined,
  lastPage: undefined,
  path: '',
}

export function metaEntries(meta: Readonly<Record<string, MetaField>> = {}, facts: ListFacts): Values {
  return Object.fromEntries(Object.entries(meta).flatMap(([name, field]) => metaEntry(name, field, facts)))
}

function metaEntry(name: string, field: MetaField, facts: ListFacts): readonly (readonly [string, unknown])[] {
  switch (field.role) {
    case 'removed':
      return [[name, true]]
    case 'value':
      return [[name, field.value]]
    case 'done':
      return [[name, !facts.hasMore]]
    case 'group': {
      const isLast = facts.next === undefined && Object.values(field.fields).some(({ role }) => role === 'next')
      return [[name, field.isNullable && isLast ? null : metaEntries(field.fields, facts)]]
    }
    case 'has-more':
      return [[name, facts.hasMore]]
    case 'is-first':
      return [[name, facts.offset === 0]]
    case 'has-previous':
      return [[name, facts.offset > 0]]
    case 'is-empty':
      return [[name, facts.first === undefined]]
    case 'pages':
      return [[name, Math.max(1, Math.ceil(facts.total / Math.max(1, facts.limit)))]]
    case 'offset':
      return [[name, facts.offset + (facts.base ?? 0)]]
    case 'path':
      return [[name, absolute(facts.path)]]
    case 'from':
    case 'to': {
      const at = field.role === 'from' ? facts.offset + 1 : facts.offset + facts.onPage
      return facts.onPage > 0 ? [[name, at]] : field.isNullable ? [[name, null]] : field.isRequired ? [[name, 0]] : []
    }
    case 'next':
    case 'previous':
    case 'first':
    case 'last':
    case 'first-page':
    case 'last-page': {
      const role = field.role === 'first-page' ? 'firstPage' : field.role === 'last-page' ? 'lastPage' : field.role
      const found = facts[role]
      const one =
        typeof found !== 'object'
          ? found
          : field.isAddress || role.endsWith('Page')
            ? absolute(found.address)
            : found.value
      const value = one === undefined ? undefined : field.isNumber ? Number(one) : String(one)
      if (value !== undefined && !Number.isNaN(value)) return [[name, value]]
      return field.isNullable ? [[name, null]] : field.isRequired ? [[name, field.isNumber ? 0 : '']] : []
    }
    default:
      return [[name, facts[field.role]]]
  }
}

/** An address with a host, as the format `uri` requires; a request in process may have none. */
function absolute(address: string): string {
  return address.startsWith('/') ? `http://localhost${address}` : address
}
