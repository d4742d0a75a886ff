import { relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { shellWord } from '../advice/curl.js'
import { EXAMPLE } from '../contract/generated/examples.js'
import { openContract } from '../openapi/open-contract.js'
import { EMBEDDED_DEFAULTS, OptionsError } from '../options/options.js'
import { resolveLayers } from '../options/resolve.js'
import { configLayer, envLayer, type FlagValues, flagLayer } from '../options/sources.js'
import { brokenRules } from './conduct/conduct-report.js'
import { reportToGitHub, writeReport } from './conduct/report-file.js'
import { addOutputOptions, printJson, wantsJson } from './control/result.js'
import { openExecSandbox, type RunOutcome, summaryFacts, summaryLines } from './exec/exec-sandbox.js'
import { addExecFlags, childEnvironment, type ExecFlags, readOutcomeFlags } from './exec/flags.js'
import { HarFile } from './exec/har-file.js'
import { exitCodeFor, onExitSignals, runCommand, startFailure } from './exec/run-command.js'
import { explain } from './help.js'
import { type CliIo, EXIT } from './io.js'
import { colourLevel, coloursFor, print, printLine, terminalWidth } from './print.js'
import { reportError } from './report-error.js'
import { addOptionFlags, announce, givenFlags } from './serve.js'
import { openServeLog } from './serve-log.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox exec -- npm test',
  'petstore-sandbox exec --plan pro --seed 1 npx vitest --run',
  'petstore-sandbox exec --fail-on violation --report conduct.xml -- npm test',
  'petstore-sandbox exec --har traffic.har -- npm test',
  'petstore-sandbox exec -p 4010 --env VITE_API_URL={baseUrl} -- npx vite',
  `petstore-sandbox exec --storm 0.3 -- sh -c 'curl -s "$PETSTORE_BASE_URL${EXAMPLE.path}"'`,
]

const NOTES = `\
By default, the sandbox is in memory, on a free port, with --log silent. The
config file cannot set --fail-on, --report and --har.

The command gets these environment variables:
  PETSTORE_BASE_URL     the service
  PETSTORE_API_KEY      an API key (sandbox)
  PETSTORE_SANDBOX_URL  the control plane
  NO_PROXY, no_proxy    loopback hosts added
  PETSTORE_SANDBOX_CONTROL_TOKEN  its token, if set

Options of exec come before the command, options of the command after its name,
with or without --.

Signals are passed on to the command and what it has started; a second one kills
them, and processes that it leaves running are stopped, but no daemons. On a
terminal, this is up to the terminal, as without exec.

Exit codes: the command's own; 128+n if signal n ended it; 125 no sandbox (2
usage error), 126 the command cannot be run, 127 no such command; 1 if
the command passed, but a --fail-on rule was broken or a file not written.`

/** No sandbox could be started, or it could not be stopped. @source docs/cli.md, "Exit codes" */
const EXIT_NO_SANDBOX = 125

interface Run {
  readonly serve: FlagValues
  readonly own: ExecFlags
  readonly name: string
  readonly args: readonly string[]
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  const options = addOptionFlags(command)
  const elsewhere = { title: 'Options of serve', options, command: 'petstore-sandbox serve' }
  explain(addOutputOptions(addExecFlags(command)), { examples: EXAMPLES, notes: NOTES, elsewhere })
    .usage('[options] [--] <command> [args...]')
    .argument('<command>', 'command to run')
    .argument('[args...]', 'arguments of the command')
    .option('--debug', 'show stack traces')
    .passThroughOptions()
    .action(async (name: string, args: readonly string[], own: ExecFlags) =>
      finish(await exec({ serve: givenFlags(command), own, name, args }, io)),
    )
}

