import type { HandlerResult } from '../../domain/messages.js'
import { petText } from '../../domain/pet-text.js'
import { InvalidPet, type NewPet, type Pet } from '../../domain/pets.js'
import { StoreFull } from '../../domain/store-full.js'
import { messageOf } from '../../system/message-of.js'
import { problem } from '../answers.js'
import { keepNewPet } from '../keep-pet.js'
import type { Handler } from '../request-context.js'

/**
 * Adds a pet. Where there is a store, 201 is answered only after the pet is
 * written, and the pet is listed only then.
 *
 * @source docs/specification.md, "POST /pets"; docs/behaviour.md, "Durability"
 */
export const createPet: Handler = ({ space }, { body }) => {
  const refused = (error: unknown) => {
    // Whoever has no room tells it once.
    if (error instanceof StoreFull) return problem('store_full')
    if (error instanceof InvalidPet) return problem('invalid_request', { message: error.message, outside: true })
    space.shared.warn(`A pet could not be stored: ${messageOf(error)}`)
    return problem('internal_error', { message: 'The pet could not be stored. The log of the sandbox says why.' })
  }
  try {
    const kept = keepNewPet(space, (body?.values ?? {}) as unknown as NewPet)
    return kept instanceof Promise ? kept.then(created, refused) : created(kept)
  } catch (error) {
    return refused(error)
  }
}

function created(pet: Pet): HandlerResult {
  return { status: 201, body: petText(pet) }
}
