import type { Pet, PetStatus } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import { followingId } from './collection.js'

/** With --spec, only the id is certain: other fields may be missing, different or added. */
export type { Pet, PetStatus } from '../contract/entities.js'

/** @source docs/specification.md, "PetStatus" */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies readonly PetStatus[]

/** 1 + the largest id below 2^53, so that clients whose numbers are doubles can use it. @source docs/behaviour.md, "Ids of new pets" */
export function nextPetIdAfter(pets: readonly Pet[]): Int64 {
  let largest = 0
  for (const { id } of pets) if (typeof id === 'number' && id > largest) largest = id
  return followingId(largest)
}
