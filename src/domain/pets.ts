import type { Pet, PetStatus } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'

/**
 * Under a contract given with --spec only the id is certain: other fields may be missing or different, and there may be
 * more.
 */
export type { NewPet, Pet, PetStatus } from '../contract/entities.js'

/** @source docs/specification.md, "PetStatus" */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies readonly PetStatus[]

/** The fields of a pet of the packaged contract. */
export const PET_FIELDS: ReadonlySet<string> = new Set(['id', 'name', 'categoryId', 'status'])

/** A pet that the contract does not allow in responses. It was not added or changed. */
export class InvalidPet extends Error {
  override readonly name = 'InvalidPet'
}

/** 1 + the largest id below 2^53, so that clients whose numbers are doubles can use it. @source docs/behaviour.md, "Ids of new pets" */
export function nextPetIdAfter(pets: readonly Pet[]): Int64 {
  let largest = 0
  for (const { id } of pets) if (typeof id === 'number' && id > largest) largest = id
  return followingPetId(largest)
}

export function followingPetId(id: Int64): Int64 {
  return typeof id === 'number' && id < Number.MAX_SAFE_INTEGER ? id + 1 : BigInt(id) + 1n
}

/**
 * A pet as JSON, with its fields in the contract's order. Concatenated by hand in the usual case: every 201 needs it.
 */
export function petText(pet: Pet): string {
  if (pet === lastPet) return lastText
  lastText = textOf(pet)
  lastPet = pet
  return lastText
}

/** The text of an added pet is needed three times: to measure, to write and to send it. */
let lastPet: Pet | undefined
let lastText = ''

function textOf(pet: Pet): string {
  if (!isPlain(pet)) return stringifyJson(pet)
  const { id, name, categoryId, status } = pet
  const rest = status === undefined ? '' : `,"status":"${status}"`
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${rest}}`
}

function isPlain(pet: Pet): boolean {
  const { name, categoryId, status } = pet
  if (typeof name !== 'string' || (typeof categoryId !== 'number' && typeof categoryId !== 'bigint')) return false
  if (status !== undefined && !PET_STATUSES.includes(status)) return false
  let fields = 0
  for (const _ in pet) fields++
  return fields === (status === undefined ? 3 : 4)
}
