import { type ConductRule, VIOLATIONS, WARNINGS } from '../../space/conduct-view.js'
import { xmlQuoted, xmlText } from '../xml-text.js'
import { type ConductReport, callerName, type SpaceFinding } from './conduct-report.js'
import { findingLine } from './text-report.js'

const RULES: readonly ConductRule[] = [...VIOLATIONS, ...WARNINGS]

/**
 * Conduct as CI systems read it: a suite for each key, a case for each rule.
 *
 * @param failing rules whose findings are failures; those of others are only told
 */
export function junitReport(report: ConductReport, failing: readonly ConductRule[]): string {
  const suites = suitesOf(report, failing)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="conduct" ${sums(suites)}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite name=${xmlQuoted(suite.name)} ${sums([suite])}>`,
      ...suite.cases.flatMap(({ lines }) => lines),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

interface Suite {
  /** Whose conduct it is: `sandbox-pro~checkout`. */
  readonly name: string
  readonly cases: readonly { readonly failed: boolean; readonly lines: readonly string[] }[]
}

function suitesOf({ keys, violations, warnings }: ConductReport, failing: readonly ConductRule[]): readonly Suite[] {
  const findings = new Map<string, SpaceFinding[]>(keys.map((key) => [callerName(key), []]))
  for (const finding of [...violations, ...warnings]) {
    const name = callerName(finding)
    const known = findings.get(name)
    if (known === undefined) findings.set(name, [finding])
    else known.push(finding)
  }
  return [...findings].map(([name, ofKey]) => ({
    name,
    cases: RULES.map((rule) => {
      const found = ofKey.filter((finding) => finding.rule === rule)
      const failed = found.length > 0 && failing.includes(rule)
      return { failed, lines: testCase(name, rule, found, failed) }
    }),
  }))
}

function sums(suites: readonly Suite[]): string {
  const cases = suites.flatMap((suite) => suite.cases)
  return `tests="${cases.length}" failures="${cases.filter(({ failed }) => failed).length}" errors="0" skipped="0"`
}

function testCase(name: string, rule: ConductRule, found: readonly SpaceFinding[], failed: boolean): readonly string[] {
  const head = `<testcase classname=${xmlQuoted(name)} name="${rule}"`
  const [first] = found
  if (first === undefined) return [`    ${head}/>`]
  const lines = found.map((finding) => xmlText(findingLine(finding)))
  const [open, close] = failed
    ? [`<failure message=${xmlQuoted(first.message)}>`, '</failure>']
    : ['<system-out>', '</system-out>']
  return [`    ${head}>${open}${lines.join('\n')}${close}</testcase>`]
}
