import type { Contract } from '../contract/contract.js'
import type { ApiKey } from '../domain/keys.js'
import { planLimits, planNames } from '../domain/plans.js'
import type { Settings } from '../domain/settings.js'
import type { ConductLedger } from './conduct-ledger.js'
import { type Conduct, NOTES, type Refusals, VIOLATIONS, WARNINGS, type WhatIf } from './conduct-view.js'
import { viewFindings } from './finding-views.js'
import type { KeyConduct } from './key-conduct.js'
import { type Refused, refusedBy } from './what-if.js'

export interface ReportedSpace {
  readonly name: string
  readonly conduct: ConductLedger
  readonly state: { readonly settings: Pick<Settings, 'senders'> }
  readonly shared: { readonly contract: Contract; readonly keys: { find(name: string): ApiKey | undefined } }
  /** Undefined without quotas. */
  currentPlan(apiKey: ApiKey): string | undefined
}

export function conductReport(space: ReportedSpace): Conduct {
  const { conduct, shared } = space
  const { settings } = space.state
  const accounts = conduct.keys().filter(({ traffic }) => traffic.requests > 0)
  // Unknown tokens share a label, but each has its own quota.
  const plans = new Map(accounts.toReversed().map(({ label, plan }) => [label, plan]))
  const labels = new Set(accounts.map((account) => account.label))
  return {
    space: space.name,
    requests: conduct.requests,
    reached: conduct.reached,
    senders: settings.senders ?? conduct.mostSenders,
    sendersStated: settings.senders !== undefined,
    violations: viewFindings(conduct.findings, VIOLATIONS),
    warnings: viewFindings(conduct.findings, WARNINGS),
    notes: viewFindings(conduct.findings, NOTES),
    ...(planNames(space.shared.contract).length > 0 && { whatIf: whatIf(space, accounts) }),
    keys: [...labels].flatMap((label) => {
      const start = plans.get(label)
      const plan = space.currentPlan(
        shared.keys.find(label) ?? { key: label, ...(start !== undefined && { plan: start }) },
      )
      const own = accounts.filter((account) => account.label === label)
      return plan === undefined ? [] : [{ key: label, plan, ...whatIf(space, own) }]
    }),
  }
}

/** Sums refusals. Peaks are the largest of one key. */
function whatIf(space: ReportedSpace, accounts: readonly KeyConduct[]): WhatIf {
  const traffic = accounts.map((account) => account.traffic)
  const refused = traffic.map(refusedBy)
  const refusalsOf = (index: number): Refusals => {
    const sum = (cause: keyof Refused) => refused.reduce((total, byPlan) => total + (byPlan[index]?.[cause] ?? 0), 0)
    const causes = { minute: sum('minute'), day: sum('day'), ban: sum('ban') }
    return { refusals: causes.minute + causes.day + causes.ban, refused: causes }
  }
  const { contract } = space.shared
  const names = planNames(contract)
  const plans = names.map((plan, index) => ({ plan, ...planLimits(contract, plan), ...refusalsOf(index) }))
  return {
    requests: traffic.reduce((total, { requests }) => total + requests, 0),
    peakMinute: Math.max(0, ...traffic.map(({ minute }) => minute.peak)),
    peakDay: Math.max(0, ...traffic.map(({ day }) => day.peak)),
    plans,
    configured: refusalsOf(names.length),
    cheapest: plans.find(({ refusals }) => refusals === 0)?.plan ?? null,
  }
}
