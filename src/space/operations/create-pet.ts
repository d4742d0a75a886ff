import { petText } from '../../domain/pet-text.js'
import type { NewPet, Pet } from '../../domain/pets.js'
import { problem } from '../answers.js'
import { keepNewPet } from '../keep-pet.js'
import type { Answer } from '../message.js'
import type { Handler } from '../visit.js'

/**
 * Adds a pet. Where there is a store, 201 is answered only after the pet is
 * written, and the pet is listed only then.
 *
 * @source specification, "POST /pets"; interface, section 5
 */
export const createPet: Handler = ({ world }, { body }) => {
  const kept = keepNewPet(world, (body?.values ?? {}) as unknown as NewPet)
  if (!(kept instanceof Promise)) return created(kept)
  return kept.then(created, (error: unknown) => {
    world.surroundings.warn(`A pet could not be stored: ${error instanceof Error ? error.message : String(error)}`)
    return problem('internal_error', { message: 'The pet could not be stored. The log of the sandbox says why.' })
  })
}

function created(pet: Pet): Answer {
  return { status: 201, body: petText(pet) }
}
