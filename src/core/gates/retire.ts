import { removal } from '../../domain/sunset.js'
import { problem } from '../answers.js'
import type { Gate } from '../request-context.js'

/** Has the operation been removed? @source docs/specification.md, "Versioning", 3 */
export const retire: Gate = ({ route, space, now }) => {
  if (route.kind !== 'operation' || route.operation.sunsetAt === undefined) return undefined
  const reason = removal(space.settings.sunset, route.operation.sunsetAt, now)
  if (reason === undefined) return undefined
  return problem('operation_removed', { status: space.settings.sunsetStatus, reason })
}
