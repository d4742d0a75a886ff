import { resolve } from 'node:path'
import { colourLevel, coloursFor } from '../colour.js'
import { addConduct, EMPTY_CONDUCT } from '../conduct/conduct-report.js'
import { reportToGitHub, writeReport } from '../conduct/report-file.js'
import { findingLine, textReport } from '../conduct/text-report.js'
import { brokenRules, NEVER_FAIL, NO_TRAFFIC, noTrafficLine, parseFailOn } from '../exec/fail-on.js'
import { EXIT } from '../exit-codes.js'
import { printLine } from '../print.js'
import { driftResult } from './formatters.js'
import { printResult } from './result.js'
import { type ControlContext, type VerbCommands, verbCommand } from './verb-commands.js'

interface ConductFlags {
  readonly failOn?: string
  readonly report?: string
}

export function addReportVerbs({ add, call, verb }: VerbCommands): void {
  add('conduct', "violations of the service's rules, and refusals on each plan", [
    'conduct --fail-on violation --report conduct.xml',
  ])
    .option('--fail-on <rules>', 'exit with 1 if one of these rules is broken in any space')
    .option('--report <file>', 'write a report on all spaces: .json, .xml (JUnit) or text')
    .action(call(conduct))
  verb('drift', 'drift', 'how the real service differs from the contract', (value, _, { io }) => driftResult(value, io))
}

async function conduct(at: ControlContext, { failOn: rules, report: file }: ConductFlags): Promise<number> {
  const { controls, sandbox, io, json } = at
  const failOn = rules === undefined ? NEVER_FAIL : parseFailOn('--fail-on', rules)
  const value = await controls.conduct()
  const colours = await coloursFor(colourLevel(io.stdout, io.env))
  const text = textReport(addConduct(EMPTY_CONDUCT, value), colours).trimEnd()
  const ids = [...value.violations, ...value.warnings].flatMap(({ exchanges }) => exchanges.slice(0, 1).map(Number))
  const next = [...new Set(ids)].slice(0, 3).map((id) => `${verbCommand(at)} requests show ${id}`)
  await printResult({ value, text, coloured: true, next }, io, json)
  if (rules === undefined && file === undefined) return EXIT.ok
  const spaces = (await sandbox.spaces.list()).filter(({ name }) => name !== '')
  const all = [sandbox, ...spaces.map(({ name }) => sandbox.space(name))]
  const report = (await Promise.all(all.map((space) => space.conduct()))).reduce(addConduct, EMPTY_CONDUCT)
  const broken = brokenRules(failOn.rules, report)
  const exitCode = broken.length > 0 ? EXIT.failed : EXIT.ok
  if (broken.includes(NO_TRAFFIC)) printLine(io.stderr, noTrafficLine(report))
  for (const finding of [...report.violations, ...report.warnings])
    if (broken.includes(finding.rule)) printLine(io.stderr, findingLine(finding))
  await reportToGitHub(report, broken, io)
  if (file !== undefined) await writeReport(resolve(io.cwd, file), report, { exitCode }, failOn.rules)
  return exitCode
}
