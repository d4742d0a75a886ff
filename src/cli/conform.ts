import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Contract } from '../contract/contract.js'
import { EXAMPLE } from '../contract/generated/examples.js'
import { didYouMean } from '../domain/suggest.js'
import { type DurationMs, parseDuration } from '../domain/time.js'
import { openContract } from '../openapi/open-contract.js'
import { EMBEDDED_DEFAULTS, OptionsError, type SandboxOptions } from '../options/options.js'
import { formatProblem } from '../options/problem.js'
import { resolveOptions } from '../options/resolve.js'
import { runSandbox } from '../start/sandbox.js'
import { systemClock } from '../system/system-clock.js'
import { replaceReport } from './conduct/report-file.js'
import {
  type CountedRun,
  countRun,
  isFailure,
  jsonReport,
  junitReport,
  nextCommands,
  notApplicable,
  verdictText,
} from './conform/report.js'
import { type AppliedScenario, applyScenario, findResource, type TestedResource } from './conform/resource.js'
import { type ConformRun, runScenario } from './conform/run-scenario.js'
import { type ConformScenario, JOBS, type Job, loadBaseline, loadScenarios } from './conform/scenarios.js'
import { addOutputOptions, type OutputFlags, printJson, printResult, wantsJson } from './control/result.js'
import { childEnvironment } from './exec/flags.js'
import { onExitSignals } from './exec/run-command.js'
import { explain } from './help.js'
import { type CliIo, EXIT, SIGNAL_EXIT } from './io.js'
import { LineWriter } from './line-writer.js'
import { colourLevel, coloursFor, print, printLine, terminalWidth } from './print.js'
import { fitCells } from './table.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox conform -- node my-client.js',
  'petstore-sandbox conform --scenario lost-response -- python3 client.py',
  'petstore-sandbox conform --spec openapi.yaml -- npm run smoke',
  'petstore-sandbox conform --list',
]

const NOTES = `\
Runs the command once per scenario, each time in a new space, with these variables:
  PETSTORE_BASE_URL       the service, in the scenario's space
  PETSTORE_API_KEY        a key of the scenario's space
  PETSTORE_SCENARIO       the name of the scenario
  PETSTORE_JOB            read: list the records, then get the first one by its id
                          create: create one record, then get it by its id
  PETSTORE_CONFORM_STEPS  the operations of the job, such as ${EXAMPLE.list},${EXAMPLE.get}
The command must exit with 0 if the job is done, and with another code if not.

If the failure never occurred, the scenario is untested. This fails the run,
unless you pass --allow-untested. --baseline takes a YAML file with known failures:
an object of scenario names and notes. If one of them passes, the run fails.

Exit codes: 0 all passed, 1 a scenario failed, 2 usage error, 126 the command
cannot be run, 127 no such command.`

/** Each command is watched by a listener of the process; Node warns from 11 on. */
const MAX_JOBS = 10
/** More clients at once than the machine can run would be slow to retry. */
const DEFAULT_JOBS = Math.min(8, 2 * availableParallelism())
const MIN_TIMEOUT_MS: DurationMs = 100
const DEFAULT_TIMEOUT_MS: DurationMs = 20_000
/** Of records of each resource. */
const GENERATED = 5
/** Its first draws refuse the first request of the storm. */
const SEED = 46

interface ConformFlags extends OutputFlags {
  readonly scenario?: readonly string[]
  readonly scenarios?: string
  readonly list?: boolean
  readonly spec?: string
  readonly resource?: string
  readonly fixtures?: string
  readonly job: Job | 'both'
  readonly jobs: number
  readonly timeout: number
  readonly report?: string
  readonly baseline?: string
  readonly allowUntested?: boolean
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(addOutputOptions(command), { examples: EXAMPLES, notes: NOTES })
    .usage('[options] [--] <command> [args...]')
    .argument('[command]', 'command to run')
    .argument('[args...]', 'arguments of the command')
    .addOption(
      new Option('--scenario <names>', 'run these scenarios only, with commas').argParser(
        (names: string, before: readonly string[] = []) => [...before, ...names.split(',').map((name) => name.trim())],
      ),
    )
    .option('--scenarios <dir>', 'folder with scenarios of your own, added to the packaged ones')
    .option('--list', 'list the scenarios')
    .option('--spec <openapi.yaml>', 'OpenAPI document to serve (default: the packaged one)')
    .option('--resource <name>', 'resource to test with (default: the one with most operations)')
    .option('--fixtures <dir>', 'folder with records (with --spec, default: generated)')
    .addOption(new Option('--job <job>', 'job of the command').choices([...JOBS, 'both']).default('both'))
    .addOption(
      new Option('--jobs <n>', `scenarios to run at once, 1 to ${MAX_JOBS}`)
        .argParser(readJobs)
        .default(DEFAULT_JOBS, 'two for each processor, up to 8'),
    )
    .addOption(
      new Option('--timeout <duration>', 'time limit of each run of the command')
        .argParser(parseTimeout)
        .default(DEFAULT_TIMEOUT_MS, '20s'),
    )
    .option('--report <file>', 'write a JUnit report')
    .option('--baseline <file>', 'YAML file with known failures')
    .option('--allow-untested', 'pass even if a scenario is untested')
    .option('--debug', 'show stack traces')
    .passThroughOptions()
    .action(async (name: string | undefined, args: readonly string[], flags: ConformFlags) =>
      finish(await conform(name, args, flags, io)),
    )
}

