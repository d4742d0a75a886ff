import { type ConductRule, VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import type { EpochMs } from '../../domain/time.js'
import { DRIFT, driftLine, NO_TRAFFIC, NO_TRAFFIC_LINE, type RunRule, rulesHit } from '../exec/fail-on.js'
import { type JUnitCase, type JUnitSuite, junitXml } from '../junit.js'
import { type ConductReport, callerName, type SpaceFinding } from './conduct-report.js'
import { findingLine } from './text-report.js'

const RULES: readonly ConductRule[] = [...VIOLATIONS, ...WARNINGS]

/**
 * Conduct as CI systems read it: a suite for each key, a case for each rule.
 *
 * @param failing rules whose findings count as failures; all others are only reported
 */
export function junitReport(report: ConductReport, failing: readonly RunRule[], at: EpochMs): string {
  const { keys, violations, warnings } = report
  const findings = new Map<string, SpaceFinding[]>(keys.map((key) => [callerName(key), []]))
  for (const finding of [...violations, ...warnings]) {
    const name = callerName(finding)
    const known = findings.get(name)
    if (known === undefined) findings.set(name, [finding])
    else known.push(finding)
  }
  const suites = [...findings].map(([name, found]) => suiteOf(name, found, failing))
  return junitXml('conduct', [...suites, ...suiteOfDrift(report, failing), ...suiteOfAll(report, failing)], at)
}

/** What fails the run and is no finding of any key: that there was no traffic, and rules whose findings were too many to keep. */
function suiteOfAll(report: ConductReport, failing: readonly RunRule[]): readonly JUnitSuite[] {
  const kept = new Set<RunRule>([...report.violations, ...report.warnings].map(({ rule }) => rule))
  const cases = rulesHit(failing, report)
    .filter((rule) => !kept.has(rule) && rule !== DRIFT)
    .map((name): JUnitCase => {
      const message =
        name === NO_TRAFFIC ? NO_TRAFFIC_LINE : 'It was broken, and there were too many findings to keep this one.'
      return { name, outcome: 'failure', message }
    })
  return cases.length === 0 ? [] : [{ name: 'all', cases }]
}

/** The real service behind the sandbox: a case for each operation that has drifted. */
function suiteOfDrift({ drift }: ConductReport, failing: readonly RunRule[]): readonly JUnitSuite[] {
  if (drift.length === 0) return []
  if (!failing.includes(DRIFT)) return [{ name: DRIFT, cases: [], notes: drift.map(driftLine) }]
  const operations = [...new Set(drift.map(({ operation }) => operation))]
  return [
    {
      name: DRIFT,
      cases: operations.map((operation): JUnitCase => {
        const found = drift.filter((one) => one.operation === operation)
        return { name: operation, outcome: 'failure', message: found[0]?.detail ?? '', lines: found.map(driftLine) }
      }),
    },
  ]
}

/** @param name whose conduct it is: `sandbox-pro~checkout` */
function suiteOf(name: string, findings: readonly SpaceFinding[], failing: readonly RunRule[]): JUnitSuite {
  return {
    name,
    cases: RULES.map((rule) => {
      const found = findings.filter((finding) => finding.rule === rule && failing.includes(rule))
      const [first] = found
      if (first === undefined) return { name: rule, outcome: 'passed' }
      return {
        name: rule,
        outcome: 'failure',
        message: first.message,
        lines: found.map((finding) => findingLine(finding)),
      }
    }),
    notes: findings.filter(({ rule }) => !failing.includes(rule)).map((finding) => findingLine(finding)),
  }
}
