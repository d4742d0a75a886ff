import type { ChalkInstance } from 'chalk'
import type { Check, CheckOutcome, Verification } from '../../client/verify/verify.js'
import type { ContractData } from '../../contract/contract-data.js'
import { stringifyJson } from '../../contract/json.js'
import type { EpochMs } from '../../domain/time.js'
import { escapeControls, escapeLines } from '../escape-controls.js'
import { junitXml } from '../junit.js'

export interface Subject {
  readonly target: string
  readonly baseUrl: string
  readonly contract: Pick<ContractData, 'title' | 'version'>
}

const OUTCOMES = {
  kept: { mark: '✓', colour: 'green', label: 'kept', junit: 'passed' },
  drift: { mark: '✗', colour: 'red', label: 'drifted', junit: 'failure' },
  skipped: { mark: '–', colour: 'dim', label: 'not checked', junit: 'skipped' },
  unanswered: { mark: '✗', colour: 'red', label: 'not answered', junit: 'error' },
} as const satisfies Record<CheckOutcome, object>

function counts({ checks }: Verification): Readonly<Record<CheckOutcome, number>> {
  const sums = { kept: 0, drift: 0, skipped: 0, unanswered: 0 }
  for (const { outcome } of checks) sums[outcome]++
  return sums
}

export function jsonReport(subject: Subject, verification: Verification): string {
  const { title, version } = subject.contract
  const report = { ...subject, contract: { title, version }, summary: counts(verification), ...verification }
  return `${escapeLines(stringifyJson(report, 2))}\n`
}

export function junitReport({ target, baseUrl }: Subject, { checks }: Verification, at: EpochMs): string {
  const suites = [...new Set(checks.map(({ operation }) => operation))].map((name) => ({
    name,
    cases: checks
      .filter(({ operation }) => operation === name)
      .map((check) => ({
        name: nameOf(check),
        outcome: OUTCOMES[check.outcome].junit,
        message: check.details.join('; '),
      })),
  }))
  return junitXml(`verify ${target} at ${baseUrl}`, suites, at)
}

export function textReport({ contract }: Subject, verification: Verification, chalk: ChalkInstance): string {
  const lines = verification.checks.map((check) => {
    const { mark, colour } = OUTCOMES[check.outcome]
    const details = check.details.length === 0 ? '' : `: ${check.details.join('; ')}`
    return `${chalk[colour](mark)} ${escapeControls(`${check.operation}, ${nameOf(check)}${details}`)}`
  })
  const sums = Object.entries(counts(verification)) as [CheckOutcome, number][]
  const parts = sums.flatMap(([outcome, count]) =>
    count === 0 && outcome === 'unanswered' ? [] : `${count} ${OUTCOMES[outcome].label}`,
  )
  return [...lines, '', `${escapeControls(`${contract.title} ${contract.version}`)}: ${parts.join(', ')}`, ''].join(
    '\n',
  )
}

function nameOf({ name, request }: Check): string {
  return request === undefined ? name : `${name} (${request})`
}
