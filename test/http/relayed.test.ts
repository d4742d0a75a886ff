import { setImmediate as endOfTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSandbox } from '../../src/index.js'

/** A sandbox that refuses whatever it is asked, and those who ask it. */
async function behind(relays: { relayed?: boolean }) {
  const sandbox = await createSandbox({ storm: '1,retry-after=60s' })
  onTestFinished(() => sandbox.close())
  const headers = { authorization: 'Bearer sandbox' }
  const ask = (init = relays) => sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers, ...init })
  const found = async () => (await sandbox.conduct()).violations.map(({ rule, count }) => `${rule} ${count}`)
  return { ask, found }
}

describe('what a client has heard for certain', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Time passes, and each timer has its turn of the event loop. */
  async function pass(duration: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(duration)
    for (let turn = 0; turn < 2; turn++) await endOfTurn()
  }

  it('is what it was given, where it asks by itself', async () => {
    const { ask, found } = await behind({})
    await Promise.all([ask(), ask(), ask()])
    expect(await found()).toEqual([])
    await ask()
    expect(await found()).toEqual(['early-retry 1'])
  })

  it('is what was given 250 ms before, where somebody passes it on', async () => {
    const { ask, found } = await behind({ relayed: true })
    await ask()
    await pass(249)
    await ask()
    expect(await found()).toEqual([])
    await pass(1)
    await ask()
    expect(await found()).toEqual(['early-retry 1'])
  })

  it('is not proved for the one by what the other was given', async () => {
    const { ask, found } = await behind({})
    await ask({ relayed: true })
    // Its answer, though given, comes after one that is on its way.
    await ask({ relayed: false })
    await ask({ relayed: false })
    await ask({ relayed: true })
    expect(await found()).toEqual([])
    await pass(250)
    await ask({ relayed: false })
    expect(await found()).toEqual(['early-retry 1'])
  })

  it('is told of no one who has it passed on by an answer that another was given', async () => {
    const { ask, found } = await behind({})
    await ask({ relayed: false })
    await ask({ relayed: true })
    expect(await found()).toEqual([])
  })
})
