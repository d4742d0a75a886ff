import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { checkHealth, HEALTH_TIMEOUT_MS } from '../client/control-fetch.js'
import { isProcessAlive } from '../client/locator-file.js'
import { addConduct, EMPTY_CONDUCT } from '../conduct/total-conduct.js'
import { Failure } from '../domain/failures.js'
import { type DurationMs, formatDuration, SECOND_MS } from '../domain/time.js'
import { brokenRules, NEVER_FAIL, NO_TRAFFIC, noTrafficLine, parseFailOn } from './conduct/conduct-report.js'
import { reportToGitHub, writeReport } from './conduct/report-file.js'
import { findingLine, textReport } from './conduct/text-report.js'
import { durationMs } from './control/arguments.js'
import { type FoundSandbox, findSandbox, noSandbox, noSandboxAt } from './control/find-sandbox.js'
import { serviceUrl } from './control/formatters.js'
import { addRequestVerbs } from './control/requests.js'
import { printResult } from './control/result.js'
import {
  addSharedFlags,
  type ControlContext,
  connect,
  type SharedFlags,
  type VerbCommands,
  verbCommand,
  verbCommands,
  withLocation,
} from './control/verb-commands.js'
import { addExport, addVerbs } from './control/verbs.js'
import { addHelpCommand, explain } from './help.js'
import { type CliIo, EXIT, EXIT_NO_RESPONSE } from './io.js'
import { colourLevel, coloursFor, printLine, terminalWidth } from './print.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox control status',
  'petstore-sandbox control clock advance 1m',
  'petstore-sandbox control storm start 0.3,for=30s',
  'petstore-sandbox control requests --status 429 -o json',
]

const NOTES = `\
The address of the sandbox comes from --url, PETSTORE_SANDBOX_URL,
.petstore-sandbox/run.json in this folder, or else port 4010.

Exit codes: 0 done, 1 refused (stderr says why, as CODE: message), 2 usage
error, ${EXIT_NO_RESPONSE} no sandbox found, 130 and 143 ended by SIGINT, SIGTERM.`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  const verbs = verbCommands(command, io, finish)
  addVerbs(verbs)
  addExport(verbs)
  addRequestVerbs(verbs)
  addReportVerbs(verbs)
  addLifecycleVerbs(verbs, io)
  addSharedFlags(command)
  addHelpCommand(command)
  explain(command, { examples: EXAMPLES, notes: NOTES })
}

const POLL_MS: DurationMs = 50
/** @source docs/cli.md, "control" */
const DEFAULT_WAIT_MS: DurationMs = 30 * SECOND_MS
/** Open responses may delay a stop by 5 s; little is left to write after that. */
const STOP_TIMEOUT_MS: DurationMs = 15 * SECOND_MS

export function addLifecycleVerbs({ add, call, withoutSandbox }: VerbCommands, io: CliIo): void {
  const limit = `time limit (default: ${formatDuration(DEFAULT_WAIT_MS)})`
  add('wait', 'wait until the sandbox is healthy, and print its base address', ['wait --timeout 2m'])
    .addOption(new Option('--timeout <duration>', limit).argParser(durationMs))
    .action(
      withoutSandbox(async ({ timeout = DEFAULT_WAIT_MS, ...others }) => {
        const found = await healthySandbox(others, timeout, io)
        const { controls, space, json } = await connect(others, io, found)
        const { controlUrl } = found
        const known = space === '' ? found.baseUrl : undefined
        const baseUrl = known ?? (await withLocation(found, async () => serviceUrl(controlUrl, await controls.state())))
        await printResult({ value: { baseUrl, controlUrl }, text: baseUrl }, io, json)
      }),
    )
  add('stop', 'stop the sandbox, and wait for it to exit').action(
    call(async ({ sandbox, found }) => {
      await sandbox.shutdown()
      await untilGone(found, io)
      return { value: { stopped: found.controlUrl }, text: `The sandbox at ${found.controlUrl} has stopped.` }
    }),
  )
}

async function healthySandbox({ url }: SharedFlags, timeout: DurationMs, io: CliIo): Promise<FoundSandbox> {
  const deadline = io.monotonic() + timeout
  for (;;) {
    const found = await findSandbox(url, io).catch((error: unknown) => {
      if (error instanceof Failure && error.code === 'NO_SANDBOX') return error
      throw error
    })
    const left = Math.max(1, deadline - io.monotonic())
    const isFound = 'controlUrl' in found
    if (isFound && (await checkHealth(found.controlUrl, Math.min(HEALTH_TIMEOUT_MS, left))).kind === 'healthy')
      return found
    if (io.monotonic() >= deadline) {
      const message = isFound ? noSandboxAt(found.controlUrl, found.how) : found.message
      throw noSandbox(`Waited ${formatDuration(timeout)}. ${message}`)
    }
    await pause(POLL_MS)
  }
}

/** The port closes first; everything is on disk once the process has ended. */
async function untilGone({ controlUrl, pid }: FoundSandbox, io: CliIo): Promise<void> {
  const deadline = io.monotonic() + STOP_TIMEOUT_MS
  const isThere = async () =>
    (await checkHealth(controlUrl)).kind !== 'none' || (pid !== undefined && pid !== io.pid && isProcessAlive(pid))
  while (await isThere()) {
    if (io.monotonic() >= deadline)
      throw new Failure('STILL_RUNNING', `The sandbox at ${controlUrl} did not stop in time. End its process.`)
    await pause(POLL_MS)
  }
}

interface ConductFlags {
  readonly failOn?: string
  readonly report?: string
}

function addReportVerbs({ add, call }: VerbCommands): void {
  add('conduct', "violations of the service's rules, and refusals on each plan", [
    'conduct --fail-on violation --report conduct.xml',
  ])
    .option('--fail-on <rules>', 'exit with 1 if one of these rules is broken in any space')
    .option('--report <file>', 'write a report on all spaces: .json, .xml (JUnit) or text')
    .action(call(conduct))
}

async function conduct(at: ControlContext, { failOn: rules, report: file }: ConductFlags): Promise<number> {
  const { controls, sandbox, io, json } = at
  const failOn = rules === undefined ? NEVER_FAIL : parseFailOn('--fail-on', rules)
  const value = await controls.conduct()
  const colours = await coloursFor(colourLevel(io.stdout, io.env))
  const text = textReport(addConduct(EMPTY_CONDUCT, value), colours, terminalWidth(io.stdout)).trimEnd()
  const ids = [...value.violations, ...value.warnings].flatMap(({ exchanges }) => exchanges.slice(0, 1).map(Number))
  const next = [...new Set(ids)].slice(0, 3).map((id) => `${verbCommand(at)} requests show ${id}`)
  await printResult({ value, text, coloured: true, next }, io, json)
  if (rules === undefined && file === undefined) return EXIT.ok
  const report = await sandbox.spaces.conduct()
  const broken = brokenRules(failOn.rules, report)
  const exitCode = broken.length > 0 ? EXIT.failed : EXIT.ok
  if (broken.includes(NO_TRAFFIC)) printLine(io.stderr, noTrafficLine(report))
  for (const finding of [...report.violations, ...report.warnings])
    if (broken.includes(finding.rule)) printLine(io.stderr, findingLine(finding))
  await reportToGitHub(report, broken, io)
  if (file !== undefined) await writeReport(resolve(io.cwd, file), report, { exitCode }, failOn.rules)
  return exitCode
}
