import type { Int64 } from '../contract/int64.js'
import { InvalidPet, type NewPet, type Pet } from '../domain/pets.js'
import type { Space } from './space.js'

/**
 * Gives a new pet its id and adds it: at once in memory, otherwise as soon as it is
 * written, so that a listed pet is never lost.
 *
 * @returns the pet, or a promise of it that rejects if it could not be written
 * @throws StoreFull, InvalidPet
 */
export function keepNewPet(space: Space, fields: NewPet): Pet | Promise<Pet> {
  const id = space.takePetId()
  const listed = (pet: Pet) => {
    space.settlePetId(id, true)
    space.pets.put(pet)
    return pet
  }
  const refused = (error: unknown) => {
    space.settlePetId(id, false)
    throw error
  }
  try {
    const pet = newPet(space, id, fields)
    const kept = space.keep({ kind: 'pet', pet })
    return kept === undefined ? listed(pet) : kept.then(() => listed(pet), refused)
  } catch (error) {
    return refused(error)
  }
}

function newPet(space: Space, id: Int64, fields: NewPet): Pet {
  const rules = space.shared.contract.pets
  if (rules === undefined) {
    const { name, categoryId, status } = fields
    return { id, name, categoryId, ...(status === undefined ? {} : { status }) }
  }
  const documented = Object.entries(fields).filter(([name]) => name !== 'id' && rules.fields?.has(name) !== false)
  const pet = Object.fromEntries([['id', id], ...documented]) as unknown as Pet
  checkPet(space, pet)
  return pet
}

/** @throws InvalidPet for one that the contract being served does not allow in its answers */
export function checkPet({ shared: { contract } }: Space, pet: Pet): void {
  const breaches = contract.pets?.findBreaches(pet) ?? []
  if (breaches.length > 0) throw new InvalidPet(`The contract has no such animal: ${breaches.join('; ')}.`)
}
