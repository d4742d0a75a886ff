import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { basePathOf } from '../client/base-address.js'
import { NoAnswerError } from '../client/no-answer.js'
import { resolveTarget } from '../client/target.js'
import type { Verification } from '../client/verify/check.js'
import { openService } from '../client/verify/service.js'
import { verify } from '../client/verify/verify.js'
import { openContract } from '../contract/open-contract.js'
import { MIB } from '../domain/size.js'
import { SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import { readStdin } from './call/stdin.js'
import { chalkFor, colourLevel } from './colour.js'
import { EXIT_NO_ANSWER } from './control/errors.js'
import { EXIT } from './exit-codes.js'
import { explain } from './help.js'
import type { CliIo } from './io.js'
import { print, say as sayTo } from './print.js'
import { jsonReport, type Subject } from './verify/json-report.js'
import { junitReport } from './verify/junit-report.js'
import { textReport } from './verify/text-report.js'

/** The instance has drifted from the contract. @source docs/cli.md, "Exit codes" */
const EXIT_DRIFT = 6

/** Of each answer: more than any documented one, as an endless one must not fill the memory. */
const LIMITS = { timeout: 30 * SECOND_MS, maxBody: 16 * MIB } as const

const EXAMPLES: readonly string[] = [
  'petstore-sandbox verify',
  'petstore-sandbox verify -t staging -o junit > verify.xml',
  'petstore-sandbox verify --base-url https://staging.example/v1 --writes',
]

const NOTES = `\
Calls every operation with the examples of the contract, and with what they leave
out, and checks the response against it: status, headers, body, what was asked
for, 401 without a key and with a wrong one, the rate limits of every response,
Deprecation and Sunset. What could not be checked is listed with the reason.
After a 429 it waits once, a minute at most.

The key comes from --api-key-file, PETSTORE_API_KEY or the target, see "target".

Exit codes: 0 no drift, 6 drift, 7 no answer, 2 usage error or no API key
known, 1 failed or no operation could be checked.`

interface VerifyFlags {
  readonly target?: string
  readonly baseUrl?: string
  readonly apiKeyFile?: string
  readonly writes?: boolean
  readonly output: 'text' | 'json' | 'junit'
  readonly spec?: string
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, { examples: EXAMPLES, notes: NOTES })
    .option('-t, --target <name>', 'sandbox, staging, production or your own (default: the default target)')
    .option('--base-url <url>', 'base address, overriding that of the target')
    .option('--api-key-file <file>', 'file that holds the API key, - for stdin')
    .option('--writes', 'also call operations that write; what they add stays there')
    .addOption(new Option('-o, --output <form>', 'report format').choices(['text', 'json', 'junit']).default('text'))
    .option('--spec <openapi.yaml>', 'another OpenAPI document (default: the packaged one)')
    .option('--debug', 'show stack traces')
    .action(async (flags: VerifyFlags) => finish(await verifyInstance(flags, io)))
}

async function verifyInstance(flags: VerifyFlags, io: CliIo): Promise<number> {
  const say = (line: string) => sayTo(io.stderr, line)
  const { env, cwd } = io
  const target = await resolveTarget(flags, { env, cwd, readStdin: async () => (await readStdin()).toString() })
  for (const warning of target.warnings) say(`warning: ${warning}`)
  if (flags.writes === true && target.isProduction) say('warning: --writes adds to production and cleans nothing up.')
  const file = flags.spec && resolve(cwd, flags.spec)
  const contract = await openContract(file, { handled: 'all', keepsPets: false, patterns: 'native' })
  const subject: Subject = { target: target.name, baseUrl: target.baseUrl, contract }
  say(`Verifying ${target.name} at ${target.baseUrl} …`)

  const [{ openPrism }, { readAnswerRules }] = await Promise.all([
    import('../contract/prism.js'),
    import('../contract/answer-rules.js'),
  ])
  const service = await openService(target.baseUrl, env, LIMITS)
  let verification: Verification
  try {
    verification = await verify({
      contract,
      rules: await readAnswerRules(contract, 'native'),
      engine: await openPrism(contract),
      service,
      basePath: basePathOf(target.baseUrl),
      apiKey: target.apiKey,
      writes: flags.writes === true,
      wait: (milliseconds) => setTimeout(milliseconds),
      onWait: (seconds, request) => say(`429: waiting ${seconds} s before ${request} is asked again`),
    })
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    say(`${error.code}: ${error.message}. ${error.hint}`)
    return EXIT_NO_ANSWER
  } finally {
    await service.close()
  }
  await print(io.stdout, await report(flags.output, subject, verification, io))
  for (const note of verification.notes) say(`note: ${note}`)
  return exitCodeOf(verification, target.apiKey, say)
}

async function report(
  form: VerifyFlags['output'],
  subject: Subject,
  verification: Verification,
  { stdout, env }: CliIo,
): Promise<string> {
  switch (form) {
    case 'json':
      return jsonReport(subject, verification)
    case 'junit':
      return junitReport(subject, verification, systemClock.wall())
    case 'text':
      return textReport(subject, verification, await chalkFor(colourLevel(stdout, env)))
  }
}

/** A run that could check nothing must not look like a success. */
function exitCodeOf(
  { checks, reached }: Verification,
  apiKey: string | undefined,
  say: (line: string) => void,
): number {
  if (checks.some(({ outcome }) => outcome === 'drift')) return EXIT_DRIFT
  if (checks.some(({ outcome }) => outcome === 'unanswered')) return EXIT_NO_ANSWER
  if (reached.length > 0) return EXIT.ok
  if (apiKey === undefined) {
    say('USAGE: no operation can be checked without an API key. Give one with --api-key-file or in PETSTORE_API_KEY.')
    return EXIT.usage
  }
  say('NOT_CHECKED: no operation could be checked; the report says why.')
  return EXIT.failed
}
