import {
  type ConductRule,
  type PlanOutcome,
  type Refusals,
  VIOLATIONS,
  WARNINGS,
  type WhatIf,
} from '../../conduct/conduct-view.js'
import type { ConductReport, SpaceFinding } from '../../conduct/total-conduct.js'
import { counted, pluralize } from '../../domain/numbers.js'
import { withoutOperation } from '../../domain/problems.js'
import { type Colours, escapeControls, wrapHanging } from '../print.js'
import { aligned } from '../table.js'
import { callerName } from './conduct-report.js'
import { causesText, findingCauses } from './verdict-text.js'

const MAX_IDS = 5

/** @param columns of the terminal */
export function textReport(report: ConductReport, colours: Colours, columns?: number): string {
  const { violations, warnings, notes, leftOut, whatIf } = report
  const all = [...violations, ...warnings, ...notes]
  const causes = [
    ...findingCauses(violations, 'failed', callerName, all),
    ...findingCauses(warnings, 'warned', callerName, all),
    ...findingCauses(notes, 'noted', callerName, all),
  ]
  return [
    ...causesText(causes, colours, columns),
    ...(leftOut === 0 ? [] : [escapeControls(`  … and ${leftOut} more`)]),
    ...(violations.length + warnings.length + notes.length === 0 ? [] : ['']),
    wrapHanging(escapeControls(`${judged(report)}: ${countsLine(report)}`), columns),
    ...whatIfLines(whatIf, columns),
    '',
  ].join('\n')
}

export function findingLine(finding: SpaceFinding): string {
  const { rule, operation, message, count, exchanges } = finding
  const where = [rule, callerName(finding), ...(operation === null ? [] : [operation])].join(', ')
  return escapeControls(
    `${where}: ${withoutOperation(operation, message)} (${[...times(count), placesText(exchanges, count)].join('; ')})`,
  )
}

export function countsLine(report: ConductReport): string {
  return `${kindLine(report, 'violation', VIOLATIONS)}, ${kindLine(report, 'warning', WARNINGS)}`
}

export function cheapestPlanLine(whatIf: WhatIf | undefined): string | undefined {
  if (whatIf === undefined || whatIf.requests === 0) return undefined
  const { cheapest } = whatIf
  return cheapest === null
    ? 'each plan would have refused some requests'
    : `on the plan ${cheapest}, no request would have been refused`
}

function judged({ requests, spaces, senders, sendersStated }: ConductReport): string {
  const where = spaces > 1 ? ` in ${spaces} spaces` : ''
  const most = senders.at(-1)
  const basis = sendersStated ? 'stated' : 'observed'
  const who = most === undefined ? '' : `, ${senders.join(' or ')} ${pluralize(most, 'sender')} per key (${basis})`
  return `${counted(requests, 'request')}${where}${who}`
}

function kindLine({ counts }: ConductReport, kind: string, rules: readonly ConductRule[]): string {
  const broken = rules.map((rule) => ({ rule, count: counts[rule] ?? 0 })).filter(({ count }) => count > 0)
  if (broken.length === 0) return `no ${kind}s`
  const total = broken.reduce((sum, { count }) => sum + count, 0)
  const named = broken.map(({ rule, count }) => `${rule} ${count}`).join(', ')
  return `${counted(total, kind)} (${named})`
}

function times(count: number): readonly string[] {
  return count === 1 ? [] : [`${count} times`]
}

function placesText(ids: readonly number[], count: number): string {
  if (ids.length === 1 && count === 1) return `exchange ${ids[0]}`
  const shown = ids.slice(0, MAX_IDS).join(', ')
  return `exchanges ${count > Math.min(ids.length, MAX_IDS) ? `${shown} …` : shown}`
}

function whatIfLines(whatIf: WhatIf | undefined, columns: number | undefined): readonly string[] {
  const line = cheapestPlanLine(whatIf)
  if (whatIf === undefined || line === undefined) return []
  const { requests, peakMinute, peakDay, plans, configured } = whatIf
  const sentence = line.replace(/^./, (letter) => letter.toUpperCase())
  const head = `${counted(requests, 'request')} reached a quota, at most ${peakMinute} a minute and ${peakDay} a day with one key. ${sentence}:`
  return [
    wrapHanging(escapeControls(head), columns),
    aligned(
      [...plans.map((outcome) => ['', ...planCells(outcome)]), ['', 'as configured', '', '', refusalsText(configured)]],
      columns,
    ),
  ]
}

function planCells({ plan, perMinute, perDay, ...refusals }: PlanOutcome): readonly string[] {
  return [plan, `${perMinute}/min`, `${perDay}/day`, refusalsText(refusals)]
}

function refusalsText({ refusals, refused }: Refusals): string {
  const reasons = Object.entries(refused).flatMap(([reason, count]) => (count === 0 ? [] : [`${reason} ${count}`]))
  return refusals === 0 ? 'refuses none' : `refuses ${refusals} (${reasons.join(', ')})`
}
