import { describe, expect, it } from 'vitest'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { Accounts } from '../../src/core/accounts.js'
import type { SandboxOptions } from '../../src/index.js'
import { applyStep, openMachine, START } from '../machine/machine.js'
import { serviceRequest } from '../support/service-request.js'

describe('accounts', () => {
  // @source docs/behaviour.md, "requests without a valid key"
  it('of addresses and unknown keys are at most 10,000, and the least recently used one goes', () => {
    const accounts = new Accounts()
    for (let i = 0; i < 10_000; i++) accounts.forStranger(`key-${i}`)
    accounts.forStranger('key-0')
    accounts.forStranger('newcomer')
    const names = accounts.save().map(({ name }) => name)
    expect(names).toHaveLength(10_000)
    expect([names.includes('key-0'), names.includes('key-1')]).toEqual([true, false])
  })
})

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true }

describe('a running clock', () => {
  it('stops at the end of the year 9999', () => {
    const machine = openMachine({ contract: packagedContract(), sandbox: { now: '9999-12-31T23:59:59Z' } })
    const now = START + 10_000
    const verb = (verb: string, input: object) => {
      const outcome = applyStep(machine, {
        command: { kind: 'verb', space: '', verb, input },
        instant: { now, position: 1 },
      })
      return outcome.kind === 'output' ? outcome.output : outcome
    }
    const last = '9999-12-31T23:59:59.999Z'
    expect(verb('clock.show', {})).toEqual({ now: last, frozen: false })
    expect(verb('clock.set', { frozen: true })).toEqual({ now: last, frozen: true })
  })
})

describe('a snapshot', () => {
  it('keeps the real time of a wait while the clock is frozen', () => {
    const sandbox: SandboxOptions = { ...AT_TEN, limits: '0/day', banAfter: 2 }
    const machine = openMachine({ contract: packagedContract(), sandbox })
    let position = 0
    const ask = (now: number) => {
      const request = serviceRequest({
        headers: { authorization: 'Bearer sandbox' },
      })
      applyStep(machine, { command: { kind: 'request', request }, instant: { now, position: ++position } })
      return machine.spaces.default.accounts.view('sandbox').bans.ban !== undefined
    }
    const verb = (verb: string, now: number) =>
      applyStep(machine, {
        command: { kind: 'verb', space: '', verb, input: { name: 'one' } },
        instant: { now, position: ++position },
      })
    const dayLater = START + 24 * 3_600_000
    expect(ask(START)).toBe(false)
    verb('snapshots.save', dayLater - 1000)
    verb('snapshots.restore', dayLater - 1000)
    expect(ask(dayLater)).toBe(false)
  })
})
