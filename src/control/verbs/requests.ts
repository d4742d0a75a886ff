import * as v from 'valibot'
import type { Space } from '../../core/space.js'
import { labelOf } from '../../domain/keys.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import { type Exchange, exchangeView } from '../../exchanges/exchange-view.js'
import { readInstant } from '../../options/values/instant.js'
import { textSchema } from '../../options/values/reading.js'
import { countSchema, fields, text } from '../fields.js'
import { verb } from '../verb.js'

const SINCE = 'must be the id of an exchange (those after it are shown) or an instant'

const sinceSchema = v.union(
  [
    countSchema(SINCE),
    textSchema(SINCE, (text) => {
      const reading = readInstant(text)
      return 'value' in reading ? { value: { at: reading.value } } : reading
    }),
  ],
  SINCE,
)

const filterEntries = {
  operation: v.optional(text),
  status: v.optional(countSchema('must be a status')),
  key: v.optional(text),
  reason: v.optional(text),
}

export const filterSchema = fields(filterEntries)
export type Filter = v.InferOutput<typeof filterSchema>

export const list = verb({
  method: 'GET',
  path: '/requests',
  summary:
    'Exchanges of a space, oldest first; filters: operation, status, key, reason, since (id or instant), limit (only the newest)',
  input: fields({
    ...filterEntries,
    since: v.optional(sinceSchema),
    limit: v.optional(countSchema('must be a number of exchanges')),
  }),
  run({ space, wall }, { since, limit, ...filter }): readonly Exchange[] {
    const wanted = filterIn(space, filter)
    const found = [...space.log].filter((record) => matches(record, wanted) && isAfter(record, since))
    return found
      .slice(limit === undefined ? 0 : Math.max(0, found.length - limit))
      .map((record) => exchangeView(record, wall))
  },
})

export const clear = verb({
  method: 'DELETE',
  path: '/requests',
  summary: 'Forgets the exchanges of a space',
  run({ space }) {
    space.log.clear()
    return []
  },
})

/** A filter that names a key by itself, or by its label, which is what the log has. */
export function filterIn(space: Space, { key, ...filter }: Filter): Filter {
  if (key === undefined) return filter
  const apiKey = space.findKey(key)
  return { ...filter, key: apiKey === undefined ? key : labelOf(apiKey) }
}

export function matches(record: ExchangeRecord, { operation, status, key, reason }: Filter): boolean {
  return (
    (operation === undefined || record.operation === operation) &&
    (status === undefined || (record.how !== undefined && record.status === status)) &&
    (key === undefined || record.key === key) &&
    (reason === undefined || record.reason === reason)
  )
}

function isAfter(record: ExchangeRecord, since: number | { readonly at: number } | undefined): boolean {
  if (since === undefined) return true
  return typeof since === 'number' ? record.id > since : record.at >= since.at
}
