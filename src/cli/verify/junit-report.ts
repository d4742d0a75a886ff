import type { Check, CheckOutcome, Verification } from '../../client/verify/check.js'
import type { EpochMs } from '../../domain/time.js'
import { type JUnitCase, junitXml } from '../junit.js'
import type { Subject } from './json-report.js'

const OUTCOMES: Readonly<Record<CheckOutcome, JUnitCase['outcome']>> = {
  kept: 'passed',
  drift: 'failure',
  unanswered: 'error',
  skipped: 'skipped',
}

/** The report as CI systems read it: a suite for each operation, a case for each check. */
export function junitReport({ target, baseUrl }: Subject, { checks }: Verification, at: EpochMs): string {
  const operations = [...new Set(checks.map(({ operation }) => operation))]
  const suites = operations.map((name) => ({
    name,
    cases: checks.filter(({ operation }) => operation === name).map(caseOf),
  }))
  return junitXml(`verify ${target} at ${baseUrl}`, suites, at)
}

function caseOf({ name, request, outcome, details }: Check): JUnitCase {
  return {
    name: request === undefined ? name : `${name} (${request})`,
    outcome: OUTCOMES[outcome],
    message: details.join('; '),
  }
}
