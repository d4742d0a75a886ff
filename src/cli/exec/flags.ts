import { type Command, InvalidArgumentError, Option } from 'commander'
import { joinOr } from '../../domain/numbers.js'
import { didYouMean } from '../../domain/suggest.js'
import { ENV_PREFIX } from '../../options/names.js'
import { OptionsError } from '../../options/options.js'
import { formatProblem } from '../../options/problem.js'
import type { Environment } from '../../system/this-process.js'
import { type FailOn, NEVER_FAIL, parseFailOn } from '../conduct/conduct-report.js'
import type { OutputFlags } from '../control/result.js'

export interface EnvName {
  readonly name: string
  readonly value: string
}

export interface ExecFlags extends OutputFlags {
  readonly failOn?: string
  readonly report?: string
  readonly har?: string
  readonly env?: readonly EnvName[]
  readonly debug?: boolean
}

export interface OutcomeFlags {
  readonly failOn: FailOn
  readonly report: string | undefined
  readonly har: string | undefined
}

const PLACEHOLDERS = ['baseUrl', 'apiKey', 'controlUrl'] as const
const PLACEHOLDER = /\{(\w+)\}/g

export function addExecFlags(command: Command): Command {
  const outcome: readonly (readonly [string, string])[] = [
    ['--fail-on <rules>', 'exit with 1 if a rule is broken: violation, early-retry …'],
    ['--report <file>', 'write a conduct report: .json, .xml (JUnit) or text'],
    ['--har <file>', 'write all exchanges as HAR 1.2, without keys'],
  ]
  for (const [flags, description] of outcome) command.addOption(new Option(flags, description).helpGroup('Outcome:'))
  return command.addOption(
    new Option('--env <name=value>', 'set a variable, with {baseUrl}, {apiKey} or {controlUrl}')
      .argParser((text, before: readonly EnvName[] = []) => [...before, readEnvName(text)])
      .helpGroup('Command:'),
  )
}

function readEnvName(text: string): EnvName {
  const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value.includes('\0'))
    throw new InvalidArgumentError('must be <NAME>=<value>, for example VITE_API_URL={baseUrl}')
  const known: readonly string[] = PLACEHOLDERS
  for (const [, word = ''] of value.matchAll(PLACEHOLDER)) {
    if (known.includes(word)) continue
    const form = joinOr(known.map((item) => `{${item}}`))
    throw new InvalidArgumentError(`{${word}} must be ${form}${didYouMean(word, known)}`)
  }
  return { name, value }
}

export function readOutcomeFlags(flags: ExecFlags, env: Environment): OutcomeFlags {
  // As with every option, an empty variable counts as not set.
  const given = (flag: string, text: string | undefined, variable: string) =>
    text === undefined ? { where: variable, text: env[variable] || undefined } : { where: flag, text }
  const file = (flag: string, text: string | undefined, variable: string) => {
    const read = given(flag, text, variable)
    if (read.text === '') throw new OptionsError([formatProblem(read.where, '', 'must be a file path')])
    return read.text
  }
  const failOn = given('--fail-on', flags.failOn, `${ENV_PREFIX}FAIL_ON`)
  return {
    failOn: failOn.text === undefined ? NEVER_FAIL : parseFailOn(failOn.where, failOn.text),
    report: file('--report', flags.report, `${ENV_PREFIX}REPORT`),
    har: file('--har', flags.har, `${ENV_PREFIX}HAR`),
  }
}

const API_KEY = 'sandbox'
const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/** The environment of the command: ours, with the address of its sandbox, and no proxy in between. @source docs/cli.md, "exec" */
export function childEnvironment(
  env: Environment,
  {
    baseUrl,
    controlUrl,
    controlToken,
    names = [],
  }: {
    readonly baseUrl: string
    readonly controlUrl: string
    readonly controlToken: string | undefined
    readonly names?: readonly EnvName[]
  },
): Environment {
  const values = { baseUrl, controlUrl, apiKey: API_KEY }
  const direct = new Set([...LOOPBACK, new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')])
  const withDirect = (list = '') => {
    const known = list.split(/[\s,]+/).filter((host) => host !== '')
    return known.includes('*') ? list : [...new Set([...known, ...direct])].join(',')
  }
  const own = names.map(({ name, value }) => [
    name,
    value.replace(PLACEHOLDER, (_, word: (typeof PLACEHOLDERS)[number]) => values[word]),
  ])
  return {
    ...env,
    PETSTORE_BASE_URL: baseUrl,
    PETSTORE_API_KEY: API_KEY,
    PETSTORE_SANDBOX_URL: controlUrl,
    ...(controlToken === undefined ? {} : { PETSTORE_SANDBOX_CONTROL_TOKEN: controlToken }),
    // Programs read one of the two, so each falls back to the other.
    NO_PROXY: withDirect(env.NO_PROXY || env.no_proxy),
    no_proxy: withDirect(env.no_proxy || env.NO_PROXY),
    ...Object.fromEntries(own),
  }
}
