import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeCheckpoint } from '../../src/core/checkpoint.js'
import { createSandbox, type Sandbox, type SandboxOptions, type Space, startSandbox } from '../../src/index.js'
import { applyStep, openMachine, START } from '../machine/machine.js'
import { temporaryFolder } from '../support/temporary-files.js'

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true }
const open = (options: SandboxOptions = {}) => createSandbox({ ...AT_TEN, ...options })
type Opened = Awaited<ReturnType<typeof open>>

const ask = (sandbox: Pick<Opened, 'fetch' | 'baseUrl'>, path = '/pets', key = 'sandbox') =>
  sandbox.fetch(sandbox.baseUrl + path, { headers: { authorization: `Bearer ${key}` } })

async function seen(of: Pick<Sandbox, 'state' | 'records' | 'requests' | 'conduct' | 'snapshots'>) {
  const { undo: _, ...state } = await of.state()
  return [state, await of.records.list('pets'), await of.requests(), await of.conduct(), await of.snapshots.list()]
}

/** The store as a killed process leaves it. */
function copyOf(store: string): string {
  const copy = join(temporaryFolder(), 'store.json')
  for (const suffix of ['', '.journal']) copyFileSync(`${store}${suffix}`, `${copy}${suffix}`)
  return copy
}

describe('undo', () => {
  it.each<[verb: string, act: (space: Space) => Promise<unknown>]>([
    ['reset', (space) => space.reset()],
    ['snapshots.restore', (space) => space.snapshots.restore('start')],
    [
      'scenario.apply',
      (space) => space.scenario({ storm: 1, ban: { sandbox: '5m' }, used: { 'sandbox-pro': '299/min' } }),
    ],
    ['overrides.clear', (space) => space.overrides.clear()],
    ['spaces.remove', (space) => space.remove()],
  ])('restores pets, settings, quotas, log, conduct and snapshots after %s', async (verb, act) => {
    await using sandbox = await open()
    const space = sandbox.space('checkout')
    await space.snapshots.save('start')
    await ask(sandbox, '/pets?limit=0', 'sandbox~checkout')
    await ask(sandbox, '/pets/1', 'sandbox-pro~checkout')
    await space.records.remove('pets', 3)
    await space.settings.change({ latency: '1ms' })
    await space.storm.start({ rate: 0.5 })
    await space.clock.advance('1h')
    await space.ban('sandbox-free')
    await space.plan('sandbox-business', 'pro')
    const before = await seen(space)
    await act(space)
    if (verb === 'spaces.remove') expect(await sandbox.spaces.list()).toEqual([])
    else expect(await seen(space)).not.toEqual(before)
    await expect(sandbox.undo()).rejects.toThrow('nothing to undo')
    expect(await space.undo()).toMatchObject({ undone: verb })
    expect(await seen(space)).toEqual(before)
    await expect(space.undo()).rejects.toThrow('nothing to undo')
  })

  it('restores a removed key with its plan, quotas and ban in each space', async () => {
    await using sandbox = await open({ limits: '5/min', apiKey: ['mine=a-secret-of-mine:pro'] })
    for (const key of ['sandbox-free', 'sandbox-free~other', 'a-secret-of-mine']) await ask(sandbox, '/pets', key)
    await sandbox.plan('sandbox-free', 'business')
    await sandbox.space('other').ban('sandbox-free')
    const keysOf = async () =>
      [...(await sandbox.keys.list()), ...(await sandbox.space('other').keys.list())].toSorted((one, other) =>
        one.key.localeCompare(other.key),
      )
    const before = await keysOf()
    for (const key of ['sandbox-free', 'sandbox-limited', 'sandbox', 'mine']) {
      await sandbox.keys.remove(key)
      await sandbox.keys.add('yours')
      expect(await sandbox.undo()).toMatchObject({ undone: 'keys.remove' })
      await sandbox.keys.remove('yours')
      expect(await keysOf(), key).toEqual(before)
    }
    expect((await ask(sandbox, '/pets', 'a-secret-of-mine')).status).toBe(200)
  })

  it('of a removed key, in any space, outlives a killed process', async () => {
    const store = join(temporaryFolder(), 'store.json')
    const sandbox = await startSandbox({ ...AT_TEN, store })
    const plans = async (of: Sandbox) => (await of.keys.list()).map(({ key, plan }) => `${key} ${plan}`)
    await sandbox.keys.add('team-a', 'pro')
    const before = await plans(sandbox)
    const space = sandbox.space('checkout')
    await space.keys.remove('team-a')
    await space.undo()
    expect(await plans(sandbox)).toEqual(before)
    await using again = await startSandbox({ ...AT_TEN, store: copyOf(store) })
    expect(await plans(again)).toEqual(before)
    await sandbox.close()
  })

  it('restores the space as it was, also of what clients changed since, and counts their requests', async () => {
    await using sandbox = await open()
    const before = [
      await sandbox.overrides(),
      await sandbox.keys.list(),
      await sandbox.records.list('pets', { limit: 100 }),
    ]
    await sandbox.scenario({ storm: 1, ban: { sandbox: '5m' }, used: { 'sandbox-pro': '299/min,900/day' } })
    await sandbox.storm.stop()
    for (let i = 0; i < 3; i++) await ask(sandbox, '/pets', 'sandbox-free')
    await sandbox.records.add('pets', { name: 'Rex', categoryId: 1 })
    await sandbox.snapshots.save('kept')
    expect(await sandbox.undo()).toEqual({ undone: 'scenario.apply', requests: 3 })
    expect([
      await sandbox.overrides(),
      await sandbox.keys.list(),
      await sandbox.records.list('pets', { limit: 100 }),
    ]).toEqual(before)
    expect(await sandbox.snapshots.list()).toEqual(['kept'])
    expect(await sandbox.requests()).toHaveLength(3)
  })

  it('of a removal returns the record to its place, and keeps what clients changed since', async () => {
    const store = join(temporaryFolder(), 'store.json')
    const sandbox = await startSandbox({ ...AT_TEN, store })
    const ids = async () => (await sandbox.records.list('pets', { limit: 100 })).map(({ id }) => id)
    const all = await ids()
    await sandbox.records.remove('pets', 30)
    const { id } = await sandbox.records.add('pets', { name: 'Rex', categoryId: 1 })
    await sandbox.records.remove('pets', 20)
    expect(await sandbox.undo()).toEqual({ undone: 'records.remove', requests: 0 })
    const expected = [id, ...all.filter((one) => one !== 30)]
    expect(await ids()).toEqual(expected)
    // A killed process finds the same order.
    await using again = await startSandbox({ ...AT_TEN, store: copyOf(store) })
    expect((await again.records.list('pets', { limit: 100 })).map(({ id: one }) => one)).toEqual(expected)
    await sandbox.close()
  })

  it('is independent of other spaces, and opens none', async () => {
    await using sandbox = await open()
    await sandbox.records.remove('pets', 1)
    for (const name of ['a', 'b']) {
      await sandbox.space(name).reset()
      await sandbox.space(name).remove()
    }
    await expect(sandbox.space('c').undo()).rejects.toThrow('nothing to undo')
    expect(await sandbox.spaces.list()).toEqual([])
    expect(await sandbox.undo()).toMatchObject({ undone: 'records.remove' })
    await expect(sandbox.space('a').undo()).rejects.toThrow('nothing to undo')
    expect(await sandbox.space('b').undo()).toMatchObject({ undone: 'spaces.remove' })
  })

  it('has an id, and refuses the id of a verb that is not the last', async () => {
    await using sandbox = await open()
    expect((await sandbox.state()).undo).toBeNull()
    await sandbox.records.remove('pets', 1)
    const first = (await sandbox.state()).undo
    await sandbox.records.remove('pets', 2)
    const second = (await sandbox.state()).undo
    expect([first, second]).toMatchObject([{ verb: 'records.remove' }, { verb: 'records.remove' }])
    await expect(sandbox.undo({ id: first?.id ?? 0 })).rejects.toThrow('records.remove')
    expect(await sandbox.undo({ id: second?.id ?? 0 })).toMatchObject({ undone: 'records.remove' })
    expect((await sandbox.state()).undo).toBeNull()
  })

  it('restores quotas and bans of keys that a reset removed, in all spaces', async () => {
    await using sandbox = await open()
    await sandbox.keys.add('mine', 'pro')
    await ask(sandbox, '/pets', 'mine~a')
    await sandbox.space('a').ban('mine')
    await sandbox.space('a').plan('mine', 'business')
    const before = await sandbox.space('a').keys.list()
    await sandbox.reset()
    await sandbox.undo()
    expect(await sandbox.space('a').keys.list()).toEqual(before)
  })

  it('does not restore a snapshot that was removed later', async () => {
    await using sandbox = await open()
    await sandbox.snapshots.save('one')
    await sandbox.reset()
    await sandbox.snapshots.remove('one')
    await sandbox.undo()
    expect(await sandbox.snapshots.list()).toEqual([])
  })

  it('expires after a minute of real time, in checkpoints too', () => {
    const machine = openMachine()
    const verb = (verb: string, input: object, position: number, now: number) =>
      applyStep(machine, { command: { kind: 'verb', space: '', verb, input }, instant: { now, position } })
    const empty = writeCheckpoint(machine).length
    verb('records.remove', { resource: 'pets', id: 1 }, 1, START)
    verb('reset', {}, 2, START)
    expect(writeCheckpoint(machine).length).toBeGreaterThan(1.5 * empty)
    verb('settings.change', {}, 3, START + 60_001)
    expect(writeCheckpoint(machine).length).toBeLessThan(1.1 * empty)
  })
})
