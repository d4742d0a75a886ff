import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import type { ScenarioContent } from '../../src/options/options.js'

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z', freeze: true }

const CHANGED: readonly (readonly [string, ScenarioContent])[] = [
  ['a storm', { storm: '0.3,for=30s,every=5m,retry-after=2s' }],
  ['a storm of a rate with many digits', { storm: '0.0000001' }],
  ['faults', { fault: ['listPets:503@20%*3', '*:hang', 'createPet:503,retry-after=2s'] }],
  ['settings', { plan: 'pro', limits: '5/min', latency: '50ms..200ms', banAfter: 'never', retryAfter: 'http-date' }],
  ['a switch that is off', { rateLimit: false, sunset: 'brownout', sunsetStatus: 410, senders: 4, banStatus: 401 }],
  ['a ban', { ban: { 'sandbox-free': '5m' } }],
  ['a clock', { now: '2031-03-01T10:00:00Z', freeze: true }],
]

describe('an export', () => {
  it.each(CHANGED)('restores in another sandbox: %s', async (_what, scenario) => {
    await using one = await createSandbox(AT_TEN)
    await one.scenario(scenario)
    const { content, scenario: yaml, test, notExportable } = await one.export()
    expect(notExportable).toEqual([])
    expect(await state(one)).toMatchObject({ clock: { frozen: true } })
    for (const taken of [content, parse(yaml), JSON.parse(/scenario\((\{.*?\n {2}\})\)/s.exec(test)?.[1] ?? '')]) {
      await using other = await createSandbox({ seed: 1 })
      await other.scenario(taken)
      expect(await state(other)).toEqual(await state(one))
    }
  })

  it('keeps the offset of a running clock from real time', async () => {
    await using one = await createSandbox({ seed: 1, now: '+3d' })
    await one.scenario({ now: '-2h' })
    expect((await one.export()).content).toEqual({ now: '-2h' })
    await one.clock.advance('28h')
    const { content, flags } = await one.export()
    expect([content, flags]).toEqual([{ now: '+1d2h' }, '--now +1d2h\n'])
    for (const option of [content, { scenario: content }]) {
      await using other = await createSandbox({ seed: 1, ...option })
      expect((await other.export()).content).toEqual({ now: '+1d2h' })
      await other.clock.advance('1h')
      await other.reset()
      expect((await other.export()).content).toEqual({ now: '+1d2h' })
    }
  })

  it('omits storms, faults and bans that are over', async () => {
    await using sandbox = await createSandbox({ ...AT_TEN, now: '2026-03-01T09:00:00Z' })
    await sandbox.scenario({ storm: '1,for=30s', ban: { sandbox: '1m' }, fault: ['getPet:503*1', 'listPets:503*2'] })
    await sandbox.clock.advance('1h')
    const headers = { authorization: 'Bearer sandbox-pro' }
    for (const path of ['/pets/1', '/pets']) await sandbox.fetch(sandbox.baseUrl + path, { headers })
    const { content } = await sandbox.export()
    expect(content).toEqual({ fault: ['listPets:503*1'], now: '2026-03-01T10:00:00.000Z', freeze: true })
  })

  it('is empty for the defaults, and lists overrides that cannot be exported', async () => {
    await using sandbox = await createSandbox()
    expect(await sandbox.export()).toMatchObject({ content: {}, flags: '\n', notExportable: [] })
    await sandbox.plan('sandbox-free', 'pro')
    expect((await sandbox.export()).notExportable).toEqual(['the plan pro of the key sandbox-free'])
  })
})

async function state(sandbox: Awaited<ReturnType<typeof createSandbox>>) {
  const { settings, storm, faults, clock, keys } = await sandbox.state()
  const bans = keys.map(({ key, ban }) => [key, ban])
  return { settings, storm, faults, clock, bans }
}
