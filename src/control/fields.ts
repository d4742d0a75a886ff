import * as v from 'valibot'
import { joinOr } from '../options/values/reading.js'

/** The input of a verb: these fields and no others; errors list the valid ones. */
export function fields<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, `takes ${joinOr(Object.keys(entries)) || 'nothing'}`)
}

export const text = v.string('must be a string')

/** A number as a program passes it, or as it is written in a query. */
export function countSchema(message: string) {
  return v.union(
    [
      v.pipe(v.string(message), v.regex(/^\d{1,15}$/, message), v.transform(Number)),
      v.pipe(v.number(message), v.integer(message), v.minValue(0, message)),
    ],
    message,
  )
}
