import type { CheckOutcome, Verification } from '../../client/verify/check.js'
import type { ContractData } from '../../contract/contract-data.js'
import { stringifyJson } from '../../contract/json.js'
import { escapeLines } from '../escape-controls.js'

/** What was checked against what. */
export interface Subject {
  readonly target: string
  readonly baseUrl: string
  readonly contract: Pick<ContractData, 'title' | 'version'>
}

/** The number of checks by outcome. */
export function counts({ checks }: Verification): Readonly<Record<CheckOutcome, number>> {
  const count = (wanted: CheckOutcome) => checks.filter(({ outcome }) => outcome === wanted).length
  return { kept: count('kept'), drift: count('drift'), skipped: count('skipped'), unanswered: count('unanswered') }
}

export function jsonReport(
  { target, baseUrl, contract: { title, version } }: Subject,
  verification: Verification,
): string {
  const report = {
    target,
    baseUrl,
    contract: { title, version },
    summary: counts(verification),
    checks: verification.checks,
    reached: verification.reached,
    notes: verification.notes,
  }
  return `${escapeLines(stringifyJson(report, 2))}\n`
}
