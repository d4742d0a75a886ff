import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { shellCommand } from '../advice/curl.js'
import { openService } from '../client/exchange.js'
import { NoResponseError } from '../client/no-response.js'
import { resolveTarget } from '../client/target.js'
import { MAX_WAITS } from '../client/verify/paced-service.js'
import { type Check, type CheckOutcome, type Verification, verify } from '../client/verify/verify.js'
import type { ContractData } from '../contract/contract-data.js'
import { basePathIn } from '../domain/base-address.js'
import { Failure } from '../domain/failures.js'
import { counted, MIB } from '../domain/numbers.js'
import { type EpochMs, SECOND_MS } from '../domain/time.js'
import { openContract } from '../openapi/open-contract.js'
import { systemClock } from '../system/system-clock.js'
import { contractOfSandbox } from './call/served-contract.js'
import { readStdin } from './call/stdin.js'
import { confirmWrite, refuseUnknownSandbox } from './confirm-write.js'
import { addOutputOptions, type OutputFlags, printJson, wantsJson } from './control/result.js'
import { explain } from './help.js'
import { abortOnSignal, type CliIo, EXIT, EXIT_NO_RESPONSE } from './io.js'
import { junitXml } from './junit.js'
import {
  type Colours,
  colourLevel,
  coloursFor,
  escapeControls,
  print,
  printLine,
  terminalWidth,
  wrapHanging,
} from './print.js'

/** @source docs/cli.md, "Exit codes" */
const EXIT_DRIFT = 6

/** Of each response, so that an endless one cannot fill the memory. */
const LIMITS = { timeout: 30 * SECOND_MS, maxBody: 16 * MIB } as const

const EXAMPLES: readonly string[] = [
  'petstore-sandbox verify',
  'petstore-sandbox verify -t staging -o junit > verify.xml',
  'petstore-sandbox verify --base-url https://staging.example/v1 --writes',
]

const NOTES = `\
Calls every operation with the examples of the contract and with further values,
and checks each response: status, headers, body, 401 without a key and with a wrong
one, rate limits, Deprecation and Sunset. Skipped checks are listed with the reason.
After a 429 it waits up to a minute, at most ${MAX_WAITS} times. After the last wait, checks
that get another 429 are reported as not tested.

The key comes from --api-key-file, PETSTORE_API_KEY or the target, see "target".

Exit codes: 0 no drift, 6 drift, 7 no response, 2 usage error or no API key
known, 1 failed, no operation could be checked, or --fail-on.`

interface VerifyFlags extends OutputFlags<'text' | 'json' | 'junit'> {
  readonly target?: string
  readonly baseUrl?: string
  readonly apiKeyFile?: string
  readonly key?: string
  readonly writes?: boolean
  readonly yes?: boolean
  readonly spec?: string
  readonly failOn?: 'not-checked'
  readonly verbose?: boolean
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(addOutputOptions(command, 'junit'), { examples: EXAMPLES, notes: NOTES })
    .option('-t, --target <name>', 'target: sandbox, staging, production or your own')
    .option('--base-url <url>', 'base address; overrides the target')
    .option('--api-key-file <file>', 'API key file, - for stdin')
    .option('--key <key>', 'API key; for secrets, use --api-key-file')
    .option('--writes', 'also call operations that write; their data stays')
    .option('-y, --yes', 'write to production without asking')
    .option('--spec <openapi.yaml>', 'OpenAPI document (default: of the sandbox, or packaged)')
    .addOption(new Option('--fail-on <what>', 'exit with 1 if a check was not made').choices(['not-checked']))
    .option('-v, --verbose', 'print every check')
    .option('--debug', 'show stack traces')
    .action(async (flags: VerifyFlags) => finish(await verifyInstance(flags, io)))
}

async function verifyInstance(flags: VerifyFlags, io: CliIo): Promise<number> {
  const { env, cwd, stdout } = io
  const tell = (line: string) => printLine(io.stderr, line)
  const file = flags.spec && resolve(cwd, flags.spec)
  const served = file === undefined ? await contractOfSandbox(flags, io) : undefined
  const contract = served ?? (await openContract(file, { isServed: false, patterns: 'native' }))
  const { basePath } = contract
  const target = await resolveTarget(flags, {
    basePath,
    env,
    cwd,
    readStdin: async () => (await readStdin()).toString(),
  })
  for (const warning of target.warnings) tell(`warning: ${warning}`)
  if (flags.writes === true) refuseUnknownSandbox('verify --writes', target)
  if (flags.writes === true && target.isProduction) {
    tell('warning: --writes creates data in production and does not remove it.')
    if (flags.yes !== true) {
      const canAsk = flags.apiKeyFile !== '-'
      const code = await abortOnSignal(io, async (signal) => {
        await confirmWrite('verify --writes', target, { canAsk, signal }, io)
        return EXIT.ok
      })
      if (code !== EXIT.ok) return code
    }
  }
  const subject: Subject = { target: target.name, baseUrl: target.baseUrl, contract }
  tell(`Verifying ${target.name} at ${target.baseUrl} …`)

  const { readResponseRules } = await import('../contract/response-rules.js')
  const service = await openService(target.baseUrl, env, LIMITS)
  let verification: Verification
  try {
    verification = await verify({
      contract,
      rules: await readResponseRules(contract, 'native'),
      service,
      basePath: basePathIn(target.baseUrl),
      apiKey: target.apiKey,
      writes: flags.writes === true,
      wait: (milliseconds) => setTimeout(milliseconds),
      onWait: (seconds, request, left) =>
        tell(`429: waiting ${seconds} s before retrying ${request} (waits left: ${left})`),
    })
  } catch (error) {
    if (!(error instanceof NoResponseError)) throw error
    throw new Failure('NO_RESPONSE', `${error.message}. ${error.hint}`)
  } finally {
    await service.close()
  }
  if (wantsJson(flags)) await printJson(jsonReport(subject, verification), io, nextCommands(subject, verification))
  else if (flags.output === 'junit') await print(stdout, junitReport(subject, verification, systemClock.wall()))
  else {
    const text = textReport(subject, verification, await coloursFor(colourLevel(stdout, env)), flags.verbose)
    const rows = text.split('\n').map((line) => wrapHanging(line, terminalWidth(stdout), '    '))
    await print(stdout, rows.join('\n'))
  }
  for (const note of verification.notes) tell(`note: ${note}`)

  const { checks, reached } = verification
  if (checks.some(({ outcome }) => outcome === 'drift')) return EXIT_DRIFT
  if (checks.some(({ outcome }) => outcome === 'unanswered')) return EXIT_NO_RESPONSE
  const { skipped } = counts(verification)
  if (flags.failOn === 'not-checked' && skipped > 0)
    throw new Failure('NOT_CHECKED', `${counted(skipped, 'check')} could not be made; the report has the reasons.`)
  // A run that checked no operation must not look like a success.
  if (reached.length > 0) return EXIT.ok
  if (target.apiKey === undefined)
    throw new Failure(
      'USAGE',
      'No operation can be checked without an API key. Give one with --api-key-file or in PETSTORE_API_KEY.',
    )
  throw new Failure('NOT_CHECKED', 'No operation could be checked; the report has the reasons.')
}

