import * as v from 'valibot'
import { excerpt } from '../../contract/excerpt.js'
import type { Space } from '../../core/space.js'
import { type ClockState, changeClock, clockAt } from '../../domain/clock.js'
import { type ApiKey, labelOf } from '../../domain/keys.js'
import type { EpochMs } from '../../domain/time.js'
import { OptionsError } from '../../options/options-error.js'
import { loadPackagedScenario, packagedScenarios } from '../../options/packaged-scenarios.js'
import { quoted } from '../../options/problem.js'
import { parseScenarioContent, type Scenario } from '../../options/scenario.js'
import { changeSettings } from '../../options/settings.js'
import { fields } from '../fields.js'
import { readState } from '../state.js'
import { VerbError, verb } from '../verb.js'
import type { ScenarioView } from '../views.js'
import { checkOperations } from './faults.js'
import { checkBannable } from './keys.js'

export const list = verb({
  method: 'GET',
  path: '/scenarios',
  summary: 'The packaged scenarios, each with what it does',
  run: (): readonly ScenarioView[] =>
    packagedScenarios().map((name) => ({ name, description: loadPackagedScenario(name).description ?? '' })),
})

export const apply = verb({
  method: 'PUT',
  path: '/scenario',
  summary: 'Applies a packaged scenario ({"name": …}) or the content of one; all other switches stay as they are',
  body: 'scenario',
  input: fields({
    scenario: v.record(v.string(), v.unknown(), 'must be {"name": …} or the content of a scenario'),
  }),
  run({ space, spaces, wall }, { scenario: given }) {
    const scenario = read(given)
    if (Object.hasOwn(given, 'upstream'))
      throw new VerbError(
        'conflict',
        'What is behind a sandbox is fixed from its start. Leave "upstream" out, or start with it.',
      )
    checkOperations(space, scenario.faults ?? [])
    for (const name of Object.keys(scenario.used)) findKey(space, name)
    for (const name of Object.keys(scenario.bans)) checkBannable(findKey(space, name))
    const clock = clockOf(space, scenario, wall)
    spaces.remember({
      verb: 'scenario.apply',
      space: space.name,
      at: wall,
      before: { kind: 'switches', switches: space.switches() },
    })
    // Nothing can fail from here on, so a scenario is never half applied.
    space.changeSettings(changeSettings(space.settings, scenario.settings))
    space.setClock(clock, wall)
    const now = space.now(wall)
    if (scenario.storm === 'off') space.stopStorm()
    else if (scenario.storm !== undefined) space.startStorm(scenario.storm, now)
    if (scenario.faults !== undefined) space.setFaults(scenario.faults)
    space.useUp(scenario.used, now)
    space.banKeys(scenario.bans, now)
    return readState(space, spaces, wall)
  },
})

function read(given: Readonly<Record<string, unknown>>): Scenario {
  try {
    const { name } = given
    return typeof name === 'string' && Object.keys(given).length === 1
      ? loadPackagedScenario(name)
      : parseScenarioContent(given)
  } catch (error) {
    if (error instanceof OptionsError) throw new VerbError('invalid_request', `${error.problems.join('; ')}.`)
    throw error
  }
}

function findKey(space: Space, name: string): ApiKey {
  const found = space.findKey(name)
  if (found !== undefined) return found
  const labels = [...space.keys.values()].map(labelOf)
  throw new VerbError(
    'invalid_request',
    `There is no key ${quoted(name)}. This space has ${excerpt(labels.join(', '))}.`,
  )
}

function clockOf(space: Space, { now, freeze }: Scenario, wall: EpochMs): ClockState {
  if (now !== undefined && now < space.now(wall)) {
    // Unlike the clock's own verbs, a scenario may set the clock back.
    return clockAt(now, freeze ?? space.clock.kind === 'frozen', wall)
  }
  const change = { ...(now === undefined ? {} : { now }), ...(freeze === undefined ? {} : { frozen: freeze }) }
  const changed = changeClock(space.clock, change, wall)
  if (typeof changed === 'string') throw new VerbError('invalid_request', changed)
  return changed
}
