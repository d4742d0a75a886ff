import type { Check, Verification } from '../../client/verify/check.js'
import { xmlQuoted } from '../xml-text.js'
import { counts, type Subject } from './json-report.js'

/** The report as CI systems read it: a suite for each operation, a case for each check. */
export function junitReport({ target, baseUrl }: Subject, verification: Verification): string {
  const operations = [...new Set(verification.checks.map(({ operation }) => operation))]
  const suites = operations.map((operation) => {
    const checks = verification.checks.filter((check) => check.operation === operation)
    const cases = checks.map((check) => `    ${testCase(check)}`)
    return [
      `  <testsuite name=${xmlQuoted(operation)} ${sums({ ...verification, checks })}>`,
      ...cases,
      '  </testsuite>',
    ]
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${xmlQuoted(`verify ${target} at ${baseUrl}`)} ${sums(verification)}>`,
    ...suites.flat(),
    '</testsuites>',
    '',
  ].join('\n')
}

function sums(verification: Verification): string {
  const { drift, skipped, unanswered } = counts(verification)
  const { length } = verification.checks
  return `tests="${length}" failures="${drift}" errors="${unanswered}" skipped="${skipped}"`
}

function testCase({ operation, name, request, outcome, details }: Check): string {
  const title = request === undefined ? name : `${name} (${request})`
  const head = `<testcase classname=${xmlQuoted(operation)} name=${xmlQuoted(title)}`
  const message = xmlQuoted(details.join('; '))
  switch (outcome) {
    case 'kept':
      return `${head}/>`
    case 'drift':
      return `${head}><failure message=${message}/></testcase>`
    case 'unanswered':
      return `${head}><error message=${message}/></testcase>`
    case 'skipped':
      return `${head}><skipped message=${message}/></testcase>`
  }
}
