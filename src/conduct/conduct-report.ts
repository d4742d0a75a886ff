import type { World } from '../core/space.js'
import { labelOf, PLAN_NAMES } from '../domain/keys.js'
import { type Conduct, VIOLATIONS, WARNINGS, type WhatIf } from './conduct-view.js'
import { type Refused, refusedBy, type Traffic } from './what-if.js'

/** The conduct report of a space. */
export function conductReport(world: World): Conduct {
  const { conduct } = world
  const all = conduct.keys().filter(({ traffic }) => traffic.requests > 0)
  const labels = [...new Set(all.map(({ apiKey }) => labelOf(apiKey)))]
  return {
    space: world.name,
    requests: conduct.requests,
    violations: conduct.findings.of(VIOLATIONS),
    warnings: conduct.findings.of(WARNINGS),
    whatIf: whatIf(
      world,
      all.map(({ traffic }) => traffic),
    ),
    keys: labels.flatMap((label) => {
      // Strangers have one label, and each a quota of its own.
      const ofLabel = all.filter(({ apiKey }) => labelOf(apiKey) === label)
      const [first] = ofLabel
      if (first === undefined) return []
      const plan = world.planOf(world.keys.get(first.apiKey.key) ?? first.apiKey)
      return [
        {
          key: label,
          plan,
          ...whatIf(
            world,
            ofLabel.map(({ traffic }) => traffic),
          ),
        },
      ]
    }),
  }
}

/** What each plan would have made of the traffic of some keys: refusals are summed, peaks are the largest of one key. */
function whatIf(world: World, traffic: readonly Traffic[]): WhatIf {
  const refused = traffic.map(refusedBy)
  const plans = PLAN_NAMES.map((plan, index) => {
    const sum = (cause: keyof Refused) => refused.reduce((total, byPlan) => total + (byPlan[index]?.[cause] ?? 0), 0)
    const causes = { minute: sum('minute'), day: sum('day'), ban: sum('ban') }
    return {
      plan,
      ...world.planLimits(plan),
      refusals: causes.minute + causes.day + causes.ban,
      refused: causes,
    }
  })
  return {
    requests: traffic.reduce((total, { requests }) => total + requests, 0),
    peakMinute: Math.max(0, ...traffic.map(({ minute }) => minute.peak)),
    peakDay: Math.max(0, ...traffic.map(({ day }) => day.peak)),
    plans,
    cheapest: plans.find(({ refusals }) => refusals === 0)?.plan ?? null,
  }
}
