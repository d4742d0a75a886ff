import { resolve } from 'node:path'
import type { Command } from 'commander'
import { configLayer } from '../options/config-layer.js'
import { EMBEDDED_DEFAULTS } from '../options/defaults.js'
import { envLayer } from '../options/env-layer.js'
import { type FlagValues, flagLayer } from '../options/flag-layer.js'
import type { LogFormat } from '../options/options.js'
import { OptionsError } from '../options/options-error.js'
import { resolveLayers } from '../options/resolve.js'
import { childEnvironment, type ToldSandbox } from './exec/child-environment.js'
import { closingWords, type RunOutcome } from './exec/closing-words.js'
import { type EnvName, envOption } from './exec/env-names.js'
import { EXEC_EXIT } from './exec/exit-codes.js'
import { rulesHit } from './exec/fail-on.js'
import { HarFile } from './exec/har-file.js'
import { addOwnFlags, type OwnFlags, type OwnSwitches, readOwnFlags } from './exec/own-flags.js'
import { type OwnSandbox, openOwnSandbox } from './exec/own-sandbox.js'
import { onPartingSignals } from './exec/parting-signals.js'
import { writeReport } from './exec/report-file.js'
import { codeOfEnding, type RunningCommand, runCommand } from './exec/run-command.js'
import { summaryFacts } from './exec/tally.js'
import { EXIT } from './exit-codes.js'
import { explain } from './help.js'
import type { CliIo } from './io.js'
import { addOptionFlags, givenFlags } from './option-flags.js'
import { print, say } from './print.js'
import { reportError } from './report-error.js'
import { openServeLog } from './serve-log.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox exec -- npm test',
  'petstore-sandbox exec --plan pro --seed 1 npx vitest --run',
  'petstore-sandbox exec --fail-on violation --report conduct.xml -- npm test',
  'petstore-sandbox exec --har traffic.har -- npm test',
  'petstore-sandbox exec -p 4010 --env VITE_API_URL={baseUrl} -- npx vite',
  `petstore-sandbox exec --storm 0.3 -- sh -c 'curl -s "$PETSTORE_BASE_URL/pets"'`,
]

const NOTES = `\
Unless told otherwise, the sandbox is in memory, on a free port, with --log
silent and --senders 1. --fail-on, --report and --har are not its own: the config
file takes none of them.

The command gets in its environment
  PETSTORE_BASE_URL     the service
  PETSTORE_API_KEY      sandbox
  PETSTORE_SANDBOX_URL  the control plane
  NO_PROXY, no_proxy    loopback added
  PETSTORE_SANDBOX_CONTROL_TOKEN, if there is one

The options of exec come before the command; what follows its name belongs to
it, with or without --.

Signals are passed on to the command; a second one kills it, along with
everything it started. Whatever it leaves running is stopped as well.

Exit codes: the command's own; 128+n if signal n ended it; 125 no sandbox (2
usage error), 126 the command cannot be run, 127 no such command; 1 if
the command passed, but --fail-on was hit or a file could not be written.`

/** What one run is made of. */
interface Run {
  readonly flags: FlagValues
  readonly own: OwnFlags
  /** Variables that the command gets besides. */
  readonly names: readonly EnvName[]
  readonly name: string
  readonly args: readonly string[]
  readonly debug: boolean
}

interface ExecFlags extends OwnFlags {
  readonly env?: readonly EnvName[]
  readonly debug?: boolean
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  const options = addOptionFlags(command)
  addOwnFlags(command)
  const elsewhere = { title: 'Options of serve', options, command: 'petstore-sandbox serve' }
  explain(command, { examples: EXAMPLES, notes: NOTES, elsewhere })
    .usage('[options] [--] <command> [args...]')
    .addOption(envOption())
    .argument('<command>', 'what to run')
    .argument('[args...]', 'its own arguments')
    .option('--debug', 'show stack traces')
    .passThroughOptions()
    .action(async (name: string, args: readonly string[], { debug = false, env = [], ...own }: ExecFlags) =>
      finish(await exec({ flags: givenFlags(command), own, names: env, name, args, debug }, io)),
    )
}

