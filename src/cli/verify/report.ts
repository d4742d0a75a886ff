import type { ChalkInstance } from 'chalk'
import type { Check, CheckOutcome, Verification } from '../../client/verify/verify.js'
import type { ContractData } from '../../contract/contract-data.js'
import { shellWord } from '../../domain/curl.js'
import type { EpochMs } from '../../domain/time.js'
import { escapeControls } from '../escape-controls.js'
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

export function jsonReport(subject: Subject, verification: Verification): object {
  const { title, version } = subject.contract
  return { format: 1, ...subject, contract: { title, version }, summary: counts(verification), ...verification }
}

/** The drifted reads, as calls that check and show the response. */
export function nextCommands({ baseUrl }: Subject, { checks }: Verification): readonly string[] {
  const drifted = checks
    .filter(({ outcome }) => outcome === 'drift')
    .map(({ request = '' }) => /^GET (.*)/.exec(request))
  const calls = drifted.flatMap((match) => (match === null ? [] : `call GET ${shellWord(String(match[1]))}`))
  return [...new Set(calls)].slice(0, 3).map((call) => `npx petstore-sandbox ${call} --base-url ${baseUrl} --check -i`)
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
