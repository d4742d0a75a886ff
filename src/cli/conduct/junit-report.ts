import { type ConductRule, VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import type { EpochMs } from '../../domain/time.js'
import { type JUnitSuite, junitXml } from '../junit.js'
import { type ConductReport, callerName, type SpaceFinding } from './conduct-report.js'
import { findingLine } from './text-report.js'

const RULES: readonly ConductRule[] = [...VIOLATIONS, ...WARNINGS]

/**
 * Conduct as CI systems read it: a suite for each key, a case for each rule.
 *
 * @param failing rules whose findings count as failures; all others are only reported
 */
export function junitReport(report: ConductReport, failing: readonly ConductRule[], at: EpochMs): string {
  const { keys, violations, warnings } = report
  const findings = new Map<string, SpaceFinding[]>(keys.map((key) => [callerName(key), []]))
  for (const finding of [...violations, ...warnings]) {
    const name = callerName(finding)
    const known = findings.get(name)
    if (known === undefined) findings.set(name, [finding])
    else known.push(finding)
  }
  const suites = [...findings].map(([name, found]) => suiteOf(name, found, failing))
  return junitXml('conduct', suites, at)
}

/** @param name whose conduct it is: `sandbox-pro~checkout` */
function suiteOf(name: string, findings: readonly SpaceFinding[], failing: readonly ConductRule[]): JUnitSuite {
  return {
    name,
    cases: RULES.map((rule) => {
      const found = findings.filter((finding) => finding.rule === rule && failing.includes(rule))
      const [first] = found
      if (first === undefined) return { name: rule, outcome: 'passed' }
      return { name: rule, outcome: 'failure', message: first.message, lines: found.map(findingLine) }
    }),
    notes: findings.filter(({ rule }) => !failing.includes(rule)).map(findingLine),
  }
}
