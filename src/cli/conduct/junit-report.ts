import { VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import type { EpochMs } from '../../domain/time.js'
import { brokenRules, DRIFT, driftLine, NO_TRAFFIC, noTrafficLine, type RunRule } from '../exec/fail-on.js'
import { type JUnitCase, type JUnitSuite, junitXml } from '../junit.js'
import { type ConductReport, callerName, type SpaceFinding } from './conduct-report.js'
import { findingLine } from './text-report.js'

/** A suite for each key with a case for each rule. @param failing rules whose findings are failures */
export function junitReport(report: ConductReport, failing: readonly RunRule[], at: EpochMs): string {
  const all: readonly SpaceFinding[] = [...report.violations, ...report.warnings]
  const names = new Set([...report.keys, ...all].map((one) => callerName(one)))
  const suites = [...names].map((name): JUnitSuite => {
    const findings = all.filter((finding) => callerName(finding) === name)
    return {
      name,
      cases: [...VIOLATIONS, ...WARNINGS].map((rule) =>
        caseOf(
          rule,
          findings.filter((finding) => finding.rule === rule && failing.includes(rule)),
        ),
      ),
      notes: findings.filter(({ rule }) => !failing.includes(rule)).map((finding) => findingLine(finding)),
    }
  })
  const kept = new Set<RunRule>(all.map(({ rule }) => rule))
  // No traffic, and rules whose findings were too many to keep.
  const others = brokenRules(failing, report)
    .filter((rule) => !kept.has(rule) && rule !== DRIFT)
    .map((name): JUnitCase => {
      const tooMany = 'The rule was broken. The details are missing because there were too many findings.'
      return { name, outcome: 'failure', message: name === NO_TRAFFIC ? noTrafficLine(report) : tooMany }
    })
  return junitXml(
    'conduct',
    [...suites, ...driftSuites(report, failing), ...(others.length === 0 ? [] : [{ name: 'all', cases: others }])],
    at,
  )
}

function caseOf(name: string, found: readonly SpaceFinding[]): JUnitCase {
  const [first] = found
  if (first === undefined) return { name, outcome: 'passed' }
  return { name, outcome: 'failure', message: first.message, lines: found.map((finding) => findingLine(finding)) }
}

function driftSuites({ drift }: ConductReport, failing: readonly RunRule[]): readonly JUnitSuite[] {
  if (drift.length === 0) return []
  if (!failing.includes(DRIFT)) return [{ name: DRIFT, cases: [], notes: drift.map(driftLine) }]
  const operations = [...new Set(drift.map(({ operation }) => operation))]
  const cases = operations.map((operation): JUnitCase => {
    const found = drift.filter((one) => one.operation === operation)
    return { name: operation, outcome: 'failure', message: found[0]?.detail ?? '', lines: found.map(driftLine) }
  })
  return [{ name: DRIFT, cases }]
}
