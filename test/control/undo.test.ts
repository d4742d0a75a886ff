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
  const records = await of.records.list('pets')
  return [state, records, await of.requests(), await of.conduct(), await of.snapshots.list()] as const
}

/** The store as a killed process leaves it. */
function copyOf(store: string): string {
  const copy = join(temporaryFolder(), 'store.json')
  for (const suffix of ['', '.journal']) copyFileSync(`${store}${suffix}`, `${copy}${suffix}`)
  return copy
}

describe('undo', () => {
  it.each<[verb: string, act: (space: Space) => Promise<unknown>]>([
    ['settings.change', (space) => space.settings.change({ plan: 'pro', banAfter: 3 })],
    ['clock.advance', (space) => space.clock.advance('25h')],
    ['clock.set', (space) => space.clock.set({ frozen: false })],
    ['storm.start', (space) => space.storm.start({ rate: 1 })],
    ['storm.stop', (space) => space.storm.stop()],
    ['faults.add', (space) => space.faults.add('createPet:503*2')],
    ['faults.set', (space) => space.faults.set(['getPet:500'])],
    ['keys.ban', (space) => space.ban('sandbox')],
    ['keys.unban', (space) => space.unban('sandbox-free')],
    ['keys.change', (space) => space.plan('sandbox-pro', 'free')],
    ['keys.add', (space) => space.keys.add('team-a', 'pro')],
    ['keys.remove', (space) => space.keys.remove('sandbox-free')],
    ['records.add', (space) => space.records.add('pets', { name: 'Rex', categoryId: 1 })],
    ['records.set', (space) => space.records.set('pets', 2, { status: 'sold' })],
    ['records.remove', (space) => space.records.remove('pets', 2)],
    ['snapshots.save', (space) => space.snapshots.save('later')],
    ['snapshots.remove', (space) => space.snapshots.remove('start')],
    ['snapshots.restore', (space) => space.snapshots.restore('start')],
    ['spaces.copy', (space) => space.copyFrom()],
    [
      'scenario.apply',
      (space) => space.scenario({ storm: 1, ban: { sandbox: '5m' }, used: { 'sandbox-pro': '299/min' } }),
    ],
    ['overrides.clear', (space) => space.overrides.clear()],
    ['requests.clear', (space) => space.requests.clear()],
    ['reset', (space) => space.reset()],
    ['spaces.remove', (space) => space.remove()],
  ])('of %s restores the whole space, also of what clients did since, and counts their requests', async (verb, act) => {
    await using sandbox = await open()
    const space = sandbox.space('checkout')
    await space.snapshots.save('start')
    await ask(sandbox, '/pets?limit=0', 'sandbox~checkout')
    await ask(sandbox, '/pets/1', 'sandbox-pro~checkout')
    await space.records.remove('pets', 3)
    await space.settings.change({ latency: '1ms' })
    await space.storm.start({ rate: 0.5 })
    await space.faults.add('listOrders:500')
    await space.clock.advance('1h')
    await space.ban('sandbox-free')
    await space.plan('sandbox-business', 'pro')
    const before = await seen(space)
    await act(space)
    if (verb === 'spaces.remove') expect(await sandbox.spaces.list()).toEqual([])
    else expect(await seen(space)).not.toEqual(before)
    const headers = { authorization: 'Bearer sandbox-pro~checkout', 'content-type': 'application/json' }
    const pet = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' }
    for (const init of [pet, { headers }, pet]) await sandbox.fetch(`${sandbox.baseUrl}/pets`, init)
    expect(await space.undo()).toEqual({ undone: verb, requests: 3 })
    const [state, ...others] = await seen(space)
    const [stateBefore, ...othersBefore] = before
    // The log goes on, and conduct with it unless the verb has emptied it.
    const active = stateBefore.active.map((one) => ({ ...one, hits: one.hits === null ? null : expect.any(Number) }))
    expect(state).toEqual({ ...stateBefore, active, counts: { ...stateBefore.counts, requests: 5, logged: 5 } })
    const [records, requests, conduct, snapshots] = others
    const [recordsBefore, requestsBefore, conductBefore, snapshotsBefore] = othersBefore
    expect([records, snapshots]).toEqual([recordsBefore, snapshotsBefore])
    expect(requests).toEqual(expect.arrayContaining([...requestsBefore]))
    if (verb === 'reset' || verb === 'spaces.remove') expect(conduct).toEqual(conductBefore)
    await expect(space.undo()).rejects.toThrow('nothing to undo')
  })

  it('refuses if another verb has changed the same key since, in any space', async () => {
    await using sandbox = await open()
    await sandbox.keys.remove('sandbox-pro')
    await sandbox.space('other').keys.add('sandbox-pro', 'business')
    const message = 'keys.remove changed the key "sandbox-pro", and another verb has changed it since.'
    await expect(sandbox.undo()).rejects.toThrow(message)
    expect((await sandbox.keys.list()).find(({ key }) => key === 'sandbox-pro')?.plan).toBe('business')
    expect(await sandbox.space('other').undo()).toMatchObject({ undone: 'keys.add' })
    expect(await sandbox.undo()).toMatchObject({ undone: 'keys.remove' })
  })

  it('does not take back reads, excused violations, or another undo', async () => {
    await using sandbox = await open()
    await sandbox.state()
    await ask(sandbox, '/pets?limit=0')
    await sandbox.expectViolation('invalid-request')
    await sandbox.settings.change({})
    await expect(sandbox.undo()).rejects.toThrow('nothing to undo')
  })

  it('lets the clock go on in its form: real time since the verb has passed', async () => {
    await using sandbox = await createSandbox({ seed: 1 })
    await sandbox.clock.advance('1h')
    const ahead = async () => Math.round((Date.parse((await sandbox.clock.show()).now) - Date.now()) / 60_000)
    await sandbox.clock.set({ frozen: true })
    await sandbox.undo()
    expect([await ahead(), (await sandbox.clock.show()).frozen]).toEqual([60, false])
  })

  it('brings back a snapshot on disk that was replaced or removed', async () => {
    const store = join(temporaryFolder(), 'store.json')
    await using sandbox = await startSandbox({ ...AT_TEN, store })
    const nameOf = async () => {
      await sandbox.snapshots.restore('one')
      return (await sandbox.records.get('pets', 1)).name
    }
    await sandbox.records.set('pets', 1, { name: 'First' })
    await sandbox.snapshots.save('one')
    await sandbox.undo()
    expect(await sandbox.snapshots.list()).toEqual([])
    await sandbox.snapshots.save('one')
    await sandbox.records.set('pets', 1, { name: 'Second' })
    await sandbox.snapshots.save('one')
    expect(await sandbox.undo()).toEqual({ undone: 'snapshots.save', requests: 0 })
    expect(await nameOf()).toBe('First')
    await sandbox.snapshots.remove('one')
    await sandbox.undo()
    expect(await nameOf()).toBe('First')
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
      await sandbox.space('third').keys.add('yours')
      expect(await sandbox.undo()).toMatchObject({ undone: 'keys.remove' })
      await sandbox.space('third').undo()
      expect(await keysOf(), key).toEqual(before)
    }
    expect((await ask(sandbox, '/pets', 'a-secret-of-mine')).status).toBe(200)
  })

  it('of a removed key, in any space, outlives a killed process', async () => {
    const store = join(temporaryFolder(), 'store.json')
    const sandbox = await startSandbox({ ...AT_TEN, store })
    const plans = async (of: Sandbox) => (await of.keys.list()).map(({ key, plan }) => `${key} ${plan}`)
    await sandbox.keys.add('team-a', 'pro')
    await sandbox.plan('team-a', 'business')
    const before = await plans(sandbox)
    const space = sandbox.space('checkout')
    await space.keys.remove('team-a')
    await space.undo()
    expect(await plans(sandbox)).toEqual(before)
    await using again = await startSandbox({ ...AT_TEN, store: copyOf(store) })
    expect(await plans(again)).toEqual(before)
    await sandbox.close()
  })

  it('returns a removed record to its place, also in the store', async () => {
    const store = join(temporaryFolder(), 'store.json')
    const sandbox = await startSandbox({ ...AT_TEN, store })
    const ids = async (of: Sandbox) => (await of.records.list('pets', { limit: 100 })).map(({ id }) => id)
    const all = await ids(sandbox)
    await sandbox.records.remove('pets', 30)
    expect(await sandbox.undo()).toEqual({ undone: 'records.remove', requests: 0 })
    expect(await ids(sandbox)).toEqual(all)
    const { id } = await sandbox.records.add('pets', { name: 'Rex', categoryId: 1 })
    await sandbox.undo()
    expect(await sandbox.records.add('pets', { name: 'Rex', categoryId: 1 })).toMatchObject({ id })
    // A killed process finds the same.
    await using again = await startSandbox({ ...AT_TEN, store: copyOf(store) })
    expect(await ids(again)).toEqual([id, ...all])
    await sandbox.close()
  })

  it('of a reset that removed keys fits a store that is nearly full', async () => {
    const store = join(temporaryFolder(), 'store.json')
    await using sandbox = await startSandbox({ ...AT_TEN, store, maxStore: '64KiB' })
    await sandbox.keys.add('mine', 'pro')
    const add = () => sandbox.records.add('pets', { name: 'x'.repeat(4096), categoryId: 1 })
    for (let isFull = false; !isFull; )
      isFull = await add().then(
        () => false,
        () => true,
      )
    const pets = await sandbox.records.list('pets', { limit: 100 })
    await sandbox.reset()
    expect(await sandbox.undo()).toMatchObject({ undone: 'reset' })
    expect(await sandbox.records.list('pets', { limit: 100 })).toEqual(pets)
    expect((await sandbox.keys.list()).map(({ key }) => key)).toContain('mine')
  })

  it('of a reset forgets the requests that were under way: those after it come one after the other', async () => {
    await using sandbox = await startSandbox({ seed: 1, limits: '1/min', banAfter: 2, latency: 'getPet=50ms' })
    const get = async (path: string) => {
      const response = await fetch(sandbox.baseUrl + path, { headers: { authorization: 'Bearer sandbox' } })
      return response.text()
    }
    const underWay = get('/pets/1')
    await expect.poll(async () => (await sandbox.state()).counts.open).toBe(1)
    await sandbox.reset()
    await underWay
    await sandbox.undo()
    for (let n = 0; n < 3; n++) await get('/pets')
    // Of one sender, the second early request leads to a ban.
    expect((await sandbox.keys.list()).find(({ key }) => key === 'sandbox')?.ban).not.toBeNull()
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
