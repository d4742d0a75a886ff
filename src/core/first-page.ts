import type { Values } from '../contract/contract.js'
import type { Collection } from '../domain/collection.js'
import type { ActionRequest, RecordPage } from './action-request.js'

const NO_HEADERS: RecordPage['headers'] = []

/** The only page of a bare list that has a limit and no other parameter for pages. */
export function readFirstPage(
  { action, query, newestFirst }: Pick<ActionRequest, 'action' | 'query' | 'newestFirst'>,
  places: readonly number[],
  records: Collection,
): RecordPage {
  const total = places.length
  const limit = action.query?.limit === undefined ? undefined : query[action.query.limit]
  const count = limit === undefined ? total : Math.min(total, Number(limit))
  const values: Values[] = []
  for (let i = 0; i < count; i++) values.push(records.at(places[newestFirst ? total - 1 - i : i] ?? -1))
  return { values, before: '[', after: ']', headers: NO_HEADERS }
}
