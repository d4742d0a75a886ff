import type { Int64 } from '../contract/int64.js'
import { InvalidPet, type NewPet, type Pet } from '../domain/pets.js'
import type { Space } from './space.js'

/**
 * Adds a new pet of these fields, with the next id.
 *
 * @throws StoreFull, InvalidPet
 */
export function addNewPet(space: Space, fields: NewPet): Pet {
  return space.addPet((id) => newPet(space, id, fields))
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
