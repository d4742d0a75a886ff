import type { Int64 } from '../../contract/int64.js'
import { problem } from '../answers.js'
import type { Handler } from '../request-context.js'

/** @source docs/specification.md, "GET /pets/{petId}" */
export const getPet: Handler = ({ space }, { path }) => {
  const { petId } = path.values as { petId: Int64 }
  const body = space.pets.textOf(petId)
  return body === undefined ? problem('not_found') : { status: 200, body }
}
