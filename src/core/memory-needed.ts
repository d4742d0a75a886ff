import type { Int64 } from '../contract/int64.js'
import type { ApiKey } from '../domain/keys.js'
import { petText } from '../domain/pet-text.js'
import type { Pet } from '../domain/pets.js'
import type { Change, SpaceState } from '../domain/state.js'

/** What a space that is in memory only holds. */
interface Holder {
  readonly pets: { get(id: Int64): Pet | undefined }
  /** What it was seeded from, which is not its own. */
  readonly seed: SpaceState
  readonly keys: ReadonlyMap<string, ApiKey>
  /** It answers for the keys of all spaces. */
  readonly hasKeys: boolean
  /** In bytes, beyond the seed. */
  readonly heldBytes: number
}

/** How many bytes a change adds to what a space holds beyond its seed. A pet, or a key, counts by its text. */
export function memoryNeeded(change: Change, { pets, seed, keys, hasKeys, heldBytes }: Holder): number {
  const petBytes = (id: Int64) => lengthOf(pets.get(id))
  const keyBytes = (key: string) => keys.get(key)?.key.length ?? 0
  switch (change.kind) {
    case 'pet':
      return lengthOf(change.pet) - petBytes(change.pet.id)
    case 'pet-removed':
      return -petBytes(change.id)
    case 'key':
      return change.key.key.length - keyBytes(change.key.key)
    case 'key-removed':
      return -keyBytes(change.key)
    case 'replaced': {
      const { state } = change
      const addedPets = state.pets === seed.pets ? [] : notAmong(state.pets, seed.pets)
      const seedKeys = new Set(seed.keys.map(({ key }) => key))
      const addedKeys = hasKeys ? state.keys.filter(({ key }) => !seedKeys.has(key)) : []
      const added = addedPets.map(lengthOf).concat(addedKeys.map(({ key }) => key.length))
      return added.reduce((bytes, length) => bytes + length, 0) - heldBytes
    }
  }
}

function lengthOf(pet: Pet | undefined): number {
  return pet === undefined ? 0 : petText(pet).length
}

/** The pets that are not among others, told by what they are: a pet that was read back is another object. */
function notAmong(pets: readonly Pet[], others: readonly Pet[]): readonly Pet[] {
  const same = new Set(others)
  const unlike = pets.filter((pet) => !same.has(pet))
  if (unlike.length === 0) return unlike
  const texts = new Map(others.map((pet) => [pet.id, petText(pet)]))
  return unlike.filter((pet) => texts.get(pet.id) !== petText(pet))
}
