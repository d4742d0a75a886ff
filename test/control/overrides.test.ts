import { describe, expect, it } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true }
const open = (options: SandboxOptions = {}) => createSandbox({ ...AT_TEN, ...options })

describe('overrides', () => {
  it('are empty at the start, whatever the options', async () => {
    const scenario = { ban: { 'sandbox-free': '5m' } } as const
    await using sandbox = await open({ storm: '0.3,for=30s', fault: '*:503*2', latency: '5ms', plan: 'pro', scenario })
    await sandbox.space('other').reset()
    for (const controls of [sandbox, sandbox.space('other')])
      expect((await controls.overrides()).filter(({ what }) => what !== 'ban')).toEqual([])
  })

  it('have a short text, and the instant at which they end', async () => {
    await using sandbox = await open()
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    await sandbox.faults.set(['listPets:503', '*:hang'])
    await sandbox.settings.change({ latency: '800ms', rateLimit: false, sunset: 'after' })
    await sandbox.clock.advance('1h')
    await sandbox.ban('sandbox-free', { for: '290s' })
    await sandbox.plan('sandbox-pro', 'business')
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    expect(await sandbox.overrides()).toEqual([
      { what: 'storm', name: null, text: 'storm 30 %', until: '2026-03-01T11:00:30.000Z' },
      { what: 'faults', name: null, text: '2 faults', until: null },
      { what: 'clock', name: null, text: 'clock +1h', until: null },
      { what: 'setting', name: 'rateLimit', text: 'rate-limit off', until: null },
      { what: 'setting', name: 'sunset', text: 'sunset after', until: null },
      { what: 'setting', name: 'latency', text: 'latency 800ms', until: null },
      { what: 'ban', name: 'sandbox-free', text: 'sandbox-free banned', until: '2026-03-01T11:04:50.000Z' },
      { what: 'plan', name: 'sandbox-pro', text: 'sandbox-pro on business', until: null },
    ])
    expect((await sandbox.state()).overrides).toEqual(await sandbox.overrides())
    await sandbox.clock.advance('30s')
    expect((await sandbox.overrides()).map(({ what }) => what)).not.toContain('storm')
  })

  it('are reset together; pets, quotas and the log stay', async () => {
    await using sandbox = await open({ limits: '3/min', storm: '1,for=30s' })
    const ask = async () => {
      const headers = { authorization: 'Bearer sandbox' }
      const response = await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers })
      return [response.status, response.headers.get('x-ratelimit-remaining')]
    }
    await sandbox.storm.stop()
    expect(await ask()).toEqual([200, '2'])
    await sandbox.records.add('pets', { name: 'Rex', categoryId: 1 })
    const { counts } = await sandbox.state()
    await sandbox.faults.add('*:503')
    await sandbox.settings.change({ latency: '1ms', sunset: 'after' })
    await sandbox.ban('sandbox')
    await sandbox.plan('sandbox-free', 'pro')
    expect(await sandbox.overrides.clear()).toEqual({ cleared: 6 })
    expect(await sandbox.overrides()).toEqual([])
    // The initial storm is active again.
    expect((await ask())[0]).toBe(429)
    await sandbox.storm.stop()
    expect(await ask()).toEqual([200, '1'])
    expect((await sandbox.state()).counts).toEqual({
      ...counts,
      requests: counts.requests + 2,
      logged: counts.logged + 2,
    })
    expect((await sandbox.records.list('pets', { limit: 1 }))[0]?.name).toBe('Rex')
  })

  it('include storms and bans that are active again after the clock is reset', async () => {
    await using sandbox = await open()
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    await sandbox.ban('sandbox-free', { for: '1m' })
    await sandbox.clock.advance('1h')
    expect((await sandbox.overrides()).map(({ text }) => text)).toEqual(['clock +1h'])
    expect(await sandbox.overrides.clear()).toEqual({ cleared: 3 })
    expect(await sandbox.overrides()).toEqual([])
  })

  it('omit a used-up fault', async () => {
    await using sandbox = await open({ fault: 'getPet:503' })
    await sandbox.faults.add('listPets:503*1')
    expect((await sandbox.overrides()).map(({ text }) => text)).toEqual(['2 faults'])
    await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
    expect(await sandbox.overrides()).toEqual([])
  })

  it('are reset by kind, and individually', async () => {
    await using sandbox = await open()
    await sandbox.settings.change({ latency: '1ms', sunset: 'after' })
    await sandbox.storm.start()
    await sandbox.clock.resume()
    await sandbox.clock.advance('1h')
    expect(await sandbox.overrides.clear({ what: 'setting', name: 'latency' })).toEqual({ cleared: 1 })
    expect(await sandbox.overrides.clear({ what: 'clock' })).toEqual({ cleared: 1 })
    expect((await sandbox.overrides()).map(({ text }) => text)).toEqual(['storm 100 %', 'sunset after'])
    expect(await sandbox.clock.show()).toEqual({ now: '2026-03-01T10:00:00.000Z', frozen: true })
    await sandbox.settings.change({ banAfter: 2 })
    expect(await sandbox.overrides.clear({ what: 'setting' })).toEqual({ cleared: 2 })
    expect((await sandbox.overrides()).map(({ what }) => what)).toEqual(['storm'])
    await expect(sandbox.overrides.clear({ name: 'latency' })).rejects.toThrow('needs "what"')
    await expect(sandbox.overrides.clear({ what: 'tea' as 'storm' })).rejects.toThrow('what')
  })

  it('give a fault rule of the start back, at its place, although others have the same text', async () => {
    const rule = (name: string) => ({ operation: 'getPet', status: 404, headers: { 'X-Name': name } })
    await using sandbox = await open({ fault: [rule('one'), rule('two'), '*:503*5'] })
    await sandbox.faults.add('listPets:hang')
    const [one, two] = await sandbox.faults.list()
    for (const removed of [two, one]) await sandbox.faults.clear(removed?.id)
    const { active } = await sandbox.state()
    const [, second] = active.filter(({ isOff }) => isOff)
    expect(second).toMatchObject({ text: 'getPet:404', origin: '--fault' })
    const name = second?.id ?? ''
    expect(await sandbox.overrides.clear({ what: 'faults', name })).toEqual({ cleared: 1 })
    const names = async () =>
      (await sandbox.faults.list()).map(({ operation, headers }) => headers?.['X-Name'] ?? operation)
    expect(await names()).toEqual(['two', '*', 'listPets'])
    expect(await sandbox.overrides.clear({ what: 'faults', name })).toEqual({ cleared: 0 })
    await sandbox.overrides.clear({ what: 'faults' })
    expect(await names()).toEqual(['one', 'two', '*'])
  })

  it('are one of two equal fault rules of the start, which comes back', async () => {
    await using sandbox = await open({ fault: ['getPet:503*1', 'getPet:503*1'] })
    const [first] = await sandbox.faults.list()
    await sandbox.faults.clear(first?.id)
    const off = async () => (await sandbox.state()).active.filter(({ isOff }) => isOff).map(({ text }) => text)
    expect(await off()).toEqual(['getPet:503*1'])
    expect(await sandbox.overrides.clear({ what: 'faults' })).toEqual({ cleared: 1 })
    expect(await sandbox.faults.list()).toHaveLength(2)
    expect(await off()).toEqual([])
  })

  it('are a plan of null, which is the plan of the contract', async () => {
    await using sandbox = await open({ plan: 'pro' })
    expect(await sandbox.settings.change({ plan: null })).toMatchObject({ plan: 'free' })
    expect((await sandbox.state()).active).toContainEqual(
      expect.objectContaining({ text: 'plan pro for sandbox', origin: '--plan', isOff: true }),
    )
    expect((await sandbox.export()).content).not.toHaveProperty('plan')
  })
})

describe('fault rules', () => {
  it('are removed by their ids; the others keep their order, their ids and what is left of them', async () => {
    await using sandbox = await open({ fault: ['getPet:503', 'listPets:503*5', 'createPet:503*1'] })
    await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
    const [first, second, third] = await sandbox.faults.list()
    await sandbox.faults.add('getPet:404')
    const left = await sandbox.faults.clear(`${first?.id},${third?.id}`)
    expect(left).toEqual([second, expect.objectContaining({ operation: 'getPet', status: 404 })])
    expect(second).toMatchObject({ left: 4, times: 5 })
    expect(await sandbox.faults.clear('7.7')).toEqual(left)
    expect((await sandbox.events()).at(-1)?.text).toBe('Faults left: listPets:503*5 getPet:404.')
    await sandbox.undo()
    expect(await sandbox.faults.list()).toHaveLength(4)
  })
})
