import { petText } from '../../domain/pet-text.js'
import { InvalidPet, type NewPet } from '../../domain/pets.js'
import { StoreFull } from '../../domain/store-full.js'
import { problem } from '../answers.js'
import { addNewPet } from '../new-pet.js'
import type { Handler } from '../request-context.js'

/**
 * Adds a pet. Where there is a store, its 201 leaves only after the pet is written.
 *
 * @source docs/specification.md, "POST /pets"; docs/state.md, "Durability"
 */
export const createPet: Handler = ({ space }, { body }) => {
  try {
    return { status: 201, body: petText(addNewPet(space, (body?.values ?? {}) as unknown as NewPet)) }
  } catch (error) {
    // Whoever has no room tells it once.
    if (error instanceof StoreFull) return problem('store_full')
    if (error instanceof InvalidPet) return problem('invalid_request', { message: error.message, outside: true })
    throw error
  }
}
