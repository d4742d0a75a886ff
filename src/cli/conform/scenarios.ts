import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type ConductRule, VIOLATIONS } from '../../conduct/conduct-view.js'
import { joinOr } from '../../domain/numbers.js'
import { didYouMean } from '../../domain/suggest.js'
import { type DurationMs, parseDuration } from '../../domain/time.js'
import { OptionsError } from '../../options/options.js'
import { formatProblem } from '../../options/problem.js'
import { readScenario, scenarioLayer } from '../../options/scenario.js'
import { MAX_OPTIONS_FILE_BYTES, readYamlMap } from '../../options/yaml-map.js'
import { messageOf } from '../../system/message-of.js'
import { packageDirectory } from '../../system/package-files.js'
import { readRegularFile } from '../../system/regular-file.js'

export const JOBS = ['read', 'create'] as const
export type Job = (typeof JOBS)[number]

/** The label of the key that the command gets, unless a scenario names another. */
export const DEFAULT_KEY = 'sandbox'

/** Operations of the tested resource; `{list}` in a scenario stands for the one that lists its records. */
export const STEPS = ['list', 'get', 'create'] as const
export type Step = (typeof STEPS)[number]

/** What a good client does in a scenario. */
export interface Expectation {
  /** The job of the command; undefined for any. */
  readonly job?: Job
  /** Label of the key. Default: `sandbox`. */
  readonly key: string
  /** How the command ends: `success` with 0, `failure` with another code. */
  readonly ends: 'success' | 'failure' | 'any'
  /** Reasons, faults, statuses or operations. One of the exchanges must have one of these, otherwise nothing was tested. */
  readonly delivers: readonly string[]
  /** The most times that one request may be sent. */
  readonly attempts?: number
  /** A client that repeats a refused request must wait this long at least once. */
  readonly pause?: DurationMs
  /** How far the clock is moved before the command starts. */
  readonly advance?: string
  /** The newest record has an id above 2^53. */
  readonly largeId: boolean
  /** Violations that cannot be avoided in this scenario. */
  readonly ignores: readonly ConductRule[]
}

export interface ConformScenario {
  readonly name: string
  readonly description: string
  readonly expectation: Expectation
  /** The switches, as `PUT /scenario` takes them. */
  readonly switches: Readonly<Record<string, unknown>>
}

/** With `conform-` before it, it is the name of a space. */
const NAME = /^[A-Za-z0-9._-]{1,56}$/
const ENDS = ['success', 'failure', 'any'] as const

/** @throws OptionsError that lists every problem */
export function loadScenarios(cwd: string, own: string | undefined): readonly ConformScenario[] {
  const packaged = scenariosIn(join(packageDirectory, 'fixtures/conform'))
  const added = own === undefined ? [] : scenariosIn(resolve(cwd, own))
  const names = new Set(added.map(({ name }) => name))
  return [...packaged.filter(({ name }) => !names.has(name)), ...added]
}

function scenariosIn(folder: string): readonly ConformScenario[] {
  let files: string[]
  try {
    files = readdirSync(folder).filter((file) => /\.ya?ml$/.test(file))
  } catch (error) {
    throw new OptionsError([formatProblem('--scenarios', folder, `cannot be read (${messageOf(error)})`)])
  }
  if (files.length === 0) throw new OptionsError([formatProblem('--scenarios', folder, 'has no YAML files')])
  return files.sort().map((file) => readConformScenario(join(folder, file)))
}

function readConformScenario(file: string): ConformScenario {
  const name = basename(file).replace(/\.ya?ml$/, '')
  if (!NAME.test(name))
    throw new OptionsError([`${file}: the name must have at most 56 letters, digits, dots, hyphens and underscores`])
  const map = readYamlMap(readRegularFile(file, MAX_OPTIONS_FILE_BYTES).toString(), file)
  if ('problems' in map) throw new OptionsError([...map.problems])
  const switches = map.entries.filter(([key]) => key !== 'conform')
  const { description = '' } = readScenario(scenarioLayer(switches, map.where))
  const [, conform = {}] = map.entries.find(([key]) => key === 'conform') ?? []
  const expectation = readExpectation(conform, (key) => map.where('conform', [key]))
  return { name, description, expectation, switches: Object.fromEntries(switches) }
}

function readExpectation(given: unknown, where: (key: string) => string): Expectation {
  const problems: string[] = []
  const isMap = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (!isMap) problems.push(`${where('')} must be an object`)
  const map = new Map(isMap ? Object.entries(given) : [])
  const take = <T>(key: string, form: string, read: (value: unknown) => T | undefined): T | undefined => {
    const value = map.get(key)
    map.delete(key)
    const result = value === undefined ? undefined : read(value)
    if (value !== undefined && result === undefined) problems.push(`${where(key)} must be ${form}`)
    return result
  }
  const oneOf = <T extends string>(key: string, words: readonly T[]) =>
    take(key, joinOr(words), (value) => words.find((word) => word === value))
  const list = <T>(key: string, form: string, read: (value: unknown) => T | undefined): readonly T[] =>
    take(key, form, (value) => {
      const items = (Array.isArray(value) ? value : [value]).map(read)
      return items.includes(undefined) ? undefined : (items as readonly T[])
    }) ?? []
  const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)
  const count = (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined)
  const [job, key, ends] = [oneOf('job', JOBS), take('key', 'the label of a key', text), oneOf('ends', ENDS)]
  const delivers = list('delivers', 'a list of reasons, faults, statuses or operations', text)
  const attempts = take('attempts', 'a number of requests', count)
  const advance = take('advance', 'a duration such as 58s', (value) =>
    parseDuration(String(value)) === undefined ? undefined : String(value),
  )
  const pause = take('pause', 'a duration such as 100ms', (value) => parseDuration(String(value)))
  const largeId = take('large-id', 'true or false', (value) => (typeof value === 'boolean' ? value : undefined))
  const ignores = list('ignores', 'a list of violations', (value) => VIOLATIONS.find((rule) => rule === value))
  const KEYS = ['job', 'key', 'ends', 'delivers', 'attempts', 'pause', 'advance', 'large-id', 'ignores']
  for (const unknown of map.keys()) problems.push(`${where(unknown)} is unknown${didYouMean(unknown, KEYS)}`)
  if (delivers.length === 0)
    problems.push(`${where('delivers')} is required: how to see that the failure was delivered`)
  if (problems.length > 0) throw new OptionsError(problems)
  return {
    key: key ?? DEFAULT_KEY,
    ends: ends ?? 'success',
    delivers,
    largeId: largeId ?? false,
    ignores,
    ...(job && { job }),
    ...(attempts && { attempts }),
    ...(pause && { pause }),
    ...(advance && { advance }),
  }
}

/** Known failures, by name, with a note each. @throws OptionsError */
export function loadBaseline(cwd: string, file: string | undefined, names: readonly string[]): ReadonlySet<string> {
  if (file === undefined) return new Set()
  let text: string
  try {
    text = readRegularFile(resolve(cwd, file), MAX_OPTIONS_FILE_BYTES).toString()
  } catch (error) {
    throw new OptionsError([formatProblem('--baseline', file, `cannot be read (${messageOf(error)})`)])
  }
  const map = readYamlMap(text, file)
  if ('problems' in map) throw new OptionsError([...map.problems])
  const unknown = map.entries.filter(([name]) => !names.includes(name))
  if (unknown.length > 0)
    throw new OptionsError(
      unknown.map(([name]) => `${map.where(name, [])}: unknown scenario${didYouMean(name, names)}`),
    )
  return new Set(map.entries.map(([name]) => name))
}