export interface Subject {
  readonly target: string
  readonly baseUrl: string
  readonly contract: Pick<ContractData, 'title' | 'version'>
}

const OUTCOMES = {
  kept: { mark: '✓', colour: 'green', label: 'kept', junit: 'passed' },
  drift: { mark: '✗', colour: 'red', label: 'drifted', junit: 'failure' },
  skipped: { mark: '–', colour: 'dim', label: 'not checked', junit: 'skipped' },
  unanswered: { mark: '✗', colour: 'red', label: 'not answered', junit: 'error' },
} as const satisfies Record<CheckOutcome, object>

function counts({ checks }: Verification): Readonly<Record<CheckOutcome, number>> {
  const sums = { kept: 0, drift: 0, skipped: 0, unanswered: 0 }
  for (const { outcome } of checks) sums[outcome]++
  return sums
}

export function jsonReport(subject: Subject, verification: Verification): object {
  const { title, version } = subject.contract
  return { format: 1, ...subject, contract: { title, version }, summary: counts(verification), ...verification }
}

export function nextCommands({ baseUrl }: Subject, { checks }: Verification): readonly string[] {
  const drifted = checks
    .filter(({ outcome }) => outcome === 'drift')
    .map(({ request = '' }) => /^GET (.*)/.exec(request))
  const calls = drifted.flatMap((match) => (match === null ? [] : String(match[1])))
  return [...new Set(calls)]
    .slice(0, 3)
    .map((path) => shellCommand('npx', 'petstore-sandbox', 'call', 'GET', path, '--base-url', baseUrl, '--check', '-i'))
}

export function junitReport({ target, baseUrl }: Subject, { checks }: Verification, at: EpochMs): string {
  const suites = [...new Set(checks.map(({ operation }) => operation))].map((name) => ({
    name,
    cases: checks
      .filter(({ operation }) => operation === name)
      .map((check) => ({
        name: nameOf(check),
        outcome: OUTCOMES[check.outcome].junit,
        message: check.details.join('; '),
      })),
  }))
  return junitXml(`verify ${target} at ${baseUrl}`, suites, at)
}

/** A line for each request; the checks only where one failed, or with `isVerbose`. Skipped checks have a line each. */
export function textReport(
  { contract }: Subject,
  verification: Verification,
  colours: Colours,
  isVerbose = false,
): string {
  const groups = new Map<string, Check[]>()
  for (const check of verification.checks) {
    const name = check.outcome === 'skipped' ? nameOf(check) : (check.request ?? check.name)
    const title = `${check.operation}, ${name}`
    groups.set(title, [...(groups.get(title) ?? []), check])
  }
  const lines = [...groups].flatMap(([title, checks]) => {
    const worst = WORST_FIRST.find((outcome) => checks.some((check) => check.outcome === outcome)) ?? 'kept'
    const { mark, colour } = OUTCOMES[worst]
    const shown = checks.filter(({ outcome }) => isVerbose || outcome === 'drift' || outcome === 'unanswered')
    const reason = worst === 'skipped' ? `: ${checks.flatMap(({ details }) => details).join('; ')}` : ''
    return [
      `${colours[colour](mark)} ${escapeControls(`${title}${reason}`)}`,
      ...shown.map(({ name, details }) => escapeControls(`  ${[name, ...details].join(': ')}`)),
    ]
  })
  const sums = Object.entries(counts(verification)) as [CheckOutcome, number][]
  const parts = sums.flatMap(([outcome, count]) =>
    count === 0 && outcome === 'unanswered' ? [] : `${count} ${OUTCOMES[outcome].label}`,
  )
  return [...lines, '', `${escapeControls(`${contract.title} ${contract.version}`)}: ${parts.join(', ')}`, ''].join(
    '\n',
  )
}

const WORST_FIRST: readonly CheckOutcome[] = ['unanswered', 'drift', 'kept', 'skipped']

function nameOf({ name, request }: Check): string {
  return request === undefined ? name : `${name} (${request})`
}
