import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { perform } from '../../src/control/perform.js'
import type { VerbName } from '../../src/control/verb-map.js'
import { VERBS } from '../../src/control/verbs.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { openSandboxCore } from '../../src/start/compose.js'
import { systemClock } from '../../src/system/system-clock.js'
import { Commands } from '../machine/commands.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { serviceRequest } from '../support/service-request.js'
import { TEST_SEED } from '../support/test-seed.js'

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

describe('the wall clock', () => {
  it('is read at most once by any verb, done or refused', async () => {
    const { verb } = await open()
    const commands = new Commands(TEST_SEED)
    const changes = Array.from({ length: 500 }, () => commands.verb())
    // A replay sends a request, which has its own instant.
    const others = (Object.keys(VERBS) as VerbName[])
      .filter((name) => VERBS[name].method === 'GET' || name === 'shutdown')
      .map((name) => ({ space: '', verb: name, input: name === 'records.list' ? { resource: 'pets' } : {} }))
    for (const { space, verb: name, input } of [...changes, ...others]) {
      const before = readings
      await verb(name as VerbName, input, space).catch(() => {})
      expect(readings - before, name).toBeLessThanOrEqual(1)
    }
  })

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
