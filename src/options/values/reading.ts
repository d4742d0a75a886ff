import * as v from 'valibot'

/** The result of parsing a string: the value, or a phrase that says what is wrong ("must be a whole number"). */
export type ParseResult<T> = { readonly value: T } | { readonly problem: string }

/**
 * A schema for a value that users write as a string.
 *
 * @param allowed the message if it is not a string at all
 */
export function textSchema<T>(allowed: string, read: (text: string) => ParseResult<T>) {
  return v.pipe(
    v.string(allowed),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      const reading = read(dataset.value)
      if ('value' in reading) return reading.value
      addIssue({ message: reading.problem })
      return NEVER
    }),
  )
}

/** A schema for one of a few words or numbers. */
export function oneOf<const T extends readonly (string | number)[]>(values: T) {
  return v.picklist(values, `must be ${joinOr(values)}`)
}

/** A schema for a yes or no. */
export const switchSchema = v.boolean('must be true or false')

/** A schema for a non-empty string. `what` names it: "a file". */
export function filledText(what: string) {
  const message = `must be ${what}`
  return v.pipe(v.string(message), v.nonEmpty(message))
}

/** "a, b or c" */
export function joinOr(values: readonly (string | number)[]): string {
  return values.length < 2 ? values.join() : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}

/** A schema for a map with these entries and no others. Arrays are not maps. */
export function mapSchema<const Entries extends v.ObjectEntries>(entries: Entries, allowed: string) {
  return v.pipe(
    v.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), allowed),
    v.strictObject(entries, allowed),
  )
}
