import { setImmediate as endOfTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { systemClock } from '../../src/system/system-clock.js'

async function behind(relays: { relayed?: boolean }) {
  const sandbox = await createSandbox({ storm: '1,retry-after=60s' })
  onTestFinished(() => sandbox.close())
  const headers = { authorization: 'Bearer sandbox' }
  const ask = (init = relays) => sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers, ...init })
  const found = async () => (await sandbox.conduct()).violations.map(({ rule, count }) => `${rule} ${count}`)
  return { ask, found }
}

describe('responses that a client has certainly received', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    vi.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now())
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  /** Advances time, with turns of the event loop for timers. */
  async function pass(duration: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(duration)
    for (let turn = 0; turn < 2; turn++) await endOfTurn()
  }

  it('are those returned to a direct caller', async () => {
    const { ask, found } = await behind({})
    await Promise.all([ask(), ask(), ask()])
    expect(await found()).toEqual([])
    await ask()
    expect(await found()).toEqual(['early-retry 1'])
  })

  it('are those returned 250 ms before, behind a relay', async () => {
    const { ask, found } = await behind({ relayed: true })
    await ask()
    await pass(249)
    await ask()
    expect(await found()).toEqual([])
    await pass(1)
    await ask()
    expect(await found()).toEqual(['early-retry 1'])
  })

  it('are not proven for one client by a response to another', async () => {
    const { ask, found } = await behind({})
    await ask({ relayed: true })
    // Returned, but after a response that is still in flight.
    await ask({ relayed: false })
    await ask({ relayed: false })
    await ask({ relayed: true })
    expect(await found()).toEqual([])
    await pass(250)
    await ask({ relayed: false })
    expect(await found()).toEqual(['early-retry 1'])
  })
})
