import { describe, expect, it } from 'vitest'
import type { Verb } from '../../src/control/verb.js'
import type { VerbName } from '../../src/control/verb-map.js'
import { VERBS } from '../../src/control/verbs.js'
import { digestSandbox, loadCheckpoint, writeCheckpoint } from '../../src/core/checkpoint.js'
import type { Spaces } from '../../src/core/spaces.js'
import { RecordRefused } from '../../src/domain/records.js'
import { runs, TEST_SEED } from '../support/test-seed.js'
import { Chance } from './chance.js'
import { Commands } from './commands.js'
import { applyStep, differenceOf, openMachine, outcomeText, START, stateText, textOf } from './machine.js'
import { PLANS, startOf } from './run.js'
import { runCommands } from './run-commands.js'

const READING = (Object.keys(VERBS) as VerbName[]).filter((name) => VERBS[name].method === 'GET')
const CHECKPOINTS = 20

/** Reads something of a space as the control plane does. */
function read(spaces: Spaces, chance: Chance, wall: number): void {
  const space = spaces.get(chance.oneOf(['', ...spaces.names()]))
  const verb: Verb = VERBS[chance.oneOf(READING)]
  try {
    if (space !== undefined) verb.run({ space, spaces, wall }, { resource: 'pets' })
  } catch (error) {
    // Not every contract has the resource.
    if (!(error instanceof RecordRefused)) throw error
  }
}

describe.each(PLANS)('a machine that starts $name', (plan) => {
  const seed = `${TEST_SEED}:${plan.name}`
  const said = `TEST_SEED=${TEST_SEED} repeats it`

  it('gives the same responses and state after the same commands, with reads or checkpoints in between', async () => {
    const start = await startOf(plan)
    const warnings: string[] = []
    const one = openMachine({ ...start, warn: (message) => warnings.push(message) })
    const chance = new Chance(`${seed}:reading`)
    const { steps, outcomes, wall } = runCommands(one, seed, plan.commands, (commands) => {
      if (chance.percent(30)) read(one, chance, commands.wall)
    })
    let other = openMachine(start)
    for (const [index, step] of steps.entries()) {
      if (index % Math.floor(plan.commands / CHECKPOINTS) === 0) {
        // Often, so that restored state is written again.
        const written = writeCheckpoint(other)
        other = openMachine(start)
        loadCheckpoint(written, other)
        expect(differenceOf(writeCheckpoint(other), written), said).toBeUndefined()
      }
      const difference = differenceOf(outcomes[index] ?? '', outcomeText(applyStep(other, step)))
      expect(difference, `command ${index}, ${said}`).toBeUndefined()
    }
    expect(differenceOf(stateText(other, wall), stateText(one, wall)), said).toBeUndefined()
    expect(differenceOf(writeCheckpoint(other), writeCheckpoint(one)), said).toBeUndefined()
    expect(digestSandbox(other)).toBe(digestSandbox(one))
    // A failure in both machines is a failure.
    expect(warnings.join('\n'), said).not.toContain('failed inside')
  })

  it('changes nothing for a verb that it refuses', async () => {
    const machine = openMachine(await startOf(plan))
    const commands = new Commands(seed)
    let refused = 0
    // That a full memory was reported once is remembered, whatever was refused.
    const checkpoint = () => writeCheckpoint(machine).replace(/"hasWarned":\w+/, '')
    while (refused < runs(50)) {
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

describe('a checkpoint', () => {
  it('has another digest after a change', async () => {
    for (const plan of PLANS) {
      const machine = openMachine(await startOf(plan))
      const before = digestSandbox(machine)
      expect(digestSandbox(machine)).toBe(before)
      const command = { kind: 'verb', space: '', verb: 'storm.start', input: {} } as const
      applyStep(machine, { command, instant: { now: START, position: 1 } })
      expect(digestSandbox(machine)).not.toBe(before)
    }
  })
})
