import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openSandboxCore } from '../../src/compose.js'
import { perform } from '../../src/control/perform.js'
import type { VerbName } from '../../src/control/verb-map.js'
import { VERBS } from '../../src/control/verbs.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { systemClock } from '../../src/system/system-clock.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { serviceRequest } from '../support/service-request.js'

const TEN = Date.parse('2026-03-01T10:00:00Z')

/** Each reading of the wall clock is a second later than the previous one. */
let readings = 0

beforeEach(() => {
  readings = 0
  vi.spyOn(systemClock, 'wall').mockImplementation(() => TEN + readings++ * 1000)
})
afterEach(() => vi.restoreAllMocks())

async function open(options: SandboxOptions = {}) {
  const core = await openSandboxCore(embeddedOptions(options), {})
  return {
    core,
    verb: <Name extends VerbName>(name: Name, input: unknown = {}, space = '') =>
      perform(core.controlTarget, space, name, input),
  }
}

const INPUTS: Partial<Record<VerbName, object>> = {
  'settings.change': { plan: 'pro' },
  'clock.set': { frozen: true },
  'clock.advance': { by: '0s' },
  'keys.add': { key: 'mine' },
  'keys.change': { key: 'sandbox', plan: 'pro' },
  'keys.remove': { key: 'sandbox-free' },
  'keys.ban': { key: 'sandbox' },
  'keys.unban': { key: 'sandbox' },
  'faults.set': { rules: [] },
  'faults.add': { rule: '*:503' },
  'scenario.apply': {
    scenario: { now: '2026-03-01T09:00:00Z', used: { sandbox: '1/min' }, ban: { 'sandbox-free': '1m' } },
  },
  'pets.add': { name: 'Rex', categoryId: 1 },
  'pets.set': { id: 1, name: 'Rex' },
  'pets.remove': { id: 1 },
  'records.list': { resource: 'pets' },
  'records.add': { resource: 'pets', record: { name: 'Rex', categoryId: 1 } },
  'records.set': { resource: 'pets', id: '1', change: { name: 'Rex' } },
  'records.remove': { resource: 'pets', id: '1' },
  'snapshots.save': { name: 'new' },
  'snapshots.restore': { name: 'kept' },
  'snapshots.remove': { name: 'kept' },
  'spaces.remove': { name: 'open' },
  'spaces.copy': { name: 'open' },
}

describe('the wall clock', () => {
  // A replay sends a request, which has its own instant.
  it.each((Object.keys(VERBS) as VerbName[]).filter((name) => name !== 'requests.replay'))(
    'is read once at most by %s',
    async (name) => {
      const { verb } = await open()
      await verb('snapshots.save', { name: 'kept' })
      await verb('storm.start', {}, 'open')
      for (const space of name === 'undo' ? ['opened', ''] : []) await verb('reset', {}, space)
      const before = readings
      await verb(name, INPUTS[name])
      expect(readings - before).toBeLessThanOrEqual(1)
      const between = readings
      if (VERBS[name].method === 'GET' || VERBS[name].method === 'DELETE') return
      if (name !== 'snapshots.restore' && name !== 'undo')
        await verb(name, { ...INPUTS[name], ...(name === 'keys.add' ? { key: 'other' } : {}) }, 'opened')
      expect(readings - between).toBeLessThanOrEqual(1)
    },
  )

  it('is read once for a request that opens a space and starts its storm', async () => {
    const { core, verb } = await open({ storm: '1,for=1s' })
    const before = readings
    const reply = await core.service(serviceRequest({ headers: { authorization: 'Bearer sandbox~new' } }))
    expect(readings - before).toBe(1)
    expect(reply.status).toBe(429)
    expect((await verb('storm.show', {}, 'new'))?.startedAt).toBe(
      new Date(reply.headers[reply.headers.indexOf('Date') + 1] ?? '').toISOString(),
    )
  })
})

it('--freeze without --now freezes every space, also after a reset, at the start of the sandbox', async () => {
  const { core, verb } = await open({ freeze: true })
  const now = core.identity.startedAt
  for (const space of ['', 'a']) {
    expect(await verb('clock.set', {}, space)).toEqual({ now, frozen: true })
    await verb('clock.advance', { by: '1h' }, space)
    await verb('reset', {}, space)
    expect(await verb('clock.show', {}, space)).toEqual({ now, frozen: true })
  }
})
