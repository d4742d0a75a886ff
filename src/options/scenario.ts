import * as v from 'valibot'
import type { FaultRule } from '../domain/faults.js'
import type { UsedUp } from '../domain/quota.js'
import { recordSchema } from '../domain/schemas.js'
import type { Storm } from '../domain/storm.js'
import { didYouMean } from '../domain/suggest.js'
import type { ClockStart, DurationMs } from '../domain/time.js'
import { packaged } from './generated/packaged-scenarios.js'
import { checkLayer, type Layer, type LayerFormat, makeLayer } from './layer.js'
import { toCamelCase } from './letter-case.js'
import { camelName, findOption, flagOrVariable, kebabName, NAMED_OPTIONS } from './names.js'
import { OptionsError } from './options.js'
import { formatIssues, formatProblem, type Path, Problems, pathText, quoted } from './problem.js'
import { pickSettings, type SettingsChange } from './settings.js'
import { type OptionValues, optionRow } from './table.js'
import { keySchema, usedSchema } from './values/keys.js'
import { positiveWaitSchema } from './values/reading.js'

interface StartChange {
  readonly settings: SettingsChange
  readonly storm?: Storm | 'off'
  readonly faults?: readonly FaultRule[]
  readonly now?: ClockStart
  readonly freeze?: boolean
}

interface Extras {
  readonly description?: string
  readonly used: Readonly<Record<string, UsedUp>>
  readonly bans: Readonly<Record<string, DurationMs>>
}

export type Scenario = StartChange & Extras

export interface ScenarioLayer extends Layer {
  readonly extras: Extras
}

export const extrasSchema = v.object({
  description: v.exactOptional(v.string('must be a string')),
  used: v.exactOptional(
    recordSchema(
      keySchema,
      usedSchema,
      'must be an object of keys and what they have used, for example sandbox: 57/min,990/day',
    ),
  ),
  ban: v.exactOptional(
    recordSchema(
      keySchema,
      positiveWaitSchema,
      'must be an object of keys and how long they are banned, for example sandbox: 5m',
    ),
  ),
})
const EXTRAS = Object.keys(extrasSchema.entries)

export function scenarioLayer(
  entries: readonly (readonly [string, unknown])[],
  where: LayerFormat['where'],
): ScenarioLayer {
  const spelling = { kebab: true, where }
  const problems = new Problems()
  const extras: Record<string, unknown> = {}
  const options: (readonly [string, unknown])[] = []
  for (const [key, value] of entries) {
    const option = findOption(toCamelCase(key))
    if (EXTRAS.includes(key)) extras[key] = value
    else if (option !== undefined && optionRow(option.name).scenario) options.push([key, value])
    else {
      const instead = option === undefined ? didYouMean(key, scenarioKeys()) : `; use ${flagOrVariable(option.name)}`
      problems.add(() => `${where(key, [])}: cannot be set by a scenario${instead}`)
    }
  }
  const layer = makeLayer(options, spelling)
  const checked = v.safeParse(extrasSchema, extras)
  const issues = checked.issues ?? []
  const { description, used = {}, ban = {} } = checked.success ? checked.output : {}
  return {
    given: layer.given,
    problems: [
      ...layer.problems,
      ...problems.list(),
      ...formatIssues(issues, ([key = '', ...path]) => where(String(key), path)),
    ],
    extras: { ...(description === undefined ? {} : { description }), used, bans: ban },
  }
}

function scenarioKeys(): readonly string[] {
  const options = NAMED_OPTIONS.filter(({ name }) => optionRow(name).scenario)
  return [...EXTRAS, ...options.map(kebabName), ...options.map(camelName)]
}

export function brokenScenario(problems: readonly string[]): ScenarioLayer {
  return { given: new Map(), problems, extras: { used: {}, bans: {} } }
}

export function parseScenarioContent(content: unknown): Scenario {
  return readScenario(contentLayer(content))
}

export function contentLayer(content: unknown, name = 'scenario'): ScenarioLayer {
  const isMap = typeof content === 'object' && content !== null && !Array.isArray(content)
  return isMap
    ? scenarioLayer(Object.entries(content), (key, path) => `${name}: ${pathText(key, path)}`)
    : brokenScenario([formatProblem(name, content, 'must be an object of switches')])
}

export function readScenario(layer: ScenarioLayer): Scenario {
  const { values, problems } = checkLayer(layer)
  if (problems.length > 0) throw new OptionsError(problems)
  return { ...pickStart(values), ...layer.extras }
}

export function pickStart(values: OptionValues): StartChange {
  const { storm, fault: faults, now, freeze } = values
  return {
    settings: pickSettings(values),
    ...(storm === undefined ? {} : { storm }),
    ...(faults === undefined ? {} : { faults }),
    ...(now === undefined ? {} : { now }),
    ...(freeze === undefined ? {} : { freeze }),
  }
}

export function packagedScenarios(): readonly string[] {
  return Object.keys(packaged)
}

/** Reads no file, as verbs may not. @throws OptionsError for an unknown name */
export function loadPackagedScenario(name: string): Scenario {
  return readScenario(packagedLayer(name, 'scenario', 'to apply a file, give its content'))
}

export function packagedLayer(name: string, origin: string, fileHint: string): ScenarioLayer {
  const names = packagedScenarios()
  const entries = names.includes(name) ? packaged[name] : undefined
  if (entries !== undefined)
    return scenarioLayer(entries, (key: string, path: Path) => `scenarios/${name}.yaml: ${pathText(key, path)}`)
  const known = `the packaged ones are ${names.join(', ')}`
  const problem = `is not a packaged scenario (${known}); ${fileHint}${didYouMean(name, names)}`
  return brokenScenario([`${origin} ${quoted(name)}: ${problem}`])
}

/** A path or the name of a YAML file; everything else is the name of a packaged scenario. */
export function isScenarioFile(nameOrFile: string): boolean {
  return /[/\\]|\.ya?ml$/.test(nameOrFile)
}
