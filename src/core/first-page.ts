import type { Values } from '../contract/contract.js'
import { type QueryRoles, queryValue, type ResourceAction } from '../contract/resource-data.js'
import type { ActionRequest, RecordPage } from './action-request.js'
import type { RecordsView } from './collections.js'

const NO_HEADERS: RecordPage['headers'] = []

/** The only page of a bare list that has a limit and no other parameter for pages. */
export function readFirstPage(
  { action, query, newestFirst }: ActionRequest,
  places: readonly number[],
  records: RecordsView,
): RecordPage {
  const total = places.length
  const given = queryValue(query, action.query?.limit)
  const limit = given === '' ? -1 : Math.trunc(Number(given ?? -1))
  const count = limit >= 0 ? Math.min(total, limit) : total
  const values: Values[] = []
  for (let i = 0; i < count; i++) values.push(records.at(places[newestFirst ? total - 1 - i : i] ?? -1))
  return { values, before: '[', after: ']', headers: NO_HEADERS }
}

/** Whether a list has no other parameter for pages than a limit, and nothing beside its records. */
export function isBare({ query, headers, envelope }: ResourceAction): boolean {
  if (headers !== undefined || envelope !== undefined) return false
  const { page, offset, cursor, sort, order }: Partial<QueryRoles> = query ?? {}
  return [page, offset, cursor, sort, order].every((parameter) => parameter === undefined)
}
