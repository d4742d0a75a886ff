import { describe, expect, it } from 'vitest'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { applyStep, openMachine, START } from '../machine/machine.js'

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true }

async function openWith(options: SandboxOptions = {}) {
  const sandbox = await createSandbox({ ...AT_TEN, ...options })
  const ask = (key: string) => sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: `Bearer ${key}` } })
  const names = async () => (await sandbox.spaces.list()).map(({ name }) => name)
  return Object.assign(sandbox, { ask, names })
}

describe('a key that names a space', () => {
  it('opens a space for an unknown key with --any-key', async () => {
    await using sandbox = await openWith({ anyKey: true })
    await sandbox.ask('mine~a')
    expect(await sandbox.names()).toEqual(['a'])
    expect((await sandbox.requests()).length).toBe(0)
    await sandbox.ask('mine')
    const left = async (key: string) => (await sandbox.ask(key)).headers.get('x-ratelimit-remaining')
    expect([await left('mine'), await left('mine~a')]).toEqual(['58', '58'])
  })

  it.each(['unknown~a', 'sandbox-revoked~a'])('opens none if it is not valid: %s', async (key) => {
    await using sandbox = await openWith()
    expect((await sandbox.ask(key)).status).toBe(401)
    expect(await sandbox.names()).toEqual([])
  })
})

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
      const request = {
        method: 'GET',
        target: '/v1/pets',
        headers: { authorization: 'Bearer sandbox' },
        rawHeaders: [],
        body: undefined,
        address: 'test',
        connection: 0,
        deliveredUpTo: 0,
      }
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
