import type { EpochMs } from '../domain/time.js'
import { xmlText } from './print.js'

export interface JUnitCase {
  readonly name: string
  readonly outcome: 'passed' | 'failure' | 'error' | 'skipped'
  readonly seconds?: number
  readonly message?: string
  readonly lines?: readonly string[]
}

export interface JUnitSuite {
  readonly name: string
  readonly cases: readonly JUnitCase[]
  readonly notes?: readonly string[]
}

/** Valid by Ant's schema, which requires every element here, and by Jenkins' (xUnit plugin, junit-10). */
export function junitXml(subject: string, suites: readonly JUnitSuite[], at: EpochMs): string {
  const origin = `package=${quoted(subject)} timestamp="${new Date(at).toISOString().slice(0, 19)}" hostname="localhost"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...suites.flatMap(({ name, cases, notes = [] }, id) => {
      const count = (wanted: JUnitCase['outcome']) => cases.filter(({ outcome }) => outcome === wanted).length
      const seconds = cases.reduce((sum, junitCase) => sum + (junitCase.seconds ?? 0), 0)
      const sums = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}"`
      return [
        `  <testsuite id="${id}" name=${quoted(name)} ${origin} ${sums} time="${timeOf(seconds)}">`,
        '    <properties/>',
        ...cases.map((junitCase) => `    ${testCase(name, junitCase)}`),
        `    <system-out>${notes.map(xmlText).join('\n')}</system-out>`,
        '    <system-err/>',
        '  </testsuite>',
      ]
    }),
    '</testsuites>',
    '',
  ].join('\n')
}

function testCase(suite: string, { name, outcome, seconds = 0, message = '', lines = [] }: JUnitCase): string {
  const head = `<testcase classname=${quoted(suite)} name=${quoted(name)} time="${timeOf(seconds)}"`
  if (outcome === 'passed') return `${head}/>`
  const type = outcome === 'skipped' ? '' : ` type=${quoted(name)}`
  return `${head}><${outcome}${type} message=${quoted(message)}>${lines.map(xmlText).join('\n')}</${outcome}></testcase>`
}

function timeOf(seconds: number): string {
  return String(Number(seconds.toFixed(3)))
}

function quoted(text: string): string {
  return `"${xmlText(text)}"`
}
