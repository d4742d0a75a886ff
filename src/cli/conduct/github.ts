import { appendRegularFile } from '../../system/regular-file.js'
import { chalkFor } from '../colour.js'
import { escapeControls } from '../escape-controls.js'
import { NO_TRAFFIC, noTrafficLine, type RunRule } from '../exec/fail-on.js'
import type { CliIo } from '../io.js'
import { printLine } from '../print.js'
import { type ConductReport, callerName } from './conduct-report.js'
import { textReport } from './text-report.js'

/** GitHub shows no more for a step. */
const MAX_ANNOTATIONS = 10

/** Prints annotations and adds the report to the step summary. @param broken their findings are errors, others warnings */
export async function reportToGitHub(report: ConductReport, broken: readonly RunRule[], io: CliIo): Promise<void> {
  const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY: summary = '' } = io.env
  if (GITHUB_ACTIONS !== 'true') return
  for (const line of annotations(report, broken)) printLine(io.stderr, line)
  if (summary === '') return
  const text = await chalkFor(0).then((chalk) => textReport(report, chalk))
  // Text from clients may have three backticks.
  appendRegularFile(summary, `### Conduct towards petstore-sandbox\n\n\`\`\`\`text\n${text}\`\`\`\`\n`)
}

function annotations(report: ConductReport, broken: readonly RunRule[]): readonly string[] {
  const failing = [...report.violations, ...report.warnings].filter(({ rule }) => broken.includes(rule))
  const others = report.violations.filter(({ rule }) => !broken.includes(rule))
  const of = (kind: 'error' | 'warning', findings: typeof failing) =>
    findings.map((finding) => annotation(kind, `${finding.rule}, ${callerName(finding)}`, finding.message))
  return [
    ...(broken.includes(NO_TRAFFIC) ? [annotation('error', NO_TRAFFIC, noTrafficLine(report))] : []),
    ...of('error', failing).slice(0, MAX_ANNOTATIONS),
    ...of('warning', others).slice(0, MAX_ANNOTATIONS),
  ]
}

/** Properties of a workflow command also escape colons and commas. */
function annotation(kind: 'error' | 'warning', title: string, message: string): string {
  const data = (text: string) =>
    escapeControls(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
  return `::${kind} title=${property(title)}::${data(message)}`
}
