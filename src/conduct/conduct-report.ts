import { type ApiKey, PLAN_NAMES, type PlanName } from '../domain/keys.js'
import type { Limits } from '../domain/quota.js'
import type { ConductLedger } from './conduct-ledger.js'
import { type Conduct, type Refusals, VIOLATIONS, WARNINGS, type WhatIf } from './conduct-view.js'
import { type Refused, refusedBy, type Traffic } from './what-if.js'

/** What of a space its report is made of. */
export interface ReportedSpace {
  readonly name: string
  readonly conduct: ConductLedger
  readonly senders: number
  /** A key by its label, or by itself. */
  findKey(name: string): ApiKey | undefined
  planOf(apiKey: ApiKey): PlanName
  planLimits(plan: PlanName): Limits
}

/** The conduct report of a space. */
export function conductReport(space: ReportedSpace): Conduct {
  const { conduct } = space
  const all = conduct.keys().filter(({ traffic }) => traffic.requests > 0)
  const labels = [...new Set(all.map(({ identity }) => identity.label))]
  return {
    space: space.name,
    requests: conduct.requests,
    senders: space.senders,
    violations: conduct.findings.of(VIOLATIONS),
    warnings: conduct.findings.of(WARNINGS),
    whatIf: whatIf(
      space,
      all.map(({ traffic }) => traffic),
    ),
    keys: labels.flatMap((label) => {
      // Unknown tokens share one label, but each has its own quota.
      const ofLabel = all.filter(({ identity }) => identity.label === label)
      const [first] = ofLabel
      if (first === undefined) return []
      const plan = space.planOf(space.findKey(label) ?? { key: label, plan: first.identity.plan })
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
  const refusalsOf = (index: number): Refusals => {
    const sum = (cause: keyof Refused) => refused.reduce((total, byPlan) => total + (byPlan[index]?.[cause] ?? 0), 0)
    const causes = { minute: sum('minute'), day: sum('day'), ban: sum('ban') }
    return { refusals: causes.minute + causes.day + causes.ban, refused: causes }
  }
  const plans = PLAN_NAMES.map((plan, index) => ({ plan, ...space.planLimits(plan), ...refusalsOf(index) }))
  return {
    requests: traffic.reduce((total, { requests }) => total + requests, 0),
    peakMinute: Math.max(0, ...traffic.map(({ minute }) => minute.peak)),
    peakDay: Math.max(0, ...traffic.map(({ day }) => day.peak)),
    plans,
    configured: refusalsOf(PLAN_NAMES.length),
    cheapest: plans.find(({ refusals }) => refusals === 0)?.plan ?? null,
  }
}
