import { mock } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import sinon from '@sinonjs/fake-timers'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Controls, connectSandbox, createSandbox, startSandbox } from '../../src/index.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'

afterEach(() => {
  vi.useRealTimers()
})

async function frozenSandbox(options: Parameters<typeof createSandbox>[0] = {}) {
  const sandbox = await createSandbox({ freeze: true, now: '2030-01-01T00:00:00Z', ...options })
  onTestFinished(() => sandbox.close())
  const status = async () => {
    const response = await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
    await response.text()
    return response.status
  }
  /** The sandbox's clock at each request. */
  const times = async () => (await sandbox.requests()).map(({ at }) => at.slice(11, 23))
  return { sandbox, status, times }
}

function nodeTimers() {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  onTestFinished(() => mock.timers.reset())
  return mock.timers
}

type Timers = NonNullable<NonNullable<Parameters<Controls['clock']['advance']>[1]>['timers']>

const TOOLS: Readonly<Record<string, () => Timers>> = {
  Vitest: () => vi.useFakeTimers(),
  '@sinonjs/fake-timers'() {
    const timers = sinon.install({ toNotFake: ['nextTick', 'queueMicrotask'] })
    onTestFinished(() => timers.uninstall())
    return timers
  },
  'node:test': nodeTimers,
}

