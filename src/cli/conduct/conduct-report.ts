import {
  type Conduct,
  type ConductRule,
  type Finding,
  type NoteRule,
  type Refusals,
  VIOLATIONS,
  type ViolationRule,
  WARNINGS,
  type WarningRule,
  type WhatIf,
} from '../../conduct/conduct-view.js'
import { sentKeyText } from '../../domain/keys.js'
import { joinOr } from '../../domain/numbers.js'
import { didYouMean } from '../../domain/suggest.js'
import { OptionsError } from '../../options/options.js'
import { formatProblem } from '../../options/problem.js'

interface InSpace {
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

export function callerName({
  key,
  space,
  sender,
}: { readonly key: string; readonly sender?: string } & InSpace): string {
  return sentKeyText(key, space, sender)
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

/** No request with a valid key reached an operation: with a wrong base address, a run breaks no other rule. */
export const NO_TRAFFIC = 'no-traffic'

export function noTrafficLine({ requests }: ConductReport): string {
  if (requests === 0)
    return `${NO_TRAFFIC}: no request was received. Does the client take its base address from PETSTORE_BASE_URL?`
  return `${NO_TRAFFIC}: ${requests} ${requests === 1 ? 'request was' : 'requests were'} received, but none with a valid key for an operation of the service. Use PETSTORE_BASE_URL as it is, with its path, and the key in PETSTORE_API_KEY.`
}

export type RunRule = ConductRule | typeof NO_TRAFFIC

export interface FailOn {
  readonly where: string
  readonly rules: readonly RunRule[]
}

export const NEVER_FAIL: FailOn = { where: '', rules: [] }

const KINDS: Readonly<Record<string, readonly RunRule[]>> = { violation: VIOLATIONS, warning: WARNINGS }

export const FAIL_ON_WORDS: readonly string[] = [...Object.keys(KINDS), NO_TRAFFIC, ...VIOLATIONS, ...WARNINGS]

export function brokenRules(rules: readonly RunRule[], { counts, reached }: ConductReport): readonly RunRule[] {
  return rules.filter((rule) => (rule === NO_TRAFFIC ? reached === 0 : counts[rule] !== undefined))
}

/** @param where the flag or variable: `--fail-on` @throws OptionsError for unknown rules */
export function parseFailOn(where: string, text: string): FailOn {
  const words = text.split(',').map((word) => word.trim())
  const problems = words
    .filter((word) => !FAIL_ON_WORDS.includes(word))
    .map((word) => formatProblem(where, word, `must be ${joinOr(FAIL_ON_WORDS)}${didYouMean(word, FAIL_ON_WORDS)}`))
  if (problems.length > 0) throw new OptionsError(problems)
  return {
    where,
    rules: [...new Set<RunRule>([NO_TRAFFIC, ...words.flatMap((word) => KINDS[word] ?? [word as RunRule])])],
  }
}
