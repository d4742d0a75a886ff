import { describe, expect, it } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true }
const open = (options: SandboxOptions = {}) => createSandbox({ ...AT_TEN, ...options })

describe('what deviates', () => {
  it('is nothing in a space as it began, whatever it began with', async () => {
    await using sandbox = await open({
      storm: '0.3,for=30s',
      fault: 'listPets:503*2',
      latency: '5ms',
      plan: 'pro',
      scenario: { ban: { 'sandbox-free': '5m' } },
    })
    expect((await sandbox.deviations()).filter(({ what }) => what !== 'ban')).toEqual([])
    expect(await sandbox.space('other').reset()).toBeUndefined()
    expect((await sandbox.space('other').deviations()).filter(({ what }) => what !== 'ban')).toEqual([])
  })

  it('is named in a few words, and says when it is over by itself', async () => {
    await using sandbox = await open()
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    await sandbox.faults.set(['listPets:503', '*:hang'])
    await sandbox.settings.change({ latency: '800ms', rateLimit: false, sunset: 'after' })
    await sandbox.clock.advance('1h')
    await sandbox.ban('sandbox-free', { for: '290s' })
    await sandbox.plan('sandbox-pro', 'business')
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    expect(await sandbox.deviations()).toEqual([
      { what: 'storm', name: null, text: 'storm 30 %', until: '2026-03-01T11:00:30.000Z' },
      { what: 'faults', name: null, text: '2 faults', until: null },
      { what: 'clock', name: null, text: 'clock +1 h', until: null },
      { what: 'setting', name: 'rateLimit', text: 'rate-limit off', until: null },
      { what: 'setting', name: 'sunset', text: 'sunset after', until: null },
      { what: 'setting', name: 'latency', text: 'latency 800ms', until: null },
      { what: 'ban', name: 'sandbox-free', text: 'sandbox-free banned', until: '2026-03-01T11:04:50.000Z' },
      { what: 'plan', name: 'sandbox-pro', text: 'sandbox-pro on business', until: null },
    ])
    expect((await sandbox.state()).deviations).toEqual(await sandbox.deviations())
    await sandbox.clock.advance('30s')
    expect((await sandbox.deviations()).map(({ what }) => what)).not.toContain('storm')
  })

  it('is straightened at once, without the loss of a pet, a quota or an exchange', async () => {
    await using sandbox = await open({ limits: '3/min', storm: '1,for=30s' })
    const ask = async () => {
      const headers = { authorization: 'Bearer sandbox' }
      const answer = await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers })
      return [answer.status, answer.headers.get('x-ratelimit-remaining')]
    }
    await sandbox.storm.stop()
    expect(await ask()).toEqual([200, '2'])
    await sandbox.pets.add({ name: 'Rex', categoryId: 1 })
    const { counts } = await sandbox.state()
    await sandbox.faults.add('*:503')
    await sandbox.settings.change({ latency: '1ms', sunset: 'after' })
    await sandbox.ban('sandbox')
    await sandbox.plan('sandbox-free', 'pro')
    expect(await sandbox.deviations.clear()).toEqual({ straightened: 6 })
    expect(await sandbox.deviations()).toEqual([])
    // The storm that it began with blows again.
    expect((await ask())[0]).toBe(429)
    await sandbox.storm.stop()
    expect(await ask()).toEqual([200, '1'])
    expect((await sandbox.state()).counts).toEqual({ ...counts, requests: counts.requests + 2 })
    expect((await sandbox.pets.list({ limit: 1 }))[0]?.name).toBe('Rex')
  })

  it('is straightened with what is there again once the clock is back: a storm, a ban', async () => {
    await using sandbox = await open()
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    await sandbox.ban('sandbox-free', { for: '1m' })
    await sandbox.clock.advance('1h')
    expect((await sandbox.deviations()).map(({ text }) => text)).toEqual(['clock +1 h'])
    expect(await sandbox.deviations.clear()).toEqual({ straightened: 3 })
    expect(await sandbox.deviations()).toEqual([])
  })

  it('is straightened one by one', async () => {
    await using sandbox = await open()
    await sandbox.settings.change({ latency: '1ms', sunset: 'after' })
    await sandbox.clock.resume()
    await sandbox.clock.advance('1h')
    expect(await sandbox.deviations.clear({ what: 'setting', name: 'latency' })).toEqual({ straightened: 1 })
    expect(await sandbox.deviations.clear({ what: 'clock' })).toEqual({ straightened: 1 })
    expect((await sandbox.deviations()).map(({ text }) => text)).toEqual(['sunset after'])
    expect(await sandbox.clock.show()).toEqual({ now: '2026-03-01T10:00:00.000Z', frozen: true })
    await expect(sandbox.deviations.clear({ what: 'tea' as 'storm' })).rejects.toThrow('what')
  })
})
