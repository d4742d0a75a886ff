import { dirname, extname } from 'node:path'
import { VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import type { ConductReport, SpaceFinding } from '../../conduct/total-conduct.js'
import { Failure } from '../../domain/failures.js'
import type { EpochMs } from '../../domain/time.js'
import { messageOf } from '../../system/message-of.js'
import { appendRegularFile, makeFolder, PROJECT_FILE, PROJECT_FOLDER, replaceFile } from '../../system/regular-file.js'
import { systemClock } from '../../system/system-clock.js'
import type { CliIo } from '../io.js'
import { type JUnitCase, type JUnitSuite, junitXml } from '../junit.js'
import { coloursFor, escapeControls, escapeLines, printLine } from '../print.js'
import { brokenRules, callerName, NO_TRAFFIC, noTrafficLine, type RunRule } from './conduct-report.js'
import { findingLine, textReport } from './text-report.js'

/** A suite for each key with a case for each rule. @param failing rules whose findings are failures */
export function junitReport(report: ConductReport, failing: readonly RunRule[], at: EpochMs): string {
  const all: readonly SpaceFinding[] = [...report.violations, ...report.warnings]
  const names = new Set([...report.keys, ...all].map((value) => callerName(value)))
  const suites = [...names].map((name): JUnitSuite => {
    const findings = all.filter((finding) => callerName(finding) === name)
    return {
      name,
      cases: [...VIOLATIONS, ...WARNINGS].map((rule) =>
        caseOf(
          rule,
          findings.filter((finding) => finding.rule === rule && failing.includes(rule)),
        ),
      ),
      notes: findings.filter(({ rule }) => !failing.includes(rule)).map((finding) => findingLine(finding)),
    }
  })
  const kept = new Set<RunRule>(all.map(({ rule }) => rule))
  // No traffic, and rules whose findings were too many to keep.
  const others = brokenRules(failing, report)
    .filter((rule) => !kept.has(rule))
    .map((name): JUnitCase => {
      const tooMany = 'The rule was broken. The details are missing because there were too many findings.'
      return { name, outcome: 'failure', message: name === NO_TRAFFIC ? noTrafficLine(report) : tooMany }
    })
  return junitXml('conduct', [...suites, ...(others.length === 0 ? [] : [{ name: 'all', cases: others }])], at)
}

function caseOf(name: string, found: readonly SpaceFinding[]): JUnitCase {
  const [first] = found
  if (first === undefined) return { name, outcome: 'passed' }
  return { name, outcome: 'failure', message: first.message, lines: found.map((finding) => findingLine(finding)) }
}

/** The file's extension chooses the format: .json, .xml (JUnit), otherwise text. @throws Failure CANNOT_WRITE */
export async function writeReport(
  file: string,
  report: ConductReport,
  facts: object,
  failOn: readonly RunRule[],
): Promise<void> {
  const extension = extname(file).toLowerCase()
  const text =
    extension === '.json'
      ? jsonReport(report, facts)
      : extension === '.xml'
        ? junitReport(report, failOn, systemClock.wall())
        : textReport(report, await coloursFor(0)) +
          (brokenRules(failOn, report).includes(NO_TRAFFIC) ? `${noTrafficLine(report)}\n` : '')
  replaceReport(file, text)
}

/** @throws Failure CANNOT_WRITE */
export function replaceReport(file: string, text: string): void {
  try {
    makeFolder(dirname(file), PROJECT_FOLDER)
    replaceFile(file, text, PROJECT_FILE)
  } catch (cause) {
    throw new Failure('CANNOT_WRITE', `The report "${file}" could not be written (${messageOf(cause)}).`, { cause })
  }
}

function jsonReport(report: ConductReport, facts: object = {}): string {
  return `${escapeLines(JSON.stringify({ ...facts, ...report }, undefined, 2))}\n`
}

/** GitHub shows no more for a step. */
const MAX_ANNOTATIONS = 10

/** Prints annotations and adds the report to the step summary. @param broken their findings are errors, others warnings */
export async function reportToGitHub(report: ConductReport, broken: readonly RunRule[], io: CliIo): Promise<void> {
  const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY: summary = '' } = io.env
  if (GITHUB_ACTIONS !== 'true') return
  for (const line of annotations(report, broken)) printLine(io.stderr, line)
  if (summary === '') return
  const text = textReport(report, await coloursFor(0))
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
