import type { NewPet, Pet } from '../domain/pets.js'
import type { Space } from './space.js'

/**
 * Gives a new pet its id and adds it: at once in memory, otherwise as soon as it is
 * written, so that a listed pet is never lost.
 *
 * @returns the pet, or a promise of it that rejects if it could not be written
 * @throws StoreFull
 */
export function keepNewPet(space: Space, { name, categoryId, status }: NewPet): Pet | Promise<Pet> {
  const pet: Pet = { id: space.takePetId(), name, categoryId, ...(status === undefined ? {} : { status }) }
  const listed = () => {
    space.settlePetId(pet.id, true)
    space.pets.put(pet)
    return pet
  }
  const refused = (error: unknown) => {
    space.settlePetId(pet.id, false)
    throw error
  }
  try {
    const kept = space.keep({ kind: 'pet', pet })
    return kept === undefined ? listed() : kept.then(listed, refused)
  } catch (error) {
    return refused(error)
  }
}
