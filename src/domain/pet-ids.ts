import type { Int64 } from '../contract/int64.js'
import type { Pet } from './pets.js'

/**
 * The id for the next pet: 1 + the largest id below 2^53, so that clients whose
 * numbers are doubles can use it.
 *
 * @source docs/behaviour.md, "Ids of new pets"
 */
export function nextPetIdAfter(pets: readonly Pet[]): Int64 {
  let largest = 0
  for (const { id } of pets) if (typeof id === 'number' && id > largest) largest = id
  return followingPetId(largest)
}

/** The next id, a bigint where a number would no longer be exact. */
export function followingPetId(id: Int64): Int64 {
  return typeof id === 'number' && id < Number.MAX_SAFE_INTEGER ? id + 1 : BigInt(id) + 1n
}
