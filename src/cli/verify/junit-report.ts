import type { Check, Verification } from '../../client/verify/check.js'
import { escapeControls } from '../escape-controls.js'
import { counts, type Subject } from './json-report.js'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** The report as CI systems read it: a suite for each operation, a case for each check. */
export function junitReport({ target, baseUrl }: Subject, verification: Verification): string {
  const operations = [...new Set(verification.checks.map(({ operation }) => operation))]
  const suites = operations.map((operation) => {
    const checks = verification.checks.filter((check) => check.operation === operation)
    const cases = checks.map((check) => `    ${testCase(check)}`)
    return [`  <testsuite name=${quoted(operation)} ${sums({ ...verification, checks })}>`, ...cases, '  </testsuite>']
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${quoted(`verify ${target} at ${baseUrl}`)} ${sums(verification)}>`,
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
  const head = `<testcase classname=${quoted(operation)} name=${quoted(title)}`
  const message = quoted(details.join('; '))
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

/** An attribute's value. What XML cannot hold at all is left out: controls become visible, half characters a mark. */
function quoted(text: string): string {
  const held = escapeControls(text).replace(/[\ud800-\udfff\ufffe\uffff]/gu, '\ufffd')
  return `"${held.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')}"`
}
