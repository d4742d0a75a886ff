import type { PetStatus } from '../../domain/pets.js'
import type { Handler } from '../visit.js'

/** @source specification, "GET /pets" */
export const listPets: Handler = ({ world }, { query }) => {
  // A contract given with --spec may have dropped the limit; then the list is whole.
  const { limit = Number.POSITIVE_INFINITY, status } = query.values as { limit?: number; status?: PetStatus }
  const { text, binary } = world.pets.list(limit, status, world.surroundings.order)
  return { status: 200, body: text, binary }
}
