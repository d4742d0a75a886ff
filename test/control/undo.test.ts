import { describe, expect, it } from 'vitest'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/index.js'

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true }
const open = (options: SandboxOptions = {}) => createSandbox({ ...AT_TEN, ...options })
type Opened = Awaited<ReturnType<typeof open>>

const ask = (sandbox: Pick<Opened, 'fetch' | 'baseUrl'>, path = '/pets', key = 'sandbox') =>
  sandbox.fetch(sandbox.baseUrl + path, { headers: { authorization: `Bearer ${key}` } })

/** All that can be seen of a space. */
async function seen(of: Pick<Sandbox, 'state' | 'pets' | 'requests' | 'conduct' | 'snapshots'>) {
  return [await of.state(), await of.pets.list(), await of.requests(), await of.conduct(), await of.snapshots.list()]
}

describe('undo', () => {
  it('brings back all of a space that was reset: pets, switches, quotas, log and conduct', async () => {
    await using sandbox = await open()
    await ask(sandbox, '/pets?limit=0')
    await ask(sandbox, '/pets/1', 'sandbox-pro')
    await sandbox.pets.remove(3)
    await sandbox.keys.add('mine', 'pro')
    await sandbox.storm.start({ rate: 0.5 })
    await sandbox.clock.advance('1h')
    await sandbox.ban('sandbox-free')
    await sandbox.snapshots.save('here')
    const before = await seen(sandbox)
    await sandbox.reset()
    expect(await seen(sandbox)).not.toEqual(before)
    expect(await sandbox.undo()).toEqual({ undone: 'reset' })
    expect(await seen(sandbox)).toEqual(before)
    await expect(sandbox.undo()).rejects.toThrow('nothing to undo')
  })

  it('brings back what a snapshot has replaced, and a clock that went on', async () => {
    await using sandbox = await open()
    await sandbox.snapshots.save('start')
    await sandbox.pets.add({ name: 'Rex', categoryId: 1 })
    await sandbox.settings.change({ latency: '1ms' })
    const before = await seen(sandbox)
    await sandbox.snapshots.restore('start')
    expect((await sandbox.pets.list({ limit: 1 }))[0]?.name).not.toBe('Rex')
    expect(await sandbox.undo()).toEqual({ undone: 'snapshots.restore' })
    expect(await seen(sandbox)).toEqual(before)
  })

  it('puts a pet back in its place', async () => {
    await using sandbox = await open({ pets: 5 })
    const before = await sandbox.pets.list()
    for (const { id } of before) {
      await sandbox.pets.remove(id)
      expect(await sandbox.pets.list()).toHaveLength(4)
      expect(await sandbox.undo()).toEqual({ undone: 'pets.remove' })
      expect(await sandbox.pets.list()).toEqual(before)
    }
  })

  it('gives a removed key back what it had: condition, plan, quotas and ban, in each space', async () => {
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
      expect(await sandbox.undo()).toEqual({ undone: 'keys.remove' })
      await sandbox.keys.remove('yours')
      expect(await keysOf(), key).toEqual(before)
    }
    expect((await ask(sandbox, '/pets', 'a-secret-of-mine')).status).toBe(200)
    await sandbox.keys.remove('sandbox-free')
    await sandbox.keys.add('sandbox-free')
    await expect(sandbox.undo()).rejects.toThrow('nothing to undo')
  })

  it('brings back a cleared log, with what has come since behind it', async () => {
    await using sandbox = await open()
    for (const limit of [1, 2]) await ask(sandbox, `/pets?limit=${limit}`)
    await sandbox.requests.clear()
    await ask(sandbox, '/pets?limit=3')
    expect(await sandbox.undo()).toEqual({ undone: 'requests.clear' })
    await ask(sandbox, '/pets?limit=4')
    expect((await sandbox.requests()).map(({ id, query, ended }) => [id, query, ended])).toEqual(
      [1, 2, 3, 4].map((id) => [id, `limit=${id}`, 'sent']),
    )
  })

  it('takes back a scenario and cleared deviations, but no pet that was added since', async () => {
    await using sandbox = await open()
    await sandbox.settings.change({ latency: '1ms' })
    const before = await sandbox.deviations()
    await sandbox.scenario({ storm: 1, ban: { sandbox: '5m' }, latency: '2ms', now: '2026-03-01T11:00:00Z' })
    const { id } = await sandbox.pets.add({ name: 'Rex', categoryId: 1 })
    await sandbox.undo()
    expect(await sandbox.deviations()).toEqual(before)
    expect((await sandbox.pets.list({ limit: 1 }))[0]?.id).toBe(id)
    await sandbox.deviations.clear()
    expect(await sandbox.deviations()).toEqual([])
    expect(await sandbox.undo()).toEqual({ undone: 'deviations.clear' })
    expect(await sandbox.deviations()).toEqual(before)
  })

  it('brings back a space that was removed', async () => {
    await using sandbox = await open()
    const space = sandbox.space('checkout')
    await ask(sandbox, '/pets', 'sandbox~checkout')
    await space.pets.remove(1)
    await space.snapshots.save('mine')
    const before = await seen(space)
    await space.remove()
    expect(await sandbox.spaces.list()).toEqual([])
    await expect(sandbox.undo()).rejects.toThrow('nothing to undo')
    expect(await space.undo()).toEqual({ undone: 'spaces.remove' })
    expect(await seen(space)).toEqual(before)
  })

  it('is for the last thing in this space only, and opens no space', async () => {
    await using sandbox = await open()
    await sandbox.space('a').reset()
    await sandbox.pets.remove(1)
    await expect(sandbox.space('a').undo()).rejects.toThrow('nothing to undo')
    await expect(sandbox.space('b').undo()).rejects.toThrow('nothing to undo')
    expect((await sandbox.spaces.list()).map(({ name }) => name)).toEqual(['a'])
    expect(await sandbox.undo()).toEqual({ undone: 'pets.remove' })
  })
})
