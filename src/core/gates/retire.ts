import { PROBLEMS } from '../../domain/problems.js'
import { removal } from '../../domain/sunset.js'
import { problem } from '../answers.js'
import type { Gate } from '../request-context.js'

/** Has the operation been removed? @source docs/specification.md, "Versioning", 3 */
export const retire: Gate = ({ route, space, now }) => {
  if (route.kind !== 'operation' || route.operation.sunsetAt === undefined) return undefined
  const { sunsetAt, successor } = route.operation
  const reason = removal(space.settings.sunset, sunsetAt, now)
  if (reason === undefined) return undefined
  const { message } = PROBLEMS.operation_removed
  const instead = successor === undefined ? '' : ` Use GET ${space.shared.basePath}${successor} instead.`
  return problem('operation_removed', { status: space.settings.sunsetStatus, reason, message: message + instead })
}
