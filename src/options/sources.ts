import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileInFaultRule } from '../domain/faults.js'
import { didYouMean } from '../domain/suggest.js'
import { describeOpenError, isInside, readRegularFile } from '../system/regular-file.js'
import type { Environment } from '../system/this-process.js'
import { type Layer, makeLayer, valueFromText } from './layer.js'
import { camelName, ENV_PREFIX, envName, flagName, flagOrVariable, NAMED_OPTIONS } from './names.js'
import { OptionsError } from './options.js'
import { formatProblem } from './problem.js'
import { OTHER_VARIABLES } from './rows.js'
import { isScenarioFile } from './scenario.js'
import { isOptionName, type OptionName, optionRow } from './table.js'
import { MAX_OPTIONS_FILE_BYTES, readYamlMap } from './yaml-map.js'

/** Flags by option name: a string, a list for a repeatable flag, true or false for a switch. */
export type FlagValues = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

/** The options on the command line. Flags that are not options (`--debug`) are ignored. */
export function flagLayer(flags: FlagValues, cwd: string): Layer {
  const entries = Object.entries(flags).flatMap(([name, value]) =>
    isOptionName(name)
      ? [
          [
            name,
            withFaultFiles(name, typeof value === 'string' ? valueFromText(optionRow(name).reads, value) : value, cwd),
          ] as const,
        ]
      : [],
  )
  return makeLayer(entries, { kebab: false, where: (name) => flagName(name as OptionName) })
}

function withFaultFiles(name: OptionName, value: unknown, cwd: string): unknown {
  return name === 'fault' && Array.isArray(value)
    ? value.map((rule) => (typeof rule === 'string' ? withFaultFile(rule, cwd) : rule))
    : value
}

/** A fault rule with the content of the file that it names. @throws OptionsError */
export function withFaultFile(rule: string, cwd: string): string {
  const file = fileInFaultRule(rule)
  if (file === undefined) return rule
  try {
    const body = readRegularFile(resolve(cwd, file), MAX_OPTIONS_FILE_BYTES).toString()
    return rule.slice(0, rule.length - file.length - 1) + body.trim()
  } catch (error) {
    throw new OptionsError([`${file} cannot be read (${describeOpenError(error)})`])
  }
}

/**
 * The options in the environment. An empty variable counts as not set: compose files and CI matrices produce it for a
 * missing value. An unknown variable is only a warning: it may be for another version.
 */
export function envLayer(all: Environment, cwd: string): Layer & { readonly warnings: readonly string[] } {
  const env = Object.fromEntries(Object.entries(all).filter(([name, value]) => !isServiceLink(name, value)))
  const entries = NAMED_OPTIONS.flatMap((option) => {
    const text = env[envName(option)] ?? ''
    return text === ''
      ? []
      : [
          [
            camelName(option),
            withFaultFiles(option.name, valueFromText(optionRow(option.name).reads, text), cwd),
          ] as const,
        ]
  })
  const variables = new Map(NAMED_OPTIONS.map((option) => [camelName(option), envName(option)]))
  const known = [...NAMED_OPTIONS.map(envName), ...Object.keys(OTHER_VARIABLES).map((name) => ENV_PREFIX + name)]
  const unknown = Object.keys(env).filter((variable) => variable.startsWith(ENV_PREFIX) && !known.includes(variable))
  const warnings = unknown.map(
    (variable) => `${variable}: unknown option, ignored${didYouMean(variable, known, ENV_PREFIX.length)}`,
  )
  const where = (name: string) => variables.get(name) ?? name
  return { ...makeLayer(entries, { kebab: false, where }), warnings }
}

/** Kubernetes sets these in pods for a Service named `petstore-sandbox`: `PETSTORE_SANDBOX_PORT=tcp://10.96.0.7:4010`. */
function isServiceLink(name: string, value = ''): boolean {
  return /^PETSTORE_SANDBOX_(?:SERVICE|PORT)_/.test(name) || (name === 'PETSTORE_SANDBOX_PORT' && value.includes('://'))
}

export const CONFIG_FILE = 'petstore-sandbox.yaml'

export function configLayer(cwd: string): Layer {
  let text: string
  try {
    text = readRegularFile(join(cwd, CONFIG_FILE), MAX_OPTIONS_FILE_BYTES).toString()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const problems = code === 'ENOENT' ? [] : [`${CONFIG_FILE}: cannot be read (${describeOpenError(error)})`]
    return { given: new Map(), problems }
  }
  const map = readYamlMap(text, CONFIG_FILE)
  if ('problems' in map) return { given: new Map(), problems: map.problems }
  const layer = makeLayer(map.entries, { kebab: true, isFile: true, ...map })
  const given = new Map(layer.given)
  const problems = [...layer.problems]
  for (const [name, { value, where }] of layer.given) {
    const problem = typeof value === 'string' ? pathProblem(name, value, cwd) : undefined
    if (problem === undefined) continue
    given.delete(name)
    problems.push(formatProblem(where([]), value, problem))
  }
  return { given, problems, isFile: true }
}

/** Checks a path in a config file, which may come with a cloned folder. */
function pathProblem(name: OptionName, value: string, cwd: string): string | undefined {
  // Windows logs in to `host` with the user's credentials as soon as `\\host\share` is opened.
  if (optionRow(name).isPath && /^[\\/]{2}/.test(value)) return `is on another machine; use ${flagOrVariable(name)}`
  // A store written elsewhere could be a file that a shell runs, such as `../.zshenv`. Pages and websites can read
  // fixtures and contracts. Links are followed.
  if (
    isPath(name, value) &&
    [value, ...fixtureFiles(name, cwd, value)].some((path) => !isInside(cwd, resolve(cwd, path)))
  )
    return `is outside this folder; use ${flagOrVariable(name)}`
  return undefined
}

function isPath(name: OptionName, value: string): boolean {
  return name === 'scenario' ? isScenarioFile(value) : optionRow(name).isPath === true
}

function fixtureFiles(name: OptionName, cwd: string, folder: string): readonly string[] {
  if (name !== 'fixtures') return []
  try {
    return readdirSync(resolve(cwd, folder), { recursive: true }).map((file) => join(folder, String(file)))
  } catch {
    // Reading the fixtures reports it.
    return []
  }
}
