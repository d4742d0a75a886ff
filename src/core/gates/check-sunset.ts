import { PROBLEMS } from '../../domain/problems.js'
import type { SunsetMode } from '../../domain/settings.js'
import { type DurationMs, type EpochMs, MINUTE_MS } from '../../domain/time.js'
import type { Gate } from '../request-context.js'
import { problem } from '../responses.js'

/** Removed for the first 5 minutes of every half hour. @source docs/switches.md, "Removal and brownouts" */
const BROWNOUT_EVERY_MS: DurationMs = 30 * MINUTE_MS
const BROWNOUT_FOR_MS: DurationMs = 5 * MINUTE_MS

/** Why an operation is removed, if it is. @source docs/specification.md, "GET /pets/{petId}"; docs/behaviour.md, "removed operations" */
export function removal(mode: SunsetMode, sunsetAt: EpochMs, now: EpochMs): 'sunset' | 'brownout' | undefined {
  switch (mode) {
    case 'before':
      return undefined
    case 'after':
      return 'sunset'
    case 'auto':
      return now >= sunsetAt ? 'sunset' : undefined
    case 'brownout':
      if (now >= sunsetAt) return 'sunset'
      return now % BROWNOUT_EVERY_MS < BROWNOUT_FOR_MS ? 'brownout' : undefined
  }
}

/** Has the operation been removed? @source docs/specification.md, "GET /pets/{petId}" */
export const checkSunset: Gate = ({ route, space, now }) => {
  if (route.kind !== 'operation' || route.operation.sunsetAt === undefined) return undefined
  const { sunsetAt, successor } = route.operation
  const reason = removal(space.state.settings.sunset, sunsetAt, now)
  if (reason === undefined) return undefined
  const { message } = PROBLEMS.operation_removed
  const instead = successor === undefined ? '' : ` Use GET ${space.shared.basePath}${successor} instead.`
  return problem('operation_removed', { status: space.state.settings.sunsetStatus, reason, message: message + instead })
}
