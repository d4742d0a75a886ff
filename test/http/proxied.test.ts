import { setImmediate as endOfTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Conduct } from '../../src/conduct/conduct-view.js'
import { systemClock } from '../../src/system/system-clock.js'
import { NOON, type TestSandbox, transports } from '../support/transports.js'

const VIA = { via: '1.1 gateway' }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now())
  vi.spyOn(systemClock, 'wall').mockImplementation(() => NOON + performance.now())
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

async function conduct(sandbox: TestSandbox): Promise<Conduct> {
  return (await sandbox.control('GET', '/conduct')).json as unknown as Conduct
}

/** Advances time, with turns of the event loop for timers. */
async function pass(duration: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(duration)
  for (let turn = 0; turn < 2; turn++) await endOfTurn()
}

describe.each(transports.slice(0, 2))('a request that names a proxy, %s', (_name, openSandbox) => {
  const open = () => openSandbox({ storm: '1,retry-after=60s' })
  const ask = (sandbox: TestSandbox, headers: Record<string, string> = VIA) => sandbox.call('/v1/pets', { headers })
  const found = async (sandbox: TestSandbox) => {
    const { violations, warnings } = await conduct(sandbox)
    return [...violations, ...warnings].map(({ rule, count }) => `${rule} ${count}`)
  }

  it.each([VIA, { forwarded: 'for=192.0.2.1' }, { 'x-forwarded-for': '192.0.2.1' }, { 'x-forwarded-prefix': '/api' }])(
    'is certainly early 250 ms after the refusal: %j',
    async (headers) => {
      const sandbox = await open()
      await ask(sandbox, headers)
      await pass(250)
      await ask(sandbox, headers)
      expect(await found(sandbox)).toEqual(['early-retry 1'])
    },
  )

  it('is only likely to be early before, also on the connection of the refusal, which other clients share', async () => {
    const sandbox = await open()
    await ask(sandbox)
    await pass(249)
    await ask(sandbox)
    expect(await found(sandbox)).toEqual(['early-retry-likely 1'])
  })

  it('is early if a loop goes on', async () => {
    const sandbox = await open()
    for (let request = 0; request < 10; request++) {
      await ask(sandbox)
      await pass(100)
    }
    expect((await conduct(sandbox)).violations).toMatchObject([{ rule: 'early-retry' }])
  })

  it('changes nothing for direct requests', async () => {
    const sandbox = await open()
    await ask(sandbox, { 'x-request-id': 'via', 'x-forward': '1' })
    await ask(sandbox, {})
    expect(await found(sandbox)).toEqual(['early-retry 1'])
  })
})
