import type { Pet, PetStatus } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'

/** With --spec, only the id is certain: other fields may be missing, different or added. */
export type { NewPet, Pet, PetStatus } from '../contract/entities.js'

/** @source docs/specification.md, "PetStatus" */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies readonly PetStatus[]

/** By the packaged contract. */
export const PET_FIELDS: ReadonlySet<string> = new Set(['id', 'name', 'categoryId', 'status'])

/** A pet that the contract does not allow in responses. Nothing was changed. */
export class InvalidPet extends Error {
  override readonly name = 'InvalidPet'
}

/** 1 + the largest id below 2^53, for clients whose numbers are doubles. @source docs/behaviour.md, "Ids of new pets" */
export function nextPetIdAfter(pets: readonly Pet[]): Int64 {
  let largest = 0
  for (const { id } of pets) if (typeof id === 'number' && id > largest) largest = id
  return followingPetId(largest)
}

export function followingPetId(id: Int64): Int64 {
  return typeof id === 'number' && id < Number.MAX_SAFE_INTEGER ? id + 1 : BigInt(id) + 1n
}

/** JSON with the fields in the contract's order. Usually concatenated, because every 201 needs it. */
export function petText(pet: Pet): string {
  if (pet === lastPet) return lastText
  lastText = textOf(pet)
  lastPet = pet
  return lastText
}

/** Cached: an added pet is measured, written and sent. */
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
