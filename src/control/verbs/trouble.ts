import * as v from 'valibot'
import type { Space } from '../../core/space.js'
import type { FaultRule } from '../../domain/faults.js'
import { slowedOperations } from '../../domain/settings.js'
import {
  type ClockState,
  changeClock,
  clockAt,
  clockStartProblem,
  type EpochMs,
  startInstant,
} from '../../domain/time.js'
import { OptionsError, type ScenarioContent } from '../../options/options.js'
import { quoted } from '../../options/problem.js'
import { loadPackagedScenario, packagedScenarios, parseScenarioContent, type Scenario } from '../../options/scenario.js'
import { changeSettings } from '../../options/settings.js'
import { faultSchema, faultsSchema, stormMapSchema } from '../../options/values/faults.js'
import { faultViews, readState, stormView } from '../state.js'
import { fields, VerbError, verb } from '../verb.js'
import { checkBannable, findKey } from './keys.js'

type ScenarioInput = { readonly name: string } | { readonly [Key in keyof ScenarioContent]: ScenarioContent[Key] }

const scenarioSchema: v.GenericSchema<ScenarioInput, Readonly<Record<string, unknown>>> = v.record(
  v.string(),
  v.unknown(),
  'must be {"name": …} or the content of a scenario',
) as never

export const troubleVerbs = {
  'storm.show': verb('GET /storm', 'The storm of a space; null without one', {
    run: ({ space: { storm } }) => (storm === undefined ? null : stormView(storm)),
  }),
  'storm.start': verb('PUT /storm', 'Starts a storm; without a rate it refuses all requests', {
    input: stormMapSchema,
    run: ({ space, wall }, storm) => stormView(space.startStorm(storm, space.now(wall))),
  }),
  'storm.stop': verb('DELETE /storm', 'Stops the storm', {
    run({ space }) {
      space.stopStorm()
      return null
    },
  }),
  'faults.list': verb('GET /faults', 'The ordered fault rules of a space; the first that matches wins', {
    run: ({ space }) => faultViews(space),
  }),
  'faults.set': verb('PUT /faults', 'Replaces the ordered list of rules', {
    body: 'rules',
    input: fields({ rules: faultsSchema }),
    run: ({ space }, { rules }) => setFaults(space, rules),
  }),
  'faults.add': verb('POST /faults', 'Adds a rule at the end of the list', {
    body: 'rule',
    input: fields({ rule: faultSchema }),
    run({ space }, { rule }) {
      checkOperations(space, [rule.operation])
      space.addFault(rule)
      return faultViews(space)
    },
  }),
  'faults.clear': verb('DELETE /faults', 'Removes all fault rules', {
    run: ({ space }) => setFaults(space, []),
  }),
  'scenario.list': verb('GET /scenarios', 'The packaged scenarios with their descriptions', {
    run: () => packagedScenarios().map((name) => ({ name, description: loadPackagedScenario(name).description ?? '' })),
  }),
  'scenario.apply': verb(
    'PUT /scenario',
    'Applies a packaged scenario ({"name": …}) or the content of one; other settings stay',
    {
      body: 'scenario',
      input: fields({ scenario: scenarioSchema }),
      canUndo: true,
      knowsKeys(space, { scenario }) {
        const { used, bans } = read(scenario)
        return Object.keys({ ...used, ...bans }).every((name) => space.findKey(name) !== undefined)
      },
      run({ space, spaces, wall }, { scenario: given }) {
        const scenario = read(given)
        const operations = (scenario.faults ?? []).map(({ operation }) => operation)
        checkOperations(space, [...operations, ...slowedOperations(scenario.settings)])
        checkScenarioKeys(space, scenario)
        const clock = clockIn(space, scenario, wall)
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
    },
  ),
}

function setFaults(space: Space, rules: readonly FaultRule[]) {
  checkOperations(
    space,
    rules.map(({ operation }) => operation),
  )
  space.setFaults(rules)
  return faultViews(space)
}

/** A rule for an unknown operation would have no effect. @throws VerbError */
export function checkOperations({ shared: { contract } }: Space, operations: readonly string[]): void {
  const known = ['*', ...contract.operations.map(({ id }) => id)]
  const unknown = operations.find((operation) => !known.includes(operation))
  if (unknown === undefined) return
  const message = `The contract has no operation ${quoted(unknown)}. Use * or one of ${known.slice(1).join(', ')}.`
  throw new VerbError('invalid_request', message)
}

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

function checkScenarioKeys(space: Space, { used, bans }: Scenario): void {
  for (const name of Object.keys(used)) findKey(space, name, 'invalid_request')
  for (const name of Object.keys(bans)) checkBannable(findKey(space, name, 'invalid_request'))
}

/** Unlike the clock verbs, a scenario may move the clock back. */
function clockIn(space: Space, { now: start, freeze }: Scenario, wall: EpochMs): ClockState {
  const problem = clockStartProblem(start, space.shared.contract)
  if (problem !== undefined) throw new VerbError('invalid_request', problem)
  const now = start === undefined ? undefined : startInstant(start, wall, space.shared.contract)
  if (now !== undefined && now < space.now(wall)) return clockAt(now, freeze ?? space.clock.kind === 'frozen', wall)
  const change = { ...(now === undefined ? {} : { now }), ...(freeze === undefined ? {} : { frozen: freeze }) }
  const changed = changeClock(space.clock, change, wall)
  if (typeof changed === 'string') throw new VerbError('invalid_request', changed)
  return changed
}
