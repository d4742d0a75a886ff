import type { Int64 } from '../../contract/int64.js'
import type { PetStatus } from '../../domain/pets.js'
import type { Handler } from '../request-context.js'

/** @source docs/specification.md, "GET /pets" */
export const listPets: Handler = ({ space }, { query }) => {
  // A contract given with --spec may have dropped the limit; then the list is whole.
  const { limit = Number.POSITIVE_INFINITY, status } = query.values as { limit?: Int64; status?: PetStatus }
  const list = space.pets.list(Number(limit), status, space.shared.order)
  return 'text' in list ? { status: 200, body: list.text, binary: list.binary } : { status: 200, body: list }
}