function readJobs(text: string): number {
  const jobs = Number(text)
  if (Number.isInteger(jobs) && jobs >= 1 && jobs <= MAX_JOBS) return jobs
  throw new InvalidArgumentError(`must be a whole number from 1 to ${MAX_JOBS}`)
}

function parseTimeout(text: string): DurationMs {
  const timeout = parseDuration(text)
  if (timeout !== undefined && timeout >= MIN_TIMEOUT_MS) return timeout
  throw new InvalidArgumentError(`must be a duration of at least ${MIN_TIMEOUT_MS}ms, such as 20s`)
}

async function conform(
  name: string | undefined,
  args: readonly string[],
  flags: ConformFlags,
  io: CliIo,
): Promise<number> {
  const { cwd, stdout } = io
  const all = loadScenarios(cwd, flags.scenarios)
  const scenarios = select(all, flags)
  if (flags.list === true) {
    const value = scenarios.map(({ name, description }) => ({ name, description }))
    const lines = value.map((item) => `${item.name.padEnd(22)} ${item.description}`)
    await printResult({ value, text: lines.join('\n') }, io, wantsJson(flags))
    return EXIT.ok
  }
  if (name === undefined) throw new OptionsError(['conform needs a command to run, or --list'])
  const baseline = loadBaseline(
    cwd,
    flags.baseline,
    all.map((scenario) => scenario.name),
  )
  const contract = await openContract(flags.spec && resolve(cwd, flags.spec))
  const resource = findResource(contract, flags.resource)
  const applied = scenarios.map((scenario) => ({ scenario, use: applyScenario(scenario, resource, jobsOf(flags)) }))
  if (applied.every(({ use }) => typeof use === 'string'))
    throw new OptionsError(applied.map(({ scenario, use }) => `${scenario.name} does not apply: ${use}`))
  if (flags.spec !== undefined) {
    const operations = Object.values(resource.operations).map(({ id }) => id)
    await printLine(io.stderr, `conform uses the resource ${resource.name}: ${operations.join(', ')}`)
  }
  const startedAt = systemClock.monotonic()
  const runs = await runAll(applied, contract, resource, baseline, { name, args }, flags, io)
  if (typeof runs === 'number') return runs
  const again = [...optionsOf(flags), '--', name, ...args]
  if (wantsJson(flags)) await printJson(jsonReport(runs), io, nextCommands(runs, again))
  else {
    const colours = await coloursFor(colourLevel(stdout, io.env))
    await print(stdout, verdictText(runs, systemClock.monotonic() - startedAt, again, colours, terminalWidth(stdout)))
  }
  if (flags.report !== undefined) replaceReport(resolve(cwd, flags.report), junitReport(runs))
  return runs.some(isFailure) ? EXIT.failed : EXIT.ok
}

/** The given options, to repeat for a single scenario. */
function optionsOf(flags: ConformFlags): readonly string[] {
  const named = ['spec', 'resource', 'fixtures', 'scenarios'] as const
  const texts = named.flatMap((name) => (flags[name] === undefined ? [] : [`--${name}`, flags[name]]))
  const timeout = flags.timeout === DEFAULT_TIMEOUT_MS ? [] : ['--timeout', `${flags.timeout}ms`]
  return [...texts, ...(flags.job === 'both' ? [] : ['--job', flags.job]), ...timeout]
}

