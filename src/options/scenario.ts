import * as v from 'valibot'
import type { FaultRule } from '../domain/faults.js'
import type { Limits } from '../domain/quota.js'
import type { Storm } from '../domain/storm.js'
import { didYouMean } from '../domain/suggest.js'
import type { DurationMs, EpochMs } from '../domain/time.js'
import { checkLayer, type Layer, layerOf, type Spelling } from './layer.js'
import { toCamelCase } from './letter-case.js'
import { camelName, kebabName, NAMED_OPTIONS, optionNamed } from './names.js'
import { OptionsError } from './options-error.js'
import { type Path, Problems, pathText, writeIssues, writeProblem } from './problem.js'
import { type SettingsChange, settingsIn } from './settings.js'
import { type OptionValues, optionRow } from './table.js'
import { keySchema } from './values/api-key.js'
import { someWaitSchema } from './values/duration.js'
import { limitsSchema } from './values/limits.js'

/** A parsed scenario: what it sets in a space. What it does not set is absent. */
export interface Scenario {
  readonly description?: string
  readonly settings: SettingsChange
  readonly storm?: Storm | 'off'
  readonly faults?: readonly FaultRule[]
  readonly now?: EpochMs
  readonly freeze?: boolean
  /** Requests already used, by key. */
  readonly used: Readonly<Record<string, Partial<Limits>>>
  /** How long keys are banned from the start. */
  readonly bans: Readonly<Record<string, DurationMs>>
}

/** A scenario being checked: its options as a layer, and what only scenarios have. */
export interface ScenarioLayer extends Layer {
  readonly extras: Pick<Scenario, 'description' | 'used' | 'bans'>
}

const EXTRAS = ['description', 'used', 'ban'] as const

/** What a scenario has that is no option. */
export const extrasSchema = v.object({
  description: v.exactOptional(v.string('must be a string')),
  used: v.exactOptional(
    v.record(
      keySchema,
      limitsSchema,
      'must be a map of keys and what they have used, for example sandbox: 57/min,990/day',
    ),
  ),
  ban: v.exactOptional(
    v.record(keySchema, someWaitSchema, 'must be a map of keys and how long they are banned, for example sandbox: 5m'),
  ),
})

const SWITCHES = NAMED_OPTIONS.filter(({ name }) => optionRow(name).scenario)

/** Sorts the entries of a scenario and refuses those that it cannot have. */
export function scenarioLayer(entries: readonly (readonly [string, unknown])[], spelling: Spelling): ScenarioLayer {
  const problems = new Problems()
  const extras: Record<string, unknown> = {}
  const switches: (readonly [string, unknown])[] = []
  for (const [key, value] of entries) {
    const option = optionNamed(toCamelCase(key))
    if (EXTRAS.some((name) => name === key)) extras[key] = value
    else if (option !== undefined && optionRow(option.name).scenario) switches.push([key, value])
    else problems.add(() => `${spelling.where(key, [])}: cannot be set by a scenario${didYouMean(key, scenarioKeys())}`)
  }
  const layer = layerOf(switches, spelling)
  const checked = v.safeParse(extrasSchema, extras)
  const broken = checked.success
    ? []
    : writeIssues(checked.issues, ([key = '', ...path]) => spelling.where(String(key), path))
  const { description, used = {}, ban = {} } = checked.success ? checked.output : {}
  return {
    given: layer.given,
    problems: [...layer.problems, ...problems.list(), ...broken],
    extras: { ...(description === undefined ? {} : { description }), used, bans: ban },
  }
}

/**
 * Reads a scenario's content, as a program or the control plane gives it.
 *
 * @throws OptionsError with everything that is wrong
 */
export function parseScenarioContent(content: unknown): Scenario {
  return readScenario(contentLayer(content))
}

/** The layer of a scenario that was given as its content. */
export function contentLayer(content: unknown, name = 'scenario'): ScenarioLayer {
  const where = (key: string, path: Path) => `${name}: ${pathText(key, path)}`
  const isMap = typeof content === 'object' && content !== null && !Array.isArray(content)
  if (isMap) return scenarioLayer(Object.entries(content), { kebab: true, where })
  return brokenScenario([writeProblem(name, content, 'must be a map of switches')])
}

/** A scenario that cannot be read at all. */
export function brokenScenario(problems: readonly string[]): ScenarioLayer {
  return { given: new Map(), problems, extras: { used: {}, bans: {} } }
}

/** @throws OptionsError with everything that is wrong */
export function readScenario(layer: ScenarioLayer): Scenario {
  const { values, problems } = checkLayer(layer)
  if (problems.length > 0) throw new OptionsError(problems)
  return { ...scenarioOf(values), ...layer.extras }
}

/** The part of a space's start that options and scenarios share. */
export function scenarioOf(values: OptionValues): Omit<Scenario, keyof ScenarioLayer['extras']> {
  const { storm, fault: faults, now, freeze } = values
  return {
    settings: settingsIn(values),
    ...(storm === undefined ? {} : { storm }),
    ...(faults === undefined ? {} : { faults }),
    ...(now === undefined ? {} : { now }),
    ...(freeze === undefined ? {} : { freeze }),
  }
}

function scenarioKeys(): readonly string[] {
  return [...EXTRAS, ...SWITCHES.map(kebabName), ...SWITCHES.map(camelName)]
}
