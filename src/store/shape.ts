import type { PetRules } from '../contract/contract.js'
import { INT64_MAXIMUM, INT64_MINIMUM, type Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'
import { type ApiKey, KEY_CONDITIONS, PLAN_NAMES } from '../domain/keys.js'
import { PET_STATUSES, type Pet } from '../domain/pets.js'
import { CorruptionError } from './store-error.js'

/**
 * Checks that a value from a file is a pet.
 *
 * A field that a pet does not have is refused, not dropped: the next write would lose it.
 *
 * @param where place in the file, as a sentence part: `pets[3]`
 * @throws CorruptionError
 */
export function asPet(value: unknown, where: string): Pet {
  const pet = asRecord(value, where)
  for (const name in pet) {
    if (name !== 'id' && name !== 'name' && name !== 'categoryId' && name !== 'status') unknownField(name, where)
  }
  if (!isInt64(pet.id)) wrong(pet.id, `${where}.id`, 'a 64-bit integer')
  if (typeof pet.name !== 'string') wrong(pet.name, `${where}.name`, 'a string')
  if (!isInt64(pet.categoryId)) wrong(pet.categoryId, `${where}.categoryId`, 'a 64-bit integer')
  if ('status' in pet) asOneOf(pet.status, PET_STATUSES, `${where}.status`)
  return value as Pet
}

/** Makes the reader of pets under a contract given with --spec: whatever may be in its answers, and nothing else. */
export function petReader(rules: PetRules): Reader<Pet> {
  return (value, where) => {
    const pet = asRecord(value, where)
    if (!isInt64(pet.id)) wrong(pet.id, `${where}.id`, 'a 64-bit integer')
    const breaches = rules.findBreaches(pet)
    if (breaches.length === 0) return value as Pet
    throw new CorruptionError(
      `${where} (id ${pet.id}) is no animal of the contract given with --spec: ${breaches.join('; ')}. A store that was kept under another contract goes with that one; choose another file with --store`,
    )
  }
}

/**
 * Ids are given from here on, one after the other: none of them may come to the end of int64.
 *
 * The service's own begin at 2^53 at most, so nobody gets here but by hand.
 */
const LAST_NEXT_PET_ID = 2n ** 62n

/** @throws CorruptionError */
export function asNextPetId(value: unknown, where: string): Int64 {
  const id = asInt64(value, where)
  return id <= LAST_NEXT_PET_ID ? id : wrong(value, where, `a whole number up to ${LAST_NEXT_PET_ID}`)
}

/** Checks that a value from a file is an API key. @throws CorruptionError */
export function asKey(value: unknown, where: string): ApiKey {
  const key = asRecord(value, where)
  for (const name in key) {
    if (name !== 'key' && name !== 'plan' && name !== 'always') unknownField(name, where)
  }
  if (typeof key.key !== 'string' || key.key === '') wrong(key.key, `${where}.key`, 'a non-empty string')
  if ('plan' in key) asOneOf(key.plan, PLAN_NAMES, `${where}.plan`)
  if ('always' in key) asOneOf(key.always, KEY_CONDITIONS, `${where}.always`)
  return value as ApiKey
}

/** @throws CorruptionError */
export function asInt64(value: unknown, where: string): Int64 {
  return isInt64(value) ? value : wrong(value, where, 'a 64-bit integer')
}

/** @throws CorruptionError */
export function asText(value: unknown, where: string): string {
  return typeof value === 'string' ? value : wrong(value, where, 'a string')
}

/** @throws CorruptionError */
export function asList(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : wrong(value, where, 'a list')
}

/** @throws CorruptionError */
export function asRecord(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(value, where, 'an object')
  return value as Readonly<Record<string, unknown>>
}

/** Refuses fields beyond those named. @throws CorruptionError */
export function onlyFields(record: Readonly<Record<string, unknown>>, names: readonly string[], where: string): void {
  for (const name of Object.keys(record)) if (!names.includes(name)) unknownField(name, where)
}

function isInt64(value: unknown): value is Int64 {
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'bigint' && value >= INT64_MINIMUM && value <= INT64_MAXIMUM
}

/** @throws CorruptionError */
export function asOneOf<const T>(value: unknown, allowed: readonly T[], where: string): T {
  return allowed.find((one) => one === value) ?? wrong(value, where, `one of ${allowed.join(', ')}`)
}

/** @throws CorruptionError */
export function asBoolean(value: unknown, where: string): boolean {
  return typeof value === 'boolean' ? value : wrong(value, where, 'true or false')
}

/** @throws CorruptionError */
export function asNumber(value: unknown, where: string): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : wrong(value, where, 'a number')
}

/** A whole number between two bounds, both allowed. @throws CorruptionError */
export function asWhole(value: unknown, where: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
  return isWhole ? value : wrong(value, where, `a whole number from ${least} to ${most}`)
}

/** Takes a value from a file for what it should be, or throws CorruptionError that names its place. */
export type Reader<T> = (value: unknown, where: string) => T

/** A field that may be left out. */
export function maybe<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, where) => (value === undefined ? undefined : read(value, where))
}

export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value, where) => (value === null ? null : read(value, where))
}

/**
 * Takes an object with these fields and no others.
 *
 * @param where empty for what is not part of anything
 * @throws CorruptionError
 */
export function asFields<T extends object>(
  value: unknown,
  where: string,
  readers: { readonly [Name in keyof Required<T>]: Reader<T[Name]> },
): T {
  const record = asRecord(value, where || 'it')
  onlyFields(record, Object.keys(readers), where || 'it')
  const read: Partial<T> = {}
  for (const name in readers) {
    const field = readers[name](record[name], where === '' ? name : `${where}.${name}`)
    if (field !== undefined) read[name] = field
  }
  return read as T
}

/** How much of a wrong value a message shows. */
const SHOWN_CHARACTERS = 60

function wrong(value: unknown, where: string, expected: string): never {
  const text = value === undefined ? 'missing' : stringifyJson(value)
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
  throw new CorruptionError(`${where} is ${shown}, where ${expected} is expected`)
}

function unknownField(name: string, where: string): never {
  throw new CorruptionError(`${where} has an unknown field, ${JSON.stringify(name)}`)
}
