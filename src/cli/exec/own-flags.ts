import { type Command, Option } from 'commander'
import { ENV_PREFIX } from '../../options/names.js'
import { OptionsError } from '../../options/options-error.js'
import { writeProblem } from '../../options/problem.js'
import type { CliIo } from '../io.js'
import { type FailOn, NEVER_FAIL, parseFailOn } from './fail-on.js'

const GROUP = 'Outcome:'

/** Flags that only `exec` has; each has an environment variable. */
export interface OwnFlags {
  readonly failOn?: string
  readonly report?: string
  readonly har?: string
}

/** The same, read. */
export interface OwnSwitches {
  readonly failOn: FailOn
  /** The path as given; undefined if no report is wanted. */
  readonly report: string | undefined
  /** The path as given; undefined if no archive is wanted. */
  readonly har: string | undefined
}

export function addOwnFlags(command: Command): void {
  const failOn = 'exit with 1 if clients break one of these rules of conduct: violation, warning, early-retry …'
  const report = 'write a conduct report: .json, .xml (JUnit) or text'
  const har = 'write all exchanges as an HTTP archive (HAR 1.2), without keys'
  command
    .addOption(new Option('--fail-on <rules>', failOn).helpGroup(GROUP))
    .addOption(new Option('--report <file>', report).helpGroup(GROUP))
    .addOption(new Option('--har <file>', har).helpGroup(GROUP))
}

/** @throws OptionsError */
export function readOwnFlags(flags: OwnFlags, env: CliIo['env']): OwnSwitches {
  const failOn = given('--fail-on', flags.failOn, `${ENV_PREFIX}FAIL_ON`, env)
  const report = givenFile('--report', flags.report, `${ENV_PREFIX}REPORT`, env)
  const har = givenFile('--har', flags.har, `${ENV_PREFIX}HAR`, env)
  return { failOn: failOn === undefined ? NEVER_FAIL : parseFailOn(failOn.where, failOn.text), report, har }
}

/** The path of a file that is to be written. @throws OptionsError */
function givenFile(...option: Parameters<typeof given>): string | undefined {
  const file = given(...option)
  if (file?.text === '') throw new OptionsError([writeProblem(file.where, '', 'must be a file path')])
  return file?.text
}

/** The value and where it came from. As with every option, an empty variable counts as not set. */
function given(flag: string, text: string | undefined, variable: string, env: CliIo['env']) {
  if (text !== undefined) return { where: flag, text }
  const value = env[variable]
  return value === undefined || value === '' ? undefined : { where: variable, text: value }
}
