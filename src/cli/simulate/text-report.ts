import type { ChalkInstance } from 'chalk'
import type { Finding } from '../../conduct/conduct-view.js'
import type { KeyFate, PlanFate, SimulationReport } from '../../simulate/report.js'
import { findingLine } from '../conduct/text-report.js'
import { table } from '../control/table.js'
import { escapeControls } from '../escape-controls.js'
import { wrapWords } from '../wrap-words.js'
import { factorText, headline, placesOf, remarks, verdict } from './words.js'

/** Keys of a table; the JSON report has all of them. */
const MOST_KEYS = 30
const NOTHING = '–'

/**
 * A simulation for people.
 *
 * @param width cells of a line
 */
export function textReport(name: string, report: SimulationReport, chalk: ChalkInstance, width: number): string {
  const { requests } = report
  const sentence = (line: string) => wrapWords(escapeControls(line), Number.isFinite(width) ? width : undefined)
  const told = verdict(report)
  return [
    sentence(headline(name, report)),
    ...remarks(report).map((line) => `${chalk.yellow('!')} ${sentence(line)}`),
    ...(requests === 0 ? [] : ['', planTable(report, width)]),
    ...(requests === 0 ? [] : ['', keyTable(report, width)]),
    ...(report.scale.length === 0 || requests === 0 ? [] : ['', scaleTable(report, width)]),
    ...(told === undefined ? [] : ['', chalk.bold(sentence(told))]),
    ...conductLines(report, chalk, sentence),
    '',
  ].join('\n')
}

function planTable({ plans, limits, keys }: SimulationReport, width: number): string {
  const rows = plans.map(({ plan, refusals, refused, upTo }, index) => {
    const refusing = keys.filter((key) => (key.plans[index]?.refusals ?? 0) > 0).length
    const { perMinute = 0, perDay = 0 } = limits[index] ?? {}
    return [
      plan,
      String(perMinute),
      String(perDay),
      ...[refusals, refused.minute, refused.day, refused.ban, refusing].map(String),
      factorText(upTo),
    ]
  })
  return table(['PLAN', 'PER MIN', 'PER DAY', 'REFUSED', 'MINUTE', 'DAY', 'BANNED', 'KEYS', 'UP TO'], rows, width)
}

function keyTable({ keys, plans, input }: SimulationReport, width: number): string {
  // Where a plan refuses nobody, its column would only make the others narrow.
  const isTold = plans.map(({ refusals }) => refusals > 0)
  const rows = keys
    .slice(0, MOST_KEYS)
    .map(({ key, requests, peakMinute, peakDay, plans: fates, cheapest, headRoom }) => [
      key,
      ...[requests, peakMinute, peakDay].map(String),
      ...fates.filter((_, index) => isTold[index]).map(({ refusals }) => String(refusals)),
      cheapest ?? 'none',
      headRoom === null ? NOTHING : factorText(headRoom),
    ])
  const head = [
    'KEY',
    'REQUESTS',
    'PEAK/MIN',
    'PEAK/DAY',
    ...plans.filter((_, index) => isTold[index]).map(({ plan }) => `ON ${plan.toUpperCase()}`),
    'ENOUGH',
    'UP TO',
  ]
  const hidden = keys.filter(({ isHidden }) => isHidden).slice(0, MOST_KEYS)
  return [
    table(head, rows, width),
    ...(keys.length > MOST_KEYS ? [`… and ${keys.length - MOST_KEYS} keys more, in the JSON report`] : []),
    ...(hidden.length === 0 ? [] : [hiddenLine(hidden, input.unit)]),
  ].join('\n')
}

/** Which keys those are whose names are not told. */
function hiddenLine(hidden: readonly KeyFate[], unit: string): string {
  return `Keys are not shown; first seen: ${hidden.map(({ key, first }) => `${key} in ${unit} ${first}`).join(', ')}.`
}

function scaleTable({ scale, plans }: SimulationReport, width: number): string {
  const rows = scale.map(({ factor, plans: fates }) => [
    factorText(factor),
    ...fates.map(({ refusals }) => (refusals === 0 ? NOTHING : `refuses ${refusals}`)),
  ])
  const last = ['breaks', ...plans.map(breakText)]
  return table(['TRAFFIC', ...plans.map(({ plan }) => plan.toUpperCase())], [...rows, last], width)
}

function breakText({ upTo }: PlanFate): string {
  return `above ${factorText(upTo)}`
}

function conductLines(
  { conduct, input }: SimulationReport,
  chalk: ChalkInstance,
  sentence: (line: string) => string,
): readonly string[] {
  const { violations, warnings } = conduct
  const line = (finding: Finding) => sentence(findingLine({ ...finding, space: '' }, placesOf(input.unit)))
  if (violations.length + warnings.length === 0) return []
  return [
    '',
    ...violations.map((finding) => `${chalk.red('✗')} ${line(finding)}`),
    ...warnings.map((finding) => `${chalk.yellow('!')} ${line(finding)}`),
  ]
}