describe('a clock that is advanced with fake timers', () => {
  it.each(Object.entries(TOOLS))('fires each when it is due, or a tenth of its wait later: %s', async (_tool, fake) => {
    const { sandbox, status, times } = await frozenSandbox()
    const timers = fake()
    setTimeout(async () => {
      await status()
      setTimeout(() => void status(), 1500)
    }, 500)
    const { now } = await sandbox.clock.advance('1m', { timers })
    const [first = 0, second = 0] = (await times()).map((at) => Date.parse(`1970-01-01T${at}Z`))
    expect(first).toBeGreaterThanOrEqual(500)
    expect(first).toBeLessThanOrEqual(550)
    expect(second).toBeGreaterThanOrEqual(2000)
    expect(second).toBeLessThanOrEqual(first + 1650)
    expect(now).toBe('2030-01-01T00:01:00.000Z')
  })

  it.each(['5ms', '300ms'])('waits for a response that is on its way for %s before it moves', async (latency) => {
    const { sandbox, status } = await frozenSandbox({ limits: '1/min', latency })
    await status()
    const timers = vi.useFakeTimers()
    const statuses: number[] = []
    void (async () => {
      statuses.push(await status())
      setTimeout(async () => statuses.push(await status()), 60_000)
    })()
    await sandbox.clock.advance('1m', { timers })
    expect(statuses).toEqual([429, 200])
  })

  it('also over a network, without the fetch and the timers of the test', async () => {
    await using sandbox = await startSandbox({ freeze: true, now: '2030-01-01T00:00:00Z' })
    vi.useFakeTimers()
    vi.stubGlobal('fetch', () => new Promise(() => {}))
    onTestFinished(() => void vi.unstubAllGlobals())
    const { now } = await connectSandbox(sandbox.controlUrl, { timeout: `${STEP_PATIENCE_MS}ms` }).clock.advance(
      '24h',
      { timers: vi },
    )
    expect(now).toBe('2030-01-02T00:00:00.000Z')
  })

  it('also in an environment without MessageChannel', async () => {
    const { sandbox, status, times } = await frozenSandbox()
    const timers = vi.useFakeTimers()
    vi.stubGlobal('MessageChannel', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    setTimeout(() => void status(), 30_000)
    await sandbox.clock.advance('1m', { timers })
    expect(await times()).toEqual(['00:00:30.000'])
  })

  it('waits once for a look-up that hangs, not at each step', async () => {
    const { sandbox } = await frozenSandbox()
    const timers = nodeTimers()
    const looks = vi.spyOn(process, 'getActiveResourcesInfo').mockReturnValue([])
    onTestFinished(() => looks.mockRestore())
    await sandbox.clock.advance('1h', { timers })
    const without = looks.mock.calls.length
    looks.mockClear().mockReturnValue(['GetAddrInfoReqWrap'])
    await sandbox.clock.advance('1h', { timers })
    expect(looks.mock.calls.length).toBeGreaterThan(without)
    expect(looks.mock.calls.length).toBeLessThan(2 * without)
  })

  it('are optional: without them, only the clock moves', async () => {
    const { sandbox } = await frozenSandbox()
    const { now } = await sandbox.clock.advance('1m', { timers: undefined })
    expect(now).toBe('2030-01-01T00:01:00.000Z')
  })

  it('takes few steps for a client that polls', async () => {
    const { sandbox, status } = await frozenSandbox({ plan: 'enterprise' })
    vi.useFakeTimers()
    const poll = setInterval(() => void status(), 10_000)
    await sandbox.clock.advance('24h', { timers: vi })
    clearInterval(poll)
    expect((await sandbox.state()).counts.requests).toBe(8640)
  })

  it('does not fire timers that are due later, and goes on from there', async () => {
    const { sandbox, status, times } = await frozenSandbox()
    vi.useFakeTimers()
    setTimeout(() => void status(), 90_000)
    await sandbox.clock.advance('1m', { timers: vi })
    expect(await times()).toEqual([])
    await sandbox.clock.advance('30s', { timers: vi })
    expect(await times()).toEqual(['00:01:30.000'])
  })

  it('lets the timers of a running clock keep up with it', async () => {
    const sandbox = await createSandbox()
    onTestFinished(() => sandbox.close())
    vi.useFakeTimers()
    const before = Date.parse((await sandbox.clock.show()).now)
    await sandbox.clock.advance('24h', { timers: vi })
    const passed = Date.parse((await sandbox.clock.show()).now) - before
    expect(passed).toBeGreaterThanOrEqual(86_400_000)
    // Real time adds to it; the faked Date does not count a second time.
    expect(passed).toBeLessThan(2 * 86_400_000)
  })

  it('opens the space whose clock it moves, moves no other, and leaves AbortSignal.timeout to real time', async () => {
    const { sandbox } = await frozenSandbox()
    vi.useFakeTimers()
    const signal = AbortSignal.timeout(30_000)
    const { now } = await sandbox.space('new').clock.advance('1m', { timers: vi })
    expect([now, signal.aborted]).toEqual(['2030-01-01T00:01:00.000Z', false])
    expect((await sandbox.clock.show()).now).toBe('2030-01-01T00:00:00.000Z')
  })

  it('stays where it is if the timers are not faked, or the duration is invalid', async () => {
    const { sandbox } = await frozenSandbox()
    await expect(sandbox.clock.advance('1m', { timers: vi })).rejects.toThrow(/not mocked/)
    vi.useFakeTimers()
    await expect(sandbox.clock.advance('soon' as '1m', { timers: vi })).rejects.toThrow('by "soon"')
    expect((await sandbox.clock.show()).now).toBe('2030-01-01T00:00:00.000Z')
  })
})

it('a sandbox in the process of a test with fake timers responds, and keeps its own clock', async () => {
  await using sandbox = await startSandbox({ latency: '1ms' })
  vi.useFakeTimers({ now: 0 })
  const response = await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
  expect(response.status).toBe(200)
  expect(new Date((await sandbox.clock.show()).now).getFullYear()).toBeGreaterThan(2000)
  await endOfTurn()
  vi.useRealTimers()
})

it('advances the clock of a page in few steps, after the sandbox’s clock in each', async () => {
  const sandbox = await createSandbox({ now: '2026-03-01T10:00:00Z', freeze: true })
  onTestFinished(() => sandbox.close())
  const seen: [page: number, sandbox: number][] = []
  let pageNow = 0
  const runFor = async (by: number) => {
    pageNow += by
    seen.push([pageNow, Date.parse((await sandbox.clock.show()).now) - Date.parse('2026-03-01T10:00:00Z')])
  }
  const after = await sandbox.clock.advance('1m', { page: { clock: { runFor } } })
  expect(after.now).toBe('2026-03-01T10:01:00.000Z')
  expect(seen).toEqual([10, 20, 30, 40, 50, 60].map((seconds) => [1000 * seconds, 1000 * seconds]))
})
