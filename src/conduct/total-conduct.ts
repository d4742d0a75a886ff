import type { Settings } from '../domain/settings.js'
import { conductReport, type ReportedSpace } from './conduct-report.js'
import type {
  Conduct,
  ConductRule,
  Finding,
  NoteRule,
  Refusals,
  ViolationRule,
  WarningRule,
  WhatIf,
} from './conduct-view.js'

export interface InSpace {
  readonly space: string
}

export type SpaceFinding = Finding & InSpace

export interface ConductReport {
  readonly requests: number
  /** Requests with a valid key that reached an operation. */
  readonly reached: number
  /** Spaces with requests; a space that was reset or removed counts again. */
  readonly spaces: number
  /** Senders that share a key: one number, or several where spaces differ. Ascending. */
  readonly senders: readonly number[]
  readonly sendersStated: boolean
  readonly violations: readonly (Finding<ViolationRule> & InSpace)[]
  readonly warnings: readonly (Finding<WarningRule> & InSpace)[]
  readonly notes: readonly (Finding<NoteRule> & InSpace)[]
  /** By rule, including findings left out; without rules that were kept. */
  readonly counts: Readonly<Partial<Record<ConductRule, number>>>
  readonly leftOut: number
  /** Peaks are the largest of one key in one space; refusals are sums. */
  readonly whatIf?: WhatIf | undefined
  readonly keys: readonly (Conduct['keys'][number] & InSpace)[]
}

/** A run of ten thousand tests must not exhaust memory. */
const MAX_FINDINGS = 10_000
const MAX_KEYS = 10_000

export const EMPTY_CONDUCT: ConductReport = {
  requests: 0,
  reached: 0,
  spaces: 0,
  senders: [],
  sendersStated: true,
  violations: [],
  warnings: [],
  notes: [],
  counts: {},
  leftOut: 0,
  keys: [],
}

export function addConduct(
  report: ConductReport,
  { space, requests, reached, senders, sendersStated, whatIf, ...conduct }: Conduct,
): ConductReport {
  const add = <T extends object>(known: readonly (T & InSpace)[], added: readonly T[], most: number) =>
    added.length === 0 ? known : [...known, ...added.map((item) => ({ space, ...item }))].slice(0, most)
  const counts: Partial<Record<ConductRule, number>> = { ...report.counts }
  for (const { rule, count } of [...conduct.violations, ...conduct.warnings]) counts[rule] = (counts[rule] ?? 0) + count
  const violations = add(report.violations, conduct.violations, MAX_FINDINGS)
  const warnings = add(report.warnings, conduct.warnings, MAX_FINDINGS)
  const before = report.violations.length + report.warnings.length + conduct.violations.length + conduct.warnings.length
  return {
    requests: report.requests + requests,
    reached: report.reached + reached,
    ...(requests === 0
      ? { spaces: report.spaces, senders: report.senders, sendersStated: report.sendersStated }
      : {
          spaces: report.spaces + 1,
          senders: [...new Set([...report.senders, senders])].sort((a, b) => a - b),
          sendersStated: report.sendersStated && sendersStated,
        }),
    violations,
    warnings,
    notes: add(report.notes, conduct.notes, MAX_FINDINGS),
    counts,
    leftOut: report.leftOut + before - violations.length - warnings.length,
    whatIf: report.whatIf && whatIf ? sumOfWhatIfs(report.whatIf, whatIf) : (whatIf ?? report.whatIf),
    keys: add(report.keys, conduct.keys, MAX_KEYS),
  }
}

function sumOfWhatIfs(a: WhatIf, b: WhatIf): WhatIf {
  const plans = a.plans.map((plan) => {
    const same = b.plans.find((candidate) => candidate.plan === plan.plan)
    return same === undefined ? plan : { ...plan, ...sumOfRefusals(plan, same) }
  })
  return {
    requests: a.requests + b.requests,
    peakMinute: Math.max(a.peakMinute, b.peakMinute),
    peakDay: Math.max(a.peakDay, b.peakDay),
    plans,
    configured: sumOfRefusals(a.configured, b.configured),
    cheapest: plans.find(({ refusals }) => refusals === 0)?.plan ?? null,
  }
}

function sumOfRefusals(a: Refusals, b: Refusals): Refusals {
  return {
    refusals: a.refusals + b.refusals,
    refused: {
      minute: a.refused.minute + b.refused.minute,
      day: a.refused.day + b.refused.day,
      ban: a.refused.ban + b.refused.ban,
    },
  }
}

/** Conduct that an undo may bring back. */
const MAX_RESTORABLE = 1000

/** Without its records, and with its conduct until it was reset or removed. */
export interface PastSpace extends ReportedSpace {
  readonly state: { readonly settings: Settings }
  /** Of keys that were moved to another plan. */
  readonly plans: ReadonlyMap<string, string>
}

/** Of spaces before they were reset or removed, which tests do all the time. */
export class PastConduct {
  /** The last of each space may come back by an undo. */
  readonly restorable: PastSpace[]
  older: ConductReport

  constructor(restorable: readonly PastSpace[] = [], older = EMPTY_CONDUCT) {
    this.restorable = [...restorable]
    this.older = older
  }

  /** Most are never reported. */
  add(space: PastSpace): void {
    if (space.conduct.requests === 0) return
    this.restorable.push(space)
    const oldest = this.restorable.length > MAX_RESTORABLE ? this.restorable.shift() : undefined
    if (oldest !== undefined) this.older = addConduct(this.older, conductReport(oldest))
  }

  /** An undo has brought back the last of a space. */
  takeBack(space: string): void {
    const last = this.restorable.findLastIndex(({ name }) => name === space)
    if (last !== -1) this.restorable.splice(last, 1)
  }

  /** @param present the open spaces */
  withPresent(present: readonly ReportedSpace[]): ConductReport {
    return [...this.restorable, ...present].map(conductReport).reduce(addConduct, this.older)
  }
}
