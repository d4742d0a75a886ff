import type { Int64 } from '../../contract/int64.js'
import { problem } from '../answers.js'
import type { Handler } from '../request-context.js'

/** @source docs/specification.md, "GET /pets/{petId}" */
export const getPet: Handler = ({ space }, { path }) => {
  // A contract given with --spec may call it something else; it is the only one there.
  const body = space.pets.textOf(onlyOneOf(path.values) as Int64)
  return body === undefined ? problem('not_found') : { status: 200, body }
}

function onlyOneOf(values: Readonly<Record<string, unknown>>): unknown {
  for (const name in values) return values[name]
  return undefined
}
