import { counted } from '../../domain/numbers.js'
import type { LogFormat } from '../../options/options.js'
import type { ConductReport } from '../conduct/conduct-report.js'
import { cheapestLine, countsLine, findingLine } from '../conduct/text-report.js'
import { escapeControls } from '../escape-controls.js'
import type { Summary } from './exec-sandbox.js'
import { DRIFT, driftLine, type FailOn, NO_TRAFFIC, noTrafficLine, type RunRule } from './fail-on.js'

const MAX_FINDINGS = 20
const MAX_OPERATIONS = 5

export interface RunOutcome {
  readonly summary: Summary
  readonly conduct: ConductReport
  readonly failOn: FailOn
  readonly broken: readonly RunRule[]
}

export function summaryLines({ summary, conduct, failOn, broken }: RunOutcome, log: LogFormat): readonly string[] {
  const { requests, counts, whatIf, leftOut } = conduct
  const all = [...conduct.violations, ...conduct.warnings].filter(({ rule }) => broken.includes(rule))
  const findings = all.slice(0, MAX_FINDINGS)
  const drift = broken.includes(DRIFT) ? conduct.drift.slice(0, MAX_FINDINGS).map(driftLine) : []
  if (log === 'json') {
    const facts = { event: 'summary', ...summaryFacts(summary), conduct: { counts, cheapest: whatIf.cheapest } }
    const failed = { event: 'fail-on', rules: broken, findings, ...(drift.length === 0 ? {} : { drift }) }
    return [JSON.stringify(facts), ...(broken.length === 0 ? [] : [escapeControls(JSON.stringify(failed))])]
  }
  const cheapest = cheapestLine(whatIf)
  const rest = all.length - findings.length + leftOut
  return [
    summaryLine(summary),
    ...(requests === 0
      ? []
      : [`petstore-sandbox: conduct: ${[countsLine(conduct), cheapest ?? []].flat().join('; ')}`]),
    ...(broken.length === 0 ? [] : [`petstore-sandbox: ${failOn.where} failed the run:`]),
    ...(broken.includes(NO_TRAFFIC) ? [`  ${noTrafficLine(conduct)}`] : []),
    ...drift.map((line) => `  ${escapeControls(line)}`),
    ...findings.map((finding) => `  ${findingLine(finding)}`),
    ...(broken.length > 0 && rest > 0 ? [`  … and ${rest} more`] : []),
  ]
}

/** `petstore-sandbox: 12 requests; 3 of 4 operations reached (not listOrders); 2 refused (quota-minute 2)` */
function summaryLine({ requests, reached, missed, refused }: Summary): string {
  const rest = missed.length - MAX_OPERATIONS
  const named = [...missed.slice(0, MAX_OPERATIONS), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
  const total = [...refused.values()].reduce((sum, count) => sum + count, 0)
  const reasons = [...refused].map(([reason, count]) => `${reason} ${count}`).join(', ')
  const operations = `${reached.length} of ${reached.length + missed.length} operations reached`
  const parts = [
    counted(requests, 'request'),
    reached.length === 0 || named === '' ? operations : `${operations} (not ${named})`,
    total === 0 ? 'none refused' : `${total} refused (${reasons})`,
  ]
  return escapeControls(`petstore-sandbox: ${parts.join('; ')}`)
}

export function summaryFacts({ requests, reached, missed, refused }: Summary) {
  return { requests, operations: { reached, missed }, refused: Object.fromEntries(refused) }
}
