import { expect, it } from 'vitest'
import { Failure } from '../../src/domain/failures.js'
import { runs, TEST_SEED } from '../support/test-seed.js'
import { Chance } from './chance.js'
import { Commands } from './commands.js'
import { applyStep, differenceOf, openMachine, stateText } from './machine.js'

/** Changes that the default space stores. Changes of the keys given at the start are not stored. */
const TRANSITIONS: Readonly<Record<string, (chance: Chance) => readonly [verb: string, input: object]>> = {
  'a pet that was added': () => ['records.add', { resource: 'pets', record: { name: 'Rex', categoryId: 1 } }],
  'a pet that was changed': (chance) => [
    'records.set',
    { resource: 'pets', id: chance.integer(1, 62), change: { status: chance.oneOf(['sold', null]) } },
  ],
  'a record that was added': (chance) => [
    'records.add',
    { resource: 'pets', record: { id: chance.integer(100, 120), name: 'Rex', categoryId: 1 } },
  ],
  'a pet that was removed': (chance) => ['records.remove', { resource: 'pets', id: chance.integer(50, 66) }],
  'a key that was moved to another plan': (chance) => [
    'keys.change',
    { key: chance.oneOf(['sandbox-free', 'sandbox-pro', 'mine']), plan: chance.oneOf(['pro', 'business']) },
  ],
  'a key that was added': () => ['keys.add', { key: 'newest' }],
  'a key that was removed': (chance) => ['keys.remove', { key: chance.oneOf(['mine', 'sandbox-pro']) }],
  'a reset': () => ['reset', {}],
  'a reset that was undone': () => ['undo', {}],
  'a snapshot that was restored': () => ['snapshots.restore', { name: 'two' }],
}
const NAMES = Object.keys(TRANSITIONS)

it.each(NAMES)('a change that cannot be stored changes nothing: %s', (name) => {
  let refused = 0
  for (let run = 0; run < runs(30); run++) {
    const seed = `${TEST_SEED}:${name}:${run}`
    const chance = new Chance(seed)
    let isFull = false
    const append = () => {
      if (isFull) throw new Failure('STORE_WRITE_FAILED', 'the disk is full')
    }
    const machine = openMachine({ sandbox: { logLimit: 20 }, store: { append } })
    const commands = new Commands(seed)
    for (let i = 0; i < 150; i++) commands.heard(applyStep(machine, commands.next()))
    let position = commands.position
    const outcomeOf = (verb: string, input: object) => {
      const instant = { now: commands.wall, position: ++position }
      return applyStep(machine, { command: { kind: 'verb', space: '', verb, input }, instant })
    }
    // Gives the transitions a key and a snapshot to change.
    outcomeOf('keys.add', { key: 'mine' })
    outcomeOf('snapshots.save', { name: 'two' })
    if (name === 'a reset that was undone') outcomeOf('reset', {})
    const before = stateText(machine, commands.wall)
    isFull = true
    const outcome = outcomeOf(...(TRANSITIONS[name] as (typeof TRANSITIONS)[string])(chance))
    // A refused verb, or one that changes nothing.
    if (outcome.kind === 'refusal' && outcome.error instanceof Failure) refused++
    expect(differenceOf(before, stateText(machine, commands.wall)), `seed ${seed}`).toBeUndefined()
  }
  expect(refused).toBeGreaterThan(0)
})
