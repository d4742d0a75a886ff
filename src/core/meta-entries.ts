import type { Values } from '../contract/contract.js'
import type { MetaField } from '../contract/resource-data.js'

export interface PageLink {
  readonly value: unknown
  readonly address: string
}

export interface ListFacts {
  readonly total: number
  readonly count: number
  readonly onPage: number
  /** In the direction of the request; `hasNext` is after the page. */
  readonly hasMore: boolean
  readonly hasNext: boolean
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

export const ONE_RECORD = {
  total: 1,
  count: 1,
  onPage: 1,
  hasMore: false,
  hasNext: false,
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
    case 'has-next':
      return [[name, facts.hasNext]]
    case 'is-first':
      return [[name, facts.offset === 0]]
    case 'has-previous':
      return [[name, facts.offset > 0]]
    case 'is-empty':
      return [[name, facts.first === undefined]]
    case 'pages':
      // An empty list has a last page, and no pages.
      return [[name, Math.max(/last/i.test(name) ? 1 : 0, Math.ceil(facts.total / Math.max(1, facts.limit)))]]
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
      const item =
        typeof found !== 'object'
          ? found
          : field.isAddress || role.endsWith('Page')
            ? absolute(found.address)
            : found.value
      const value = item === undefined ? undefined : field.isNumber ? Number(item) : String(item)
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
