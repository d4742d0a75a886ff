import * as v from 'valibot'
import { stringifyJson } from '../contract/json.js'
import { type ApiKey, KEY_CONDITIONS } from '../domain/keys.js'
import { int64Schema } from '../domain/schemas.js'
import { CorruptionError } from './store-error.js'

type Schema<T> = v.GenericSchema<unknown, T>

const MAX_SHOWN_CHARACTERS = 60

/**
 * @param where place of the value: `pets[3]`; empty for the root
 * @throws CorruptionError such as `pets[3].id is "7", where a 64-bit integer is expected`
 */
export function check<T>(schema: Schema<T>, value: unknown, where: string): T {
  const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true })
  if (success) return output
  const [{ type, input, expected, message, path = [] }] = issues
  const keys = path.map(({ key }) => key)
  const place = placeOf(where, keys)
  if (type === 'raw_check') throw new CorruptionError(`${place}: ${message}`)
  if (expected === 'never')
    throw new CorruptionError(
      `${placeOf(where, keys.slice(0, -1))} has an unknown field, ${JSON.stringify(keys.at(-1))}`,
    )
  if (input === undefined) throw new CorruptionError(`${place} is missing`)
  const text = stringifyJson(input)
  const shown = text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
  throw new CorruptionError(`${place} is ${shown}, where ${message} is expected`)
}

function placeOf(where: string, keys: readonly unknown[]): string {
  const path = keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return (where === '' ? path.replace(/^\./, '') : where + path) || 'it'
}

/** Refuses unknown fields, because the next write would lose them. */
export function fields<const T extends v.ObjectEntries>(entries: T) {
  return v.strictObject(entries, 'an object')
}

export const text = v.string('a string')
export const record = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'an object',
)
export const int64 = int64Schema('a 64-bit integer')

/** Not v.array, which copies a million entries. */
export const anyList = v.custom<readonly unknown[]>(Array.isArray, 'a list')

export function list<T>(item: Schema<T>) {
  return v.array(item, 'a list')
}

export const wholeNumber = v.custom<number>(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  `a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`,
)

export const apiKey = fields({
  key: v.pipe(text, v.nonEmpty('a non-empty string')),
  plan: v.optional(text),
  always: v.optional(v.picklist(KEY_CONDITIONS, `one of ${KEY_CONDITIONS.join(', ')}`)),
}) as Schema<ApiKey>