/** Starts a sandbox, runs the command against it, and resolves with its exit code once both have ended. */
async function exec({ flags, own, names, name, args, debug }: Run, io: CliIo): Promise<number> {
  const switches = readOwnFlags(own, io.env)
  const env = envLayer(io.env)
  const options = resolveLayers([flagLayer(flags), env, configLayer(io.cwd)], {
    defaults: EMBEDDED_DEFAULTS,
    cwd: io.cwd,
    randomSeed: io.randomSeed,
  })
  if (options.groupLog !== undefined)
    throw new OptionsError([
      'exec takes no --redis: a test has a sandbox of its own. Start replicas with serve --redis, and give tests a space each',
    ])
  const log = await openServeLog(options.log, io)
  for (const warning of env.warnings) log.warning(warning)
  try {
    const har = switches.har === undefined ? undefined : new HarFile(resolve(io.cwd, switches.har))
    const sandbox = await openOwnSandbox(options, log, har && ((record) => har.add(record)))
    const { baseUrl, controlUrl } = sandbox.facts
    if (options.log !== 'silent') log.ready({ ...sandbox.facts, pid: io.pid })
    log.flush()
    // Registered before the command starts, so that no signal can orphan it.
    const ignoreSignals = onPartingSignals(io, {
      graceful: (signal) => command.relay(signal),
      force: () => command.kill(),
    })
    const command = startCommand({ baseUrl, controlUrl, controlToken: options.controlToken, names }, name, args, io)
    const ending = await command.ended
    await command.sweep()
    log.flush()
    const outcome = outcomeOf(sandbox, switches)
    tell(closingWords(name, ending, outcome, options.log), options.log, io)
    const stopCode = await codeOf(() => sandbox.stop(), EXEC_EXIT.noSandbox, io, debug)
    const exitCode = codeOfEnding(ending) || stopCode || (outcome.hit.length > 0 ? EXIT.failed : EXIT.ok)
    const reportCode = await codeOf(() => report(outcome, exitCode, switches, io), EXIT.failed, io, debug)
    const harCode = await codeOf(async () => har?.close(), EXIT.failed, io, debug)
    ignoreSignals()
    return exitCode || reportCode || harCode
  } catch (error) {
    const code = reportError(error, io, debug)
    return code === EXIT.usage ? code : EXEC_EXIT.noSandbox
  } finally {
    log.flush()
  }
}

/** Says lines for people, or gives programs those that they read. */
function tell(lines: readonly string[], log: LogFormat, { stderr }: CliIo): void {
  if (log === 'json') void print(stderr, `${lines.join('\n')}\n`)
  else for (const line of lines) say(stderr, line)
}

/** The exit code to use if something fails after the command has ended. */
async function codeOf(act: () => Promise<void>, code: number, io: CliIo, debug: boolean): Promise<number> {
  try {
    await act()
    return EXIT.ok
  } catch (error) {
    reportError(error, io, debug)
    return code
  }
}

function outcomeOf(sandbox: OwnSandbox, { failOn }: OwnSwitches): RunOutcome {
  const conduct = sandbox.conduct()
  return { summary: sandbox.summary(), conduct, failOn, hit: rulesHit(failOn.rules, conduct) }
}

async function report(
  { summary, conduct }: RunOutcome,
  exitCode: number,
  { failOn, report: file }: OwnSwitches,
  { cwd }: CliIo,
): Promise<void> {
  if (file === undefined) return
  await writeReport(resolve(cwd, file), conduct, { exitCode, ...summaryFacts(summary) }, failOn.rules)
}

function startCommand(told: ToldSandbox, name: string, args: readonly string[], { env, cwd }: CliIo): RunningCommand {
  const mark = `PETSTORE_SANDBOX_URL=${told.controlUrl}`
  return runCommand({ name, args, env: childEnvironment(env, told), cwd, mark })
}
