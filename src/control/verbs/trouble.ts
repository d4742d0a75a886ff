import * as v from 'valibot'
import { EXAMPLE } from '../../contract/generated/examples.js'
import type { Space } from '../../core/space.js'
import { addFault, banKeys, changeFaults, startStorm, turnClock, useUp } from '../../core/transitions.js'
import { type FaultRule, formatFaultRule } from '../../domain/faults.js'
import { slowedOperations } from '../../domain/settings.js'
import { unknownOperation } from '../../domain/suggest.js'
import {
  type ClockState,
  changeClock,
  clockAt,
  clockStartProblem,
  type EpochMs,
  startInstant,
} from '../../domain/time.js'
import { OptionsError, type ScenarioContent, type ScenarioName } from '../../options/options.js'
import { loadPackagedScenario, packagedScenarios, parseScenarioContent, type Scenario } from '../../options/scenario.js'
import { changeSettings } from '../../options/settings.js'
import { faultSchema, faultsSchema, runningStormSchema } from '../../options/values/faults.js'
import { objectSchema } from '../../options/values/reading.js'
import { faultViews, readState, stormView } from '../state.js'
import { stormText } from '../texts.js'
import { described, fields, text, VerbError, verb } from '../verb.js'
import type { ScenarioView } from '../views.js'
import { checkBannable, checkPlan, findKey } from './keys.js'

type Fields = Readonly<Record<string, unknown>>

const SCENARIO_FORM = 'must be the name of a packaged scenario, {"name": …} or the content of a scenario'
const scenarioSchema = v.union(
  [
    v.pipe(
      v.string() as v.GenericSchema<ScenarioName, string>,
      v.transform((name): Fields => ({ name })),
    ),
    objectSchema(SCENARIO_FORM) as v.GenericSchema<ScenarioContent | { readonly name: string }, Fields>,
  ],
  SCENARIO_FORM,
)