function select(all: readonly ConformScenario[], { scenario: names, job }: ConformFlags): readonly ConformScenario[] {
  const known = all.map(({ name }) => name)
  const unknown = (names ?? []).filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new OptionsError(
      unknown.map((name) =>
        formatProblem('--scenario', name, `is not one of ${known.join(', ')}${didYouMean(name, known)}`),
      ),
    )
  const named = names === undefined ? all : all.filter(({ name }) => names.includes(name))
  const isForJob = ({ expectation }: ConformScenario) =>
    job === 'both' || expectation.job === undefined || expectation.job === job
  const others = names === undefined ? [] : named.filter((scenario) => !isForJob(scenario))
  if (others.length > 0) throw new OptionsError(others.map(({ name }) => `--scenario ${name} is not for --job ${job}`))
  return named.filter(isForJob)
}

function jobsOf({ job }: ConformFlags): readonly Job[] {
  return job === 'both' ? JOBS : [job]
}

/** @returns the runs in the order of the scenarios, or an exit code if they could not be run */
async function runAll(
  applied: readonly { readonly scenario: ConformScenario; readonly use: AppliedScenario | string }[],
  contract: Contract,
  resource: TestedResource,
  baseline: ReadonlySet<string>,
  command: Pick<ConformRun, 'name' | 'args'>,
  flags: ConformFlags,
  io: CliIo,
): Promise<readonly CountedRun[] | number> {
  const { cwd, stderr } = io
  const { jobs, timeout, allowUntested = false } = flags
  const first: ConformRun['first'] = new Map()
  const running: ConformRun['running'] = new Set()
  const options = resolveOptions(sandboxOptions(resource, flags), {
    defaults: EMBEDDED_DEFAULTS,
    cwd,
    randomSeed: () => SEED,
  })
  const sandbox = await runSandbox(
    options,
    {
      onExchange({ space }) {
        first.get(space)?.()
        first.delete(space)
      },
      onWarning: (message) => printLine(stderr, message),
    },
    contract,
  )
  let signalled: keyof typeof SIGNAL_EXIT | undefined
  const stopAll = (signal: string) => {
    signalled = signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM'
    for (const runningCommand of running) runningCommand.kill()
  }
  const ignoreSignals = onExitSignals(io, { graceful: stopAll, force: stopAll })
  try {
    const { baseUrl, controlUrl } = sandbox
    const env = childEnvironment(io.env, { baseUrl, controlUrl, controlToken: undefined })
    const run: ConformRun = {
      ...{ ...command, sandbox, env, cwd, timeout, running, first },
      isStopped: () => signalled !== undefined,
    }
    const runs = new Map<string, CountedRun>()
    const begun = new Set<string>()
    const progress = stderr.isTTY === true ? new LineWriter(stderr, () => '') : undefined
    const showProgress = () => {
      const names = [...begun].filter((name) => !runs.has(name))
      progress?.progress(
        names.length === 0 ? '' : `${runs.size}/${applied.length}, running: ${fitCells(names.join(', '), 50)}`,
      )
    }
    const report = (counted: CountedRun) => {
      runs.set(counted.name, counted)
      showProgress()
    }
    for (const { scenario, use } of applied)
      if (typeof use === 'string') report(countRun(notApplicable(scenario, use), baseline, allowUntested))
    const scenarios = applied.flatMap(({ use }) => (typeof use === 'string' ? [] : [use]))
    // Beside others, a client that does not wait would be slow to retry.
    const isAlone = ({ expectation }: AppliedScenario) => expectation.pause !== undefined
    const waiting = scenarios.filter((scenario) => !isAlone(scenario))
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined && signalled === undefined; next = waiting.shift()) {
        begun.add(next.name)
        showProgress()
        const counted = countRun(await runScenario(next, run), baseline, allowUntested)
        if (signalled !== undefined) return
        report(counted)
      }
    }
    await Promise.all(Array.from({ length: jobs }, work))
    waiting.push(...scenarios.filter(isAlone))
    await work()
    if (signalled !== undefined) return SIGNAL_EXIT[signalled]
    return applied.flatMap(({ scenario }) => runs.get(scenario.name) ?? [])
  } finally {
    ignoreSignals()
    for (const runningCommand of running) runningCommand.kill()
    await sandbox.stop('now')
  }
}

/** With another contract, the records are generated. */
function sandboxOptions({ generate }: TestedResource, { spec, fixtures }: ConformFlags): SandboxOptions {
  if (fixtures !== undefined || spec === undefined) return { ...(spec && { spec }), ...(fixtures && { fixtures }) }
  return { spec, generate: generate.map((name) => `${name}=${GENERATED}`) }
}
