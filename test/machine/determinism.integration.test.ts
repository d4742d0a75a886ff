import { describe, expect, it } from 'vitest'
import type { Verb } from '../../src/control/verb.js'
import type { VerbName } from '../../src/control/verb-map.js'
import { VERBS } from '../../src/control/verbs.js'
import { writeCheckpoint } from '../../src/core/checkpoint.js'
import type { Machine } from '../../src/core/machine.js'
import { TEST_SEED } from '../support/test-seed.js'
import { Chance } from './chance.js'
import { Commands } from './commands.js'
import { applyStep, differenceOf, openMachine, outcomeText, stateText, textOf } from './machine.js'
import { PLANS, startOf } from './run.js'
import { runCommands } from './run-commands.js'

const READING = (Object.keys(VERBS) as VerbName[]).filter((name) => VERBS[name].method === 'GET')

/** Reads something of a space as the control plane does. */
function read({ spaces }: Machine, chance: Chance, wall: number): void {
  const space = spaces.get(chance.oneOf(['', ...spaces.names()]))
  const verb: Verb = VERBS[chance.oneOf(READING)]
  if (space !== undefined) verb.run({ space, spaces, wall }, {})
}

describe.each(PLANS)('a machine that starts $name', (plan) => {
  const seed = `${TEST_SEED}:${plan.name}`
  const said = `TEST_SEED=${TEST_SEED} repeats it`

  it('gives the same responses and state after the same commands, with reads in between', async () => {
    const start = await startOf(plan)
    const warnings: string[] = []
    const one = openMachine({ ...start, warn: (message) => warnings.push(message) })
    const other = openMachine(start)
    const chance = new Chance(`${seed}:reading`)
    const { steps, outcomes, wall } = runCommands(one, seed, plan.commands, (commands) => {
      if (chance.percent(30)) read(one, chance, commands.wall)
    })
    for (const [index, step] of steps.entries()) {
      const text = outcomeText(applyStep(other, step))
      if (text === outcomes[index]) continue
      expect(differenceOf(text, outcomes[index] ?? ''), `command ${index}, ${said}`).toBeUndefined()
    }
    expect(differenceOf(stateText(other, wall), stateText(one, wall)), said).toBeUndefined()
    expect(differenceOf(writeCheckpoint(other.spaces), writeCheckpoint(one.spaces)), said).toBeUndefined()
    // A failure in both machines is a failure.
    const failures = warnings.filter((warning) => warning.includes('failed inside'))
    expect(failures, said).toEqual([])
  })

  it('changes nothing for a verb that it refuses', async () => {
    const machine = openMachine(await startOf(plan))
    const commands = new Commands(seed)
    let refused = 0
    // That a full memory was reported once is remembered, whatever was refused.
    const checkpoint = () => writeCheckpoint(machine.spaces).replace(/"hasTold":\w+/, '')
    while (refused < 50) {
      const step = commands.next()
      const before = step.command.kind === 'verb' ? checkpoint() : ''
      const outcome = applyStep(machine, step)
      commands.heard(outcome)
      if (outcome.kind !== 'refusal') continue
      refused++
      const difference = differenceOf(before, checkpoint())
      expect(difference, `${textOf(step.command)}, ${said}`).toBeUndefined()
    }
  })
})