async function exec({ serve, own, name, args }: Run, io: CliIo): Promise<number> {
  const { cwd, stderr } = io
  const { env: names = [], debug = false } = own
  const form = { debug, json: wantsJson(own), command: 'petstore-sandbox exec' }
  const { failOn, report, har: harPath } = readOutcomeFlags(own, io.env)
  const env = envLayer(io.env, cwd)
  const options = resolveLayers([flagLayer(serve, cwd), env, configLayer(cwd)], {
    defaults: EMBEDDED_DEFAULTS,
    cwd,
    randomSeed: io.randomSeed,
  })
  if (options.groupLog !== undefined)
    throw new OptionsError([
      'exec does not support --redis. Start replicas with "serve --redis", and use a space for each test',
    ])
  let controlAt: string | undefined
  const log = await openServeLog(options.log, io, () => controlAt)
  for (const warning of env.warnings) log.warning(warning)
  const attempt = async (act: () => Promise<void> | void, code: number): Promise<number> => {
    try {
      await act()
      return EXIT.ok
    } catch (error) {
      reportError(error, io, form)
      return code
    }
  }
  let har: HarFile | undefined
  try {
    let needsReminder = options.log === 'pretty' && stderr.isTTY === true
    const contract = await openContract(options.spec, { mocked: options.mock })
    har = harPath === undefined ? undefined : new HarFile(resolve(cwd, harPath), contract.keyHeaders)
    const sandbox = await openExecSandbox(
      options,
      contract,
      log,
      (record) => {
        har?.add(record)
        // Tools that clear the screen as they start have hidden the ready line.
        if (needsReminder) log.event('sandbox', `dashboard ${controlAt}/`)
        needsReminder = false
      },
      () => command.end(),
    )
    const { baseUrl, controlUrl } = sandbox.facts
    controlAt = controlUrl
    if (options.log !== 'silent') log.ready({ ...sandbox.facts, pid: io.pid })
    const withdraw = announce({ baseUrl, controlUrl, pid: io.pid, startedAt: sandbox.startedAt }, cwd, log)
    log.flush()
    // Registered before the command starts, so that no signal can orphan it.
    const ignoreSignals = onExitSignals(io, {
      graceful: (signal) => command.relay(signal),
      force: () => command.kill(),
    })
    const { controlToken } = options
    const command = runCommand({
      name,
      args,
      env: childEnvironment(io.env, { baseUrl, controlUrl, controlToken, names }),
      cwd,
      stdoutToStderr: form.json,
    })
    const ending = await command.ended
    await command.sweep()
    withdraw()
    log.flush()
    if (ending.kind === 'unstartable') reportError(startFailure(name, ending.cause), io, form)
    const [conduct, summary] = [sandbox.conduct(), sandbox.summary()]
    const outcome: RunOutcome = {
      summary,
      conduct,
      failOn,
      broken: brokenRules(failOn.rules, conduct),
      isOwnContract: options.spec !== undefined,
    }
    if (ending.kind !== 'unstartable') {
      const colours = await coloursFor(colourLevel(stderr, io.env))
      const lines = summaryLines(outcome, options.log, colours, terminalWidth(stderr))
      void print(stderr, lines.map((line) => `${line}\n`).join(''))
    }
    const gitHubCode = await attempt(() => reportToGitHub(conduct, outcome.broken, io), EXIT.failed)
    const stopCode = await attempt(() => sandbox.stop(), EXIT_NO_SANDBOX)
    const exitCode = exitCodeFor(ending) || stopCode || (outcome.broken.length > 0 ? EXIT.failed : EXIT.ok)
    const reportCode = await attempt(async () => {
      if (report !== undefined)
        await writeReport(resolve(cwd, report), conduct, { exitCode, ...summaryFacts(summary) }, failOn.rules)
    }, EXIT.failed)
    const harCode = await attempt(() => har?.close(), EXIT.failed)
    ignoreSignals()
    if (!form.json && options.log !== 'json') {
      const written = [
        ...(report === undefined || reportCode !== EXIT.ok ? [] : [`report: ${relative(cwd, resolve(cwd, report))}`]),
        ...(harPath === undefined || harCode !== EXIT.ok ? [] : [`exchanges: ${relative(cwd, resolve(cwd, harPath))}`]),
      ]
      for (const line of written) printLine(stderr, `petstore-sandbox: ${line}`)
    }
    const finalCode = exitCode || reportCode || harCode || gitHubCode
    if (form.json) {
      const again = ['npx petstore-sandbox exec --har exchanges.har --', ...[name, ...args].map(shellWord)].join(' ')
      const value = { format: 1, exitCode: finalCode, ...summaryFacts(summary), ...conduct }
      await printJson(value, io, finalCode === EXIT.ok ? [] : [again])
    }
    return finalCode
  } catch (error) {
    har?.discard()
    const code = reportError(error, io, form)
    return code === EXIT.usage ? code : EXIT_NO_SANDBOX
  } finally {
    log.flush()
  }
}