export const troubleVerbs = {
  'storm.show': verb('GET /storm', 'Show the storm', {
    details: 'Returns null without a storm.',
    command: 'storm show',
    run: ({ space }) => (space.state.storm === undefined ? null : stormView(space.state.storm)),
  }),
  'storm.start': verb('PUT /storm', 'Start a new storm; without a rate it refuses everything', {
    input: fields({
      storm: v.optional(
        described(runningStormSchema, '<rate>[,for=30s][,every=5m][,retry-after=2s], as for serve'),
        {},
      ),
    }),
    body: 'storm',
    command: 'storm start [spec] [--rate <rate>] [--for <duration>] [--every <duration>] [--retry-after <duration>]',
    example: { storm: { rate: 0.3, for: '30s' } },
    run({ space, wall }, { storm: wanted }) {
      const storm = startStorm(wanted, space.now(wall), space.requests)
      space.commit({ storm })
      return stormView(storm)
    },
    text: (storm) => `Storm started: ${stormText(storm)}.`,
  }),
  'storm.stop': verb('DELETE /storm', 'Stop the storm', {
    command: 'storm stop',
    run({ space }) {
      space.commit({ storm: undefined })
      return null
    },
    text: () => 'Storm stopped.',
  }),
  'faults.list': verb('GET /faults', 'List the fault rules in order', {
    command: 'fault list',
    run: ({ space }) => faultViews(space),
  }),
  'faults.set': verb('PUT /faults', 'Replace the fault rules', {
    body: 'rules',
    input: fields({ rules: faultsSchema }),
    example: { rules: [`${EXAMPLE.create}:503*2`, `${EXAMPLE.list}:hang@5%`] },
    useFiles: ({ checkFaults }, { rules }) => checkFaults(rules),
    run: ({ space }, { rules }) => setFaults(space, rules),
    text: (rules) => faultsText(rules),
  }),
  'faults.add': verb('POST /faults', 'Add a fault rule at the end of the list; the first match wins', {
    body: 'rule',
    input: fields({
      rule: described(
        faultSchema,
        '<operation|*>:<status or fault>[@20%][*3][,retry-after=2s][,after][:<body>], as for serve',
      ),
    }),
    command: 'fault add <rule>',
    example: { rule: `${EXAMPLE.list}:503@20%*3` },
    useFiles: ({ checkFaults }, { rule }) => checkFaults([rule]),
    run({ space }, { rule }) {
      checkOperations(space, [rule.operation])
      space.commit(addFault(space.state, rule, space.requests))
      return faultViews(space)
    },
    text: (rules) => `Fault added: ${rules.slice(-1).map(formatFaultRule).join()}.`,
  }),
  'faults.clear': verb('DELETE /faults', 'Remove all fault rules, or some', {
    input: fields({
      id: v.optional(
        described(v.pipe(text, v.regex(/^[\d.,]+$/, 'must be ids of fault rules')), 'only these ids: 0.1,0.2'),
      ),
    }),
    command: 'fault clear [id]',
    example: { id: '0.1' },
    run({ space }, { id }) {
      const ids = id?.split(',')
      space.commit({ faults: space.state.faults.filter((fault) => ids?.includes(fault.id) === false) })
      return faultViews(space)
    },
    text: (rules, { id }) => (id === undefined ? 'All faults removed.' : faultsText(rules, 'Faults left')),
  }),
  'scenario.list': verb('GET /scenarios', 'List the packaged scenarios', {
    methodName: 'scenarios',
    run: ({ space: { shared } }): readonly ScenarioView[] =>
      packagedScenarios().flatMap((name) => {
        const { now, description = '' } = loadPackagedScenario(name)
        return clockStartProblem(now, shared.contract) === undefined ? [{ name, description }] : []
      }),
  }),
  'scenario.apply': verb('PUT /scenario', 'Apply a scenario; other settings do not change', {
    details: 'Takes the name of a packaged [scenario](switches.md#scenarios), or the content of one.',
    body: 'scenario',
    input: fields({
      scenario: described(scenarioSchema, `packaged scenario (${packagedScenarios().join(', ')}) or YAML file`),
    }),
    methodName: 'scenario',
    command: 'scenario <name|file>',
    example: { scenario: 'storm' },
    useFiles: ({ checkFaults }, { scenario }) => checkFaults(read(scenario).faults ?? []),
    hasUnknownKey(space, { scenario }) {
      const { used, bans } = read(scenario)
      return Object.keys({ ...used, ...bans }).some((name) => space.shared.keys.find(name) === undefined)
    },
    run({ space, spaces, wall }, { scenario: given }) {
      const scenario = read(given)
      const operations = (scenario.faults ?? []).map(({ operation }) => operation)
      checkOperations(space, [...operations, ...slowedOperations(scenario.settings)])
      checkPlan(space, scenario.settings.plan)
      checkScenarioKeys(space, scenario)
      const clock = clockIn(space, scenario, wall)
      space.commit({ settings: changeSettings(space.state.settings, scenario.settings) })
      space.commit(turnClock(space.state, clock, wall))
      const now = space.now(wall)
      const { requests, shared, state } = space
      const { storm, faults, used, bans } = scenario
      const next = {
        ...(storm !== undefined && { storm: storm === 'off' ? undefined : startStorm(storm, now, requests) }),
        ...(faults !== undefined && changeFaults(state, faults, requests)),
      }
      space.commit({
        ...next,
        accounts: banKeys(useUp(state, shared, used, now), shared.keys, bans, now, requests),
      })
      return readState(space, spaces, wall)
    },
    origin: ({ scenario }) => `scenario ${scenarioName(scenario)}`,
    text: (_, { scenario }) => `Scenario ${scenarioName(scenario)} applied.`,
  }),
}

function scenarioName(given: unknown): string {
  return typeof given === 'string' ? given : (Object(given).name ?? 'custom')
}

function faultsText(rules: readonly FaultRule[], title = 'Faults'): string {
  return `${title}: ${rules.map(formatFaultRule).join(' ') || 'none'}.`
}

function setFaults(space: Space, rules: readonly FaultRule[]) {
  checkOperations(
    space,
    rules.map(({ operation }) => operation),
  )
  space.commit(changeFaults(space.state, rules, space.requests))
  return faultViews(space)
}

/** A rule for an unknown operation would have no effect. @throws VerbError */
export function checkOperations({ shared: { contract } }: Space, operations: readonly string[]): void {
  const known = ['*', ...contract.operations.map(({ id }) => id)]
  const unknown = operations.find((operation) => !known.includes(operation))
  if (unknown === undefined) return
  throw new VerbError('invalid_request', unknownOperation(unknown, known.slice(1)))
}

function read(given: Readonly<Record<string, unknown>>): Scenario {
  try {
    const { name } = given
    return typeof name === 'string' && Object.keys(given).length === 1
      ? loadPackagedScenario(name)
      : parseScenarioContent(given)
  } catch (error) {
    if (error instanceof OptionsError)
      throw new VerbError('invalid_request', `${error.problems.join('; ')}.`, 'PUT /scenario "storm"')
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
  if (now !== undefined && now < space.now(wall))
    return clockAt(now, freeze ?? space.state.clock.kind === 'frozen', wall)
  const change = { ...(now === undefined ? {} : { now }), ...(freeze === undefined ? {} : { frozen: freeze }) }
  const changed = changeClock(space.state.clock, change, wall)
  if (typeof changed === 'string') throw new VerbError('invalid_request', changed)
  return changed
}
