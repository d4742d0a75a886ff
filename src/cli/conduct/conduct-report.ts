import type {
  Conduct,
  ConductRule,
  Finding,
  PlanOutcome,
  Refusals,
  ViolationRule,
  WarningRule,
  WhatIf,
} from '../../conduct/conduct-view.js'

/** One way in which the real service behind the sandbox has drifted, wherever that was seen. */
export interface DriftSeen {
  readonly operation: string
  readonly detail: string
  readonly count: number
}

/** Where something was found: empty for the default space. */
interface InSpace {
  readonly space: string
}

export type SpaceFinding = Finding & InSpace
type KeyReport = Conduct['keys'][number] & InSpace

/** Conduct in one space, or in all that a run has used. */
export interface ConductReport {
  /** Exchanges that were judged. */
  readonly requests: number
  /** Spaces in which there were any; one that was reset or removed in between counts again. */
  readonly spaces: number
  /** How many senders were taken to share a key: one number, or more where spaces differ. Ascending. */
  readonly senders: readonly number[]
  readonly violations: readonly (Finding<ViolationRule> & InSpace)[]
  readonly warnings: readonly (Finding<WarningRule> & InSpace)[]
  /** How often each rule was broken, including findings left out here; rules that were kept are absent. */
  readonly counts: Readonly<Partial<Record<ConductRule, number>>>
  /** Findings beyond as many as are kept. */
  readonly leftOut: number
  /** Peaks are the largest of one key in one space; refusals are those of all. */
  readonly whatIf: WhatIf
  readonly keys: readonly KeyReport[]
  /** How the real service behind the sandbox has drifted from the contract. */
  readonly drift: readonly DriftSeen[]
}

/** More findings than anyone reads; a run of ten thousand tests must not exhaust memory. */
const MOST_FINDINGS = 10_000
const MOST_KEYS = 10_000

/** A report of nothing yet. */
export const NO_CONDUCT: ConductReport = {
  requests: 0,
  spaces: 0,
  senders: [],
  violations: [],
  warnings: [],
  counts: {},
  leftOut: 0,
  whatIf: {
    requests: 0,
    peakMinute: 0,
    peakDay: 0,
    plans: [],
    configured: { refusals: 0, refused: { minute: 0, day: 0, ban: 0 } },
    cheapest: null,
  },
  keys: [],
  drift: [],
}

/** Adds the conduct of one more space to a report, or that of one that was reset since. */
export function withConduct(
  report: ConductReport,
  { space, requests, senders, whatIf, ...conduct }: Conduct,
): ConductReport {
  const inSpace = <T extends object>(items: readonly T[]) => items.map((item) => ({ space, ...item }))
  const violations = kept(report.violations, inSpace(conduct.violations), MOST_FINDINGS)
  const warnings = kept(report.warnings, inSpace(conduct.warnings), MOST_FINDINGS)
  return {
    requests: report.requests + requests,
    spaces: report.spaces + (requests === 0 ? 0 : 1),
    senders: requests === 0 ? report.senders : [...new Set([...report.senders, senders])].sort((a, b) => a - b),
    violations: violations.items,
    warnings: warnings.items,
    counts: countsWith(report.counts, [...conduct.violations, ...conduct.warnings]),
    leftOut: report.leftOut + violations.leftOut + warnings.leftOut,
    whatIf: bothWhatIfs(report.whatIf, whatIf),
    keys: kept(report.keys, inSpace(conduct.keys), MOST_KEYS).items,
    drift: report.drift,
  }
}

/** A key as clients send it: `sandbox-pro~checkout`. */
export function callerName({ key, space }: { readonly key: string } & InSpace): string {
  return space === '' ? key : `${key}~${space}`
}

function kept<T>(known: readonly T[], added: readonly T[], most: number): { items: readonly T[]; leftOut: number } {
  if (added.length === 0) return { items: known, leftOut: 0 }
  const room = Math.max(0, most - known.length)
  return { items: [...known, ...added.slice(0, room)], leftOut: Math.max(0, added.length - room) }
}

function countsWith(counts: ConductReport['counts'], findings: readonly Finding[]): ConductReport['counts'] {
  const sums: Partial<Record<ConductRule, number>> = { ...counts }
  for (const { rule, count } of findings) sums[rule] = (sums[rule] ?? 0) + count
  return sums
}

function bothWhatIfs(one: WhatIf, other: WhatIf): WhatIf {
  const plans = one.plans.length === 0 ? other.plans : one.plans.map((plan) => bothOutcomes(plan, other.plans))
  return {
    requests: one.requests + other.requests,
    peakMinute: Math.max(one.peakMinute, other.peakMinute),
    peakDay: Math.max(one.peakDay, other.peakDay),
    plans,
    configured: bothRefusals(one.configured, other.configured),
    cheapest: plans.find(({ refusals }) => refusals === 0)?.plan ?? null,
  }
}

function bothOutcomes(one: PlanOutcome, others: readonly PlanOutcome[]): PlanOutcome {
  const other = others.find(({ plan }) => plan === one.plan)
  if (other === undefined) return one
  return { ...one, ...bothRefusals(one, other) }
}

function bothRefusals(one: Refusals, other: Refusals): Refusals {
  return {
    refusals: one.refusals + other.refusals,
    refused: {
      minute: one.refused.minute + other.refused.minute,
      day: one.refused.day + other.refused.day,
      ban: one.refused.ban + other.refused.ban,
    },
  }
}
