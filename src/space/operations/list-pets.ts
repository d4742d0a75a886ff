import type { PetStatus } from '../../domain/pets.js'
import type { Handler } from '../operations.js'

/** @source specification, "GET /pets" */
export const listPets: Handler = ({ world }, { query }) => {
  const { limit, status } = query.values as { limit: number; status?: PetStatus }
  return { status: 200, body: world.pets.list(limit, status, world.surroundings.order) }
}
