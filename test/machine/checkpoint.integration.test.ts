import { describe, expect, it } from 'vitest'
import { checkpointLines, digestSandbox, loadCheckpoint, writeCheckpoint } from '../../src/core/checkpoint.js'
import { applyStep, differenceOf, openMachine, outcomeText, START } from './machine.js'
import { PLANS, startOf } from './run.js'
import { runCommands } from './run-commands.js'

describe.each(PLANS)('a checkpoint, $name', (plan) => {
  it('continues with the same responses and the same digest', async () => {
    const start = await startOf(plan)
    const open = () => openMachine(start)
    const first = open()
    const { steps, outcomes } = runCommands(first, `checkpoint:${plan.name}`, plan.commands)
    let other = open()
    let underWay = 0
    for (const [index, step] of steps.entries()) {
      // Often, so that restored state is written again, also with forwarded requests pending.
      if (index > 0 && index % Math.floor(plan.commands / 20) === 0) {
        underWay += other.spaces.save().forwarded.length
        const text = writeCheckpoint(other.spaces)
        other = open()
        loadCheckpoint(other.spaces, text)
        expect(differenceOf(text, writeCheckpoint(other.spaces))).toBeUndefined()
      }
      expect(differenceOf(String(outcomes[index]), outcomeText(applyStep(other, step)))).toBeUndefined()
    }
    expect(differenceOf(writeCheckpoint(first.spaces), writeCheckpoint(other.spaces))).toBeUndefined()
    expect(digestSandbox(first.spaces)).toBe(digestSandbox(other.spaces))
    expect(underWay > 0).toBe(plan.realService !== undefined)
  })

  it('is not changed by commands while it is written', async () => {
    const start = await startOf(plan)
    const { steps } = runCommands(openMachine(start), `picture:${plan.name}`, plan.commands)
    const machine = openMachine(start)
    const each = Math.floor(plan.commands / 20)
    let asItWas = ''
    let written: Iterable<string> = []
    for (const [index, step] of steps.entries()) {
      if (index % each === 0) {
        expect(differenceOf(asItWas, [...written].join('\n'))).toBeUndefined()
        asItWas = writeCheckpoint(machine.spaces)
        written = checkpointLines(machine.spaces)
      }
      applyStep(machine, step)
    }
    expect(asItWas).not.toBe('')
  })

  it('differs for different sandboxes', async () => {
    const machine = openMachine(await startOf(plan))
    const before = digestSandbox(machine.spaces)
    expect(digestSandbox(machine.spaces)).toBe(before)
    applyStep(machine, {
      command: { kind: 'verb', space: '', verb: 'storm.start', input: {} },
      instant: { now: START, position: 1 },
    })
    expect(digestSandbox(machine.spaces)).not.toBe(before)
  })

  it('of another version is refused', async () => {
    const machine = openMachine(await startOf(plan))
    const text = writeCheckpoint(machine.spaces).replace(/"version":\d+/, '"version":0')
    expect(() => loadCheckpoint(machine.spaces, text)).toThrow('has version 0')
  })
})
