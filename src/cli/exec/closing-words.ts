import type { LogFormat } from '../../options/options.js'
import type { ConductReport, SpaceFinding } from '../conduct/conduct-report.js'
import { cheapestLine, countsLine, findingLine } from '../conduct/text-report.js'
import { escapeControls } from '../escape-controls.js'
import { DRIFT, driftLine, type FailOn, NO_TRAFFIC, NO_TRAFFIC_LINE, type RunRule } from './fail-on.js'
import { type Ending, isMissing } from './run-command.js'
import { jsonSummary, prettySummary, type Summary } from './tally.js'

/** Findings named on stderr; the report has all of them. */
const MOST_NAMED = 20

/** The outcome of a run: its traffic, the conduct of its clients, and the rules that make it fail. */
export interface RunOutcome {
  readonly summary: Summary
  readonly conduct: ConductReport
  readonly failOn: FailOn
  /** Rules in `failOn` that were broken. */
  readonly hit: readonly RunRule[]
}

/** The last lines of `exec` on stderr. */
export function closingWords(name: string, ending: Ending, outcome: RunOutcome, log: LogFormat): readonly string[] {
  if (ending.kind === 'unstartable') return [whyUnstartable(name, ending.cause)]
  return log === 'json' ? jsonWords(outcome) : prettyWords(outcome)
}

function prettyWords({ summary, conduct, failOn, hit }: RunOutcome): readonly string[] {
  const { requests, whatIf, leftOut } = conduct
  const words = [countsLine(conduct), cheapestLine(whatIf)].filter((word) => word !== undefined)
  const failing = findingsOf(conduct, hit)
  const rest = Math.max(0, failing.length - MOST_NAMED) + leftOut
  return [
    prettySummary(summary),
    ...(requests === 0 ? [] : [`petstore-sandbox: conduct: ${words.join('; ')}`]),
    ...(hit.length === 0 ? [] : [`petstore-sandbox: ${failOn.where} was hit:`]),
    ...(hit.includes(NO_TRAFFIC) ? [`  ${NO_TRAFFIC_LINE}`] : []),
    ...driftsOf(conduct, hit).map((line) => `  ${escapeControls(line)}`),
    ...failing.slice(0, MOST_NAMED).map((finding) => `  ${findingLine(finding)}`),
    ...(hit.length > 0 && rest > 0 ? [`  … and ${rest} more`] : []),
  ]
}

function jsonWords({ summary, conduct, hit }: RunOutcome): readonly string[] {
  const { counts, whatIf } = conduct
  return [
    jsonSummary(summary, { counts, cheapest: whatIf.cheapest }),
    ...(hit.length === 0 ? [] : [failedLine(hit, findingsOf(conduct, hit), driftsOf(conduct, hit))]),
  ]
}

function failedLine(rules: readonly RunRule[], failing: readonly SpaceFinding[], drifts: readonly string[]): string {
  const drift = drifts.length === 0 ? {} : { drift: drifts }
  return escapeControls(JSON.stringify({ event: 'fail-on', rules, findings: failing.slice(0, MOST_NAMED), ...drift }))
}

function driftsOf({ drift }: ConductReport, hit: readonly RunRule[]): readonly string[] {
  return hit.includes(DRIFT) ? drift.slice(0, MOST_NAMED).map(driftLine) : []
}

function findingsOf({ violations, warnings }: ConductReport, rules: readonly RunRule[]): readonly SpaceFinding[] {
  return [...violations, ...warnings].filter(({ rule }) => rules.includes(rule))
}

function whyUnstartable(name: string, cause: NodeJS.ErrnoException): string {
  const shown = escapeControls(JSON.stringify(name))
  return isMissing(cause)
    ? `NO_SUCH_COMMAND: ${shown} was not found. Is it installed, and in PATH?`
    : `NOT_EXECUTABLE: ${shown} cannot be run (${escapeControls(cause.code ?? cause.message)}).`
}
