import type { Int64 } from '../../contract/int64.js'
import { problem } from '../answers.js'
import type { Handler } from '../request-context.js'

/** @source docs/specification.md, "GET /pets/{petId}" */
export const getPet: Handler = ({ world }, { path }) => {
  const { petId } = path.values as { petId: Int64 }
  const body = world.pets.textOf(petId)
  return body === undefined ? problem('not_found') : { status: 200, body }
}
