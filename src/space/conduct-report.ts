import { PLAN_NAMES } from '../domain/keys.js'
import { type Conduct, VIOLATIONS, WARNINGS } from './conduct-view.js'
import type { World } from './world.js'

/** The conduct report of a space. */
export function conductReport(world: World): Conduct {
  const { conduct } = world
  return {
    space: world.name,
    requests: conduct.requests,
    violations: conduct.findings.of(VIOLATIONS),
    warnings: conduct.findings.of(WARNINGS),
    whatIf: {
      requests: 0,
      peakMinute: 0,
      peakDay: 0,
      plans: PLAN_NAMES.map((plan) => ({
        plan,
        ...world.planLimits(plan),
        refusals: 0,
        refused: { minute: 0, day: 0, ban: 0 },
      })),
      cheapest: 'free',
    },
    keys: [],
  }
}
