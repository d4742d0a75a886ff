import { type ApiKey, labelOf, PLAN_NAMES, type PlanName } from '../domain/keys.js'
import type { Limits } from '../domain/quota.js'
import type { ConductLedger } from './conduct-ledger.js'
import { type Conduct, VIOLATIONS, WARNINGS, type WhatIf } from './conduct-view.js'
import { type Refused, refusedBy, type Traffic } from './what-if.js'

/** What of a space its report is made of. */
export interface ReportedSpace {
  readonly name: string
  readonly conduct: ConductLedger
  readonly keys: ReadonlyMap<string, ApiKey>
  planOf(apiKey: ApiKey): PlanName
  planLimits(plan: PlanName): Limits
}

/** The conduct report of a space. */
export function conductReport(space: ReportedSpace): Conduct {
  const { conduct } = space
  const all = conduct.keys().filter(({ traffic }) => traffic.requests > 0)
  const labels = [...new Set(all.map(({ apiKey }) => labelOf(apiKey)))]
  return {
    space: space.name,
    requests: conduct.requests,
    violations: conduct.findings.of(VIOLATIONS),
    warnings: conduct.findings.of(WARNINGS),
    whatIf: whatIf(
      space,
      all.map(({ traffic }) => traffic),
    ),
    keys: labels.flatMap((label) => {
      // Unknown tokens share one label, but each has its own quota.
      const ofLabel = all.filter(({ apiKey }) => labelOf(apiKey) === label)
      const [first] = ofLabel
      if (first === undefined) return []
      const plan = space.planOf(space.keys.get(first.apiKey.key) ?? first.apiKey)
      return [
        {
          key: label,
          plan,
          ...whatIf(
            space,
            ofLabel.map(({ traffic }) => traffic),
          ),
        },
      ]
    }),
  }
}

/** What each plan would have done with the traffic of some keys: refusals are summed, peaks are the largest of one key. */
function whatIf(space: ReportedSpace, traffic: readonly Traffic[]): WhatIf {
  const refused = traffic.map(refusedBy)
  const plans = PLAN_NAMES.map((plan, index) => {
    const sum = (cause: keyof Refused) => refused.reduce((total, byPlan) => total + (byPlan[index]?.[cause] ?? 0), 0)
    const causes = { minute: sum('minute'), day: sum('day'), ban: sum('ban') }
    return {
      plan,
      ...space.planLimits(plan),
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
