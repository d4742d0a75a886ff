import type { EpochMs } from '../domain/time.js'
import { xmlText } from './xml-text.js'

/** One thing that was looked at. What did not pass says why: in one sentence, and line by line. */
export interface JUnitCase {
  readonly name: string
  readonly outcome: 'passed' | 'failure' | 'error' | 'skipped'
  readonly message?: string
  readonly lines?: readonly string[]
}

export interface JUnitSuite {
  readonly name: string
  readonly cases: readonly JUnitCase[]
  /** What is worth knowing and fails nothing. */
  readonly notes?: readonly string[]
}

/**
 * Writes suites as CI systems read them.
 *
 * It is valid by Ant's schema, where every attribute and element here is
 * required and none is left over (a suite's `skipped` came later, so its cases
 * alone say it), and by Jenkins' (xUnit plugin, junit-10), which takes them all.
 *
 * @param what what all of it is about: `conduct`
 * @param at   when it was found out
 */
export function junitXml(what: string, suites: readonly JUnitSuite[], at: EpochMs): string {
  const origin = `package=${xmlQuoted(what)} timestamp="${new Date(at).toISOString().slice(0, 19)}" hostname="localhost"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...suites.flatMap(({ name, cases, notes = [] }, id) => [
      `  <testsuite id="${id}" name=${xmlQuoted(name)} ${origin} ${sums(cases)} time="0">`,
      '    <properties/>',
      ...cases.map((one) => `    ${testCase(name, one)}`),
      `    <system-out>${textOf(notes)}</system-out>`,
      '    <system-err/>',
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function sums(cases: readonly JUnitCase[]): string {
  const count = (wanted: JUnitCase['outcome']) => cases.filter(({ outcome }) => outcome === wanted).length
  return `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}"`
}

function testCase(suite: string, { name, outcome, message = '', lines = [] }: JUnitCase): string {
  const head = `<testcase classname=${xmlQuoted(suite)} name=${xmlQuoted(name)} time="0"`
  if (outcome === 'passed') return `${head}/>`
  const type = outcome === 'skipped' ? '' : ` type=${xmlQuoted(name)}`
  return `${head}><${outcome}${type} message=${xmlQuoted(message)}>${textOf(lines)}</${outcome}></testcase>`
}

function textOf(lines: readonly string[]): string {
  return lines.map(xmlText).join('\n')
}

/** An attribute's value, in its quotes. */
function xmlQuoted(text: string): string {
  return `"${xmlText(text)}"`
}
