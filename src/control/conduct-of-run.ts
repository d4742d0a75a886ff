import { type ConductReport, PastConduct } from '../conduct/total-conduct.js'
import type { Spaces } from '../core/spaces.js'

/** Of all spaces, those that were reset or removed included. */
export function conductOfRun(spaces: Spaces): ConductReport {
  const named = spaces.names().flatMap((name) => spaces.get(name) ?? [])
  const present = [spaces.default, ...named.filter(({ conduct }) => conduct.requests > 0)]
  return (spaces.default.shared.pastConduct ?? new PastConduct()).withPresent(present)
}
