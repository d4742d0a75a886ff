import * as v from 'valibot'
import { listed } from '../options/values/reading.js'

/** The input of a verb: these fields and no others; a slip is told with those that there are. */
export function fields<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, `takes ${listed(Object.keys(entries)) || 'nothing'}`)
}

export const text = v.string('must be a text')

/** A number as a program has it, or as it stands in a query. */
export function countSchema(message: string) {
  return v.union(
    [
      v.pipe(v.string(message), v.regex(/^\d{1,15}$/, message), v.transform(Number)),
      v.pipe(v.number(message), v.integer(message), v.minValue(0, message)),
    ],
    message,
  )
}
