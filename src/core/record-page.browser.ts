import type { Collection } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import type { ActionRequest, RecordPage } from './action-request.js'
import { readFirstPage } from './first-page.js'

/** Lists of the packaged contract only have a limit. */
export function readPage(
  request: ActionRequest,
  places: readonly number[],
  _scope: Scope,
  records: Collection,
): RecordPage {
  return readFirstPage(request, places, records)
}
