import { INT64_MAXIMUM, INT64_MINIMUM, type Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'
import { type ApiKey, KEY_CONDITIONS, PLAN_NAMES } from '../domain/keys.js'
import { PET_STATUSES, type Pet } from '../domain/pets.js'
import { Damage } from './store-error.js'

/**
 * Takes a value from a file for a pet only if it is one.
 *
 * A field that a pet does not have is refused, not dropped: the next write would lose it.
 *
 * @param where place in the file, as a sentence part: `pets[3]`
 * @throws Damage
 */
export function asPet(value: unknown, where: string): Pet {
  const pet = asRecord(value, where)
  for (const name in pet) {
    if (name !== 'id' && name !== 'name' && name !== 'categoryId' && name !== 'status') unknownField(name, where)
  }
  if (!isInt64(pet.id)) wrong(pet.id, `${where}.id`, 'a whole number of 64 bits')
  if (typeof pet.name !== 'string') wrong(pet.name, `${where}.name`, 'a text')
  if (!isInt64(pet.categoryId)) wrong(pet.categoryId, `${where}.categoryId`, 'a whole number of 64 bits')
  if ('status' in pet) asOneOf(pet.status, PET_STATUSES, `${where}.status`)
  return value as Pet
}

/** Takes a value from a file for an API key only if it is one. @throws Damage */
export function asKey(value: unknown, where: string): ApiKey {
  const key = asRecord(value, where)
  for (const name in key) {
    if (name !== 'key' && name !== 'plan' && name !== 'always') unknownField(name, where)
  }
  if (typeof key.key !== 'string' || key.key === '') wrong(key.key, `${where}.key`, 'a text that is not empty')
  if ('plan' in key) asOneOf(key.plan, PLAN_NAMES, `${where}.plan`)
  if ('always' in key) asOneOf(key.always, KEY_CONDITIONS, `${where}.always`)
  return value as ApiKey
}

/** @throws Damage */
export function asInt64(value: unknown, where: string): Int64 {
  return isInt64(value) ? value : wrong(value, where, 'a whole number of 64 bits')
}

/** @throws Damage */
export function asText(value: unknown, where: string): string {
  return typeof value === 'string' ? value : wrong(value, where, 'a text')
}

/** @throws Damage */
export function asList(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : wrong(value, where, 'a list')
}

/** @throws Damage */
export function asRecord(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(value, where, 'an object')
  return value as Readonly<Record<string, unknown>>
}

/** Refuses fields beyond those named. @throws Damage */
export function onlyFields(record: Readonly<Record<string, unknown>>, names: readonly string[], where: string): void {
  for (const name of Object.keys(record)) if (!names.includes(name)) unknownField(name, where)
}

function isInt64(value: unknown): value is Int64 {
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'bigint' && value >= INT64_MINIMUM && value <= INT64_MAXIMUM
}

function asOneOf(value: unknown, allowed: readonly string[], where: string): void {
  if (typeof value !== 'string' || !allowed.includes(value)) wrong(value, where, `one of ${allowed.join(', ')}`)
}

/** As much of a wrong value as a message shows. */
const SHOWN_CHARACTERS = 60

function wrong(value: unknown, where: string, expected: string): never {
  const text = value === undefined ? 'missing' : stringifyJson(value)
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
  throw new Damage(`${where} is ${shown}, where ${expected} is expected`)
}

function unknownField(name: string, where: string): never {
  throw new Damage(`${where} has a field that is not known here, ${JSON.stringify(name)}`)
}
