import { describe, expect, it } from 'vitest'
import { createSandbox, type SocketlessSandbox } from '../../src/index.js'

const FROZEN = { seed: 1, now: '2030-01-01T00:00:00Z', freeze: true, limits: '3/min' }

const status = async (sandbox: SocketlessSandbox, key: string) =>
  (await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: `Bearer ${key}` } })).status

describe('a copy of a space', () => {
  it('has its pets, settings, clock, storm, quotas and bans, and not its log', async () => {
    await using sandbox = await createSandbox(FROZEN)
    const [a, b] = [sandbox.space('a'), sandbox.space('b')]
    await a.records.add('pets', { name: 'Rex', categoryId: 1 })
    await a.settings.change({ latency: '1ms', banDuration: '7m' })
    await a.clock.advance('1h')
    await a.ban('sandbox-pro')
    for (let n = 0; n < 3; n++) expect(await status(sandbox, a.key())).toBe(200)
    await b.copyFrom('a')
    const [{ space: _a, undo: _noUndo, ...ofA }, { space: _b, undo, ...ofB }] = [await a.state(), await b.state()]
    const active = ofA.active.map((one) => (one.name === 'latency' ? { ...one, hits: 0 } : one))
    expect({ ...ofB, counts: { ...ofB.counts, requests: 3, logged: 3 } }).toEqual({ ...ofA, active })
    expect(undo?.verb).toBe('spaces.copy')
    expect(await b.records.list('pets')).toEqual(await a.records.list('pets'))
    expect(await b.requests()).toEqual([])
    expect(await status(sandbox, b.key())).toBe(429)
    expect(await status(sandbox, b.key('pro'))).toBe(429)
  })

  it('is separate from its source afterwards, and can be undone', async () => {
    await using sandbox = await createSandbox(FROZEN)
    const [a, b] = [sandbox.space('a'), sandbox.space('b')]
    await a.records.remove('pets', 1)
    await b.records.remove('pets', 2)
    await b.copyFrom('a')
    await b.records.remove('pets', 3)
    const ids = async (space: typeof a) =>
      (await space.records.list('pets')).map(({ id }) => Number(id)).filter((id) => id < 5)
    expect(await ids(a)).toEqual([4, 3, 2])
    expect(await ids(b)).toEqual([4, 2])
    await b.copyFrom('a')
    await b.undo()
    expect(await ids(b)).toEqual([4, 2])
  })

  it('of the default space is made without a name', async () => {
    await using sandbox = await createSandbox(FROZEN)
    await sandbox.records.remove('pets', 1)
    await sandbox.settings.change({ plan: 'pro' })
    const b = sandbox.space('b')
    await b.copyFrom()
    expect(await b.records.list('pets')).toEqual(await sandbox.records.list('pets'))
    expect((await b.settings.show()).plan).toBe('pro')
  })

  it('of a space that is not open is refused and opens none; of a space with itself changes nothing', async () => {
    await using sandbox = await createSandbox(FROZEN)
    await expect(sandbox.space('b').copyFrom('a')).rejects.toMatchObject({ code: 'not_found' })
    expect(await sandbox.spaces.list()).toEqual([])
    const a = sandbox.space('a')
    await a.records.remove('pets', 1)
    const before = await a.state()
    await a.copyFrom('a')
    expect(await a.state()).toEqual(before)
  })
})
