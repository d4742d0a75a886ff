import * as v from 'valibot'
import type { RecordRules } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import { type ApiKey, KEY_CONDITIONS } from '../domain/keys.js'
import { PET_STATUSES, type Pet } from '../domain/pets.js'
import type { SavedRecords } from '../domain/records.js'
import { int64Schema, petFields, recordSchema } from '../domain/schemas.js'
import { CorruptionError } from './store-error.js'

type Schema<T> = v.GenericSchema<unknown, T>

/** @throws CorruptionError with the place of the value */
export type Reader<T> = (value: unknown, where: string) => T

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
const INT64_FORM = 'a 64-bit integer'
export const int64 = int64Schema(INT64_FORM)

function oneOf<const T extends readonly (string | number)[]>(allowed: T) {
  return v.picklist(allowed, `one of ${allowed.join(', ')}`)
}

export function list<T>(item: Schema<T>) {
  return v.array(item, 'a list')
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return v.custom<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
    `a whole number from ${min} to ${max}`,
  )
}

const STATUS_FORM = `one of ${PET_STATUSES.join(', ')}`
const pet = fields(petFields({ text: 'a string', int64: INT64_FORM, status: STATUS_FORM }))

export const readPackagedPet: Reader<Pet> = (value, where) =>
  isPlainPet(value) ? value : check(pet as Schema<Pet>, value, where)

/** Whether a value is a pet with its fields in our order: ten times faster than the schema. */
function isPlainPet(value: unknown): value is Pet {
  const { id, name, categoryId, status }: Partial<Pet> = Object(value)
  if (!Number.isSafeInteger(id) || typeof name !== 'string' || !Number.isSafeInteger(categoryId)) return false
  const [first, second, third, fourth, ...others] = Object.keys(Object(value))
  if (first !== 'id' || second !== 'name' || third !== 'categoryId' || others.length > 0) return false
  return fourth === undefined || (fourth === 'status' && status !== undefined && PET_STATUSES.includes(status))
}

export function petReader(rules: RecordRules): Reader<Pet> {
  return (value, where) => {
    const { id } = check(v.looseObject({ id: int64 }, 'an object'), value, where)
    const violations = rules.findViolations(value as Readonly<Record<string, unknown>>)
    if (violations.length === 0) return value as Pet
    throw new CorruptionError(
      `${where} (id ${id}) does not match the contract given with --spec: ${violations.join('; ')}. Use the contract that the store was written with, or choose another file with --store`,
    )
  }
}

export const apiKey = fields({
  key: v.pipe(text, v.nonEmpty('a non-empty string')),
  plan: v.optional(text),
  always: v.optional(oneOf(KEY_CONDITIONS)),
}) as Schema<ApiKey>

/** Leaves room for new ids below the end of int64. Only manual edits get this far. */
const MAX_NEXT_PET_ID = 2n ** 62n

export const recordEntry = fields({ scope: list(text), value: record })
const savedRecords = v.pipe(
  fields({ idProperty: text, nextId: int64, values: list(record), scopes: v.optional(list(list(text))) }),
  v.check(({ values, scopes }) => scopes === undefined || scopes.length === values.length, 'as many scopes as values'),
) as Schema<SavedRecords>

export const state = fields({
  nextPetId: v.pipe(
    int64,
    v.check((id) => id <= MAX_NEXT_PET_ID, `a whole number up to ${MAX_NEXT_PET_ID}`),
  ),
  // Not v.array, which copies a million entries.
  pets: v.custom<readonly unknown[]>(Array.isArray, 'a list'),
  orders: list(record),
  keys: list(apiKey),
  records: v.optional(recordSchema(v.string(), savedRecords, 'an object')),
})
