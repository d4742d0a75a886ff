import { describe, expect, it } from 'vitest'
import { Accounts } from '../../src/core/accounts.js'
import { writeCheckpoint } from '../../src/core/checkpoint.js'
import type { Spaces } from '../../src/core/spaces.js'
import { StoreFull } from '../../src/domain/problems.js'
import type { StoredState } from '../../src/domain/state.js'
import { applyStep, openMachine, START, type Step } from '../machine/machine.js'
import { serviceRequest } from '../support/service-request.js'

// @source docs/behaviour.md, "requests without a valid key"
it('accounts of addresses and unknown keys are at most 10,000, and the least recently used one goes', () => {
  const accounts = new Accounts()
  const charge = (name: string) => accounts.put({ kind: 'stranger', name }, accounts.view({ kind: 'stranger', name }))
  for (let i = 0; i < 10_000; i++) charge(`key-${i}`)
  charge('key-0')
  charge('newcomer')
  const names = accounts.save().map(({ name }) => name)
  expect(names).toHaveLength(10_000)
  expect([names.includes('key-0'), names.includes('key-1')]).toEqual([true, false])
})

it('a running clock stops at the end of the year 9999', () => {
  const machine = openMachine({ sandbox: { now: '9999-12-31T23:59:59Z' } })
  const instant = { now: START + 10_000, position: 1 }
  const last = '9999-12-31T23:59:59.999Z'
  for (const [verb, input, frozen] of [
    ['clock.show', {}, false],
    ['clock.set', { frozen: true }, true],
  ] as const) {
    const outcome = applyStep(machine, { command: { kind: 'verb', space: '', verb, input }, instant })
    expect(outcome).toEqual({ kind: 'output', output: { now: last, frozen } })
  }
})

describe('the minute in which an early request counts, on a frozen clock', () => {
  const SECOND = 1000

  /** Is the key banned by its third request, a second one early, with a snapshot saved and restored in between? */
  function isBannedAt(wall: number): boolean {
    const sandbox = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true, limits: '0/day', banAfter: 2 } as const
    const machine = openMachine({ sandbox })
    let position = 0
    const apply = (now: number, command: Step['command']) =>
      applyStep(machine, { command, instant: { now, position: ++position } })
    const ask = (now: number) => {
      const request = serviceRequest({ headers: { authorization: 'Bearer sandbox' }, deliveredUpTo: position })
      const outcome = apply(now, { kind: 'request', request })
      if (outcome.kind !== 'reply' || outcome.reply.exchange === undefined) throw new Error('no exchange')
      const how = { how: 'sent', durationMs: 0, waitingMs: 0, bodyMs: 0, connection: 0 } as const
      apply(now, { kind: 'ended', exchanges: [{ ...outcome.reply.exchange, ...how }] })
      return machine.default.state.accounts.ofKey('sandbox').bans.ban !== undefined
    }
    expect([ask(START), ask(START + SECOND)]).toEqual([false, false])
    for (const verb of ['snapshots.save', 'snapshots.restore'])
      apply(START + 50 * SECOND, { kind: 'verb', space: '', verb, input: { name: 'one' } })
    return ask(wall)
  }

  it.each([
    ['goes on after a snapshot was restored', 60.999, true],
    ['ends when the minute of real time is over', 61, false],
  ])('%s', (_, seconds, isBanned) => {
    expect(isBannedAt(START + seconds * SECOND)).toBe(isBanned)
  })
})

it.each([
  ['records.add', { resource: 'pets', record: { name: 'Rex', categoryId: 1 } }],
  ['records.remove', { resource: 'pets', id: '1' }],
  ['keys.add', { key: 'team-b', plan: 'pro' }],
  ['keys.remove', { key: 'sandbox-pro' }],
  ['reset', {}],
  ['undo', {}],
])('a store that writes its document while %s is written finds the state before it there', (verb, input) => {
  const found: StoredState[] = []
  let isFull = false
  const store = {
    append() {
      found.push(machine.default.committed())
      if (isFull) throw new StoreFull('The store', 1)
    },
  }
  const machine: Spaces = openMachine({ sandbox: { seed: 1 }, store })
  const change = (verb: string, input: object, position: number) =>
    applyStep(machine, { command: { kind: 'verb', space: '', verb, input }, instant: { now: START, position } })
  change('records.remove', { resource: 'pets', id: '7' }, 1)
  change('keys.add', { key: 'team-a' }, 2)
  const before = machine.default.stored()
  isFull = true
  expect(change(verb, input, 3)).toMatchObject({ kind: 'refusal' })
  expect(found.at(-1)).toEqual(before)
  expect(machine.default.stored()).toEqual(before)
})

it('a verb that fails after it changed records leaves all as they were', () => {
  const spaces = openMachine({ sandbox: { seed: 1 } })
  const space = spaces.default
  const before = writeCheckpoint(spaces)
  const verb = { name: 'a verb', id: 1, canUndo: false, origin: undefined, isTemporary: false }
  const change = () =>
    spaces.change(space, verb, START, () => {
      const rex = { id: space.state.records.get('pets')?.nextId, name: 'Rex', categoryId: 1 }
      const [first] = space.state.records.get('pets')?.values() ?? []
      space.commit({}, [{ kind: 'put', resource: 'pets', record: { scope: [], value: rex } }])
      space.commit({}, [{ kind: 'put', resource: 'pets', record: { scope: [], value: { ...first, name: 'Other' } } }])
      for (const id of ['3', '4', String(rex.id)])
        space.commit({}, [{ kind: 'remove', resource: 'pets', scope: [], id }])
      throw new Error('the verb failed')
    })
  expect(change).toThrow('the verb failed')
  expect(writeCheckpoint(spaces)).toBe(before)
})
