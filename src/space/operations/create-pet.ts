import { petText } from '../../domain/pet-text.js'
import type { NewPet, Pet } from '../../domain/pets.js'
import { problem } from '../answers.js'
import type { Answer } from '../message.js'
import type { Handler } from '../operations.js'

/**
 * Adds a pet. Where there is a store, 201 is answered only after the pet is
 * written, and the pet is listed only then.
 *
 * @source specification, "POST /pets"; interface, section 5
 */
export const createPet: Handler = ({ world }, { body }) => {
  const { name, categoryId, status } = (body?.values ?? {}) as unknown as NewPet
  const pet: Pet = { id: world.takePetId(), name, categoryId, ...(status === undefined ? {} : { status }) }
  if (world.store === undefined) return created(pet)
  return world.store.append({ kind: 'pet', pet }).then(
    () => created(pet),
    (error: unknown) => {
      world.surroundings.warn(`A pet could not be stored: ${error instanceof Error ? error.message : String(error)}`)
      return problem('internal_error', { message: 'The pet could not be stored. The log of the sandbox says why.' })
    },
  )

  function created(stored: Pet): Answer {
    world.pets.put(stored)
    return { status: 201, body: petText(stored) }
  }
}
