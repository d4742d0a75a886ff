import { describe, expect, it } from 'vitest'
import { conductReport } from '../../src/conduct/conduct-report.js'
import type { Conduct } from '../../src/conduct/conduct-view.js'
import { SECOND_MS } from '../../src/domain/time.js'
import type { SandboxOptions } from '../../src/options/options.js'
import fc from '../support/fast-check.js'
import { runs } from '../support/test-seed.js'
import { NOON, type TestSandbox, transports } from '../support/transports.js'

/** A waiting client. The clock of the sandbox is frozen, and moves when all clients wait. */
interface Sleeper {
  readonly until: number
  wake(): void
}

/**
 * Runs workers of one key that each keep the rules: one request at a time, and
 * after a refusal none before its Retry-After; after a failure without one,
 * twice as long as before.
 */
async function work(
  sandbox: TestSandbox,
  workers: number,
  requests: number,
  paths: readonly string[],
): Promise<Conduct> {
  const { default: space } = sandbox.core.spaces
  let now = NOON
  let awake = workers
  let sleepers: Sleeper[] = []

  function moveOn(): void {
    if (awake > 0 || sleepers.length === 0) return
    now = Math.min(...sleepers.map((sleeper) => sleeper.until))
    space.setClock({ kind: 'frozen', at: now }, now)
    const due = sleepers.filter((sleeper) => sleeper.until <= now)
    sleepers = sleepers.filter((sleeper) => sleeper.until > now)
    awake += due.length
    for (const { wake } of due) wake()
  }

  function sleep(duration: number): Promise<void> {
    return new Promise((resolve) => {
      sleepers.push({ until: now + duration, wake: resolve })
      awake--
      moveOn()
    })
  }

  async function worker(first: number): Promise<void> {
    for (let i = 0; i < requests; i++) {
      const path = paths[(first + i) % paths.length] ?? '/pets'
      let backoff = SECOND_MS
      for (;;) {
        const { status, retryAfter } = await sandbox.get(path)
        if (status !== 429 && status < 500) break
        if (retryAfter === undefined) backoff *= 2
        await sleep(retryAfter === undefined ? backoff : Number(retryAfter) * SECOND_MS)
      }
    }
    awake--
    moveOn()
  }

  await Promise.all(Array.from({ length: workers }, (_, index) => worker(index)))
  return conductReport(space)
}

const storms = fc.record({
  rate: fc.constantFrom('0.2', '0.5', '0.8'),
  retryAfter: fc.constantFrom('1s', '2s', '7s', '30s'),
})

const days = fc.record({
  perMinute: fc.integer({ min: 1, max: 20 }),
  storm: fc.option(storms, { nil: undefined }),
  failing: fc.boolean(),
  workers: fc.integer({ min: 1, max: 9 }),
  paths: fc.constantFrom(['/pets'], ['/pets', '/pets?limit=5'], ['/pets?limit=1', '/pets?limit=2', '/pets?limit=3']),
  seed: fc.nat(1000),
})

function optionsOf({
  perMinute,
  storm,
  failing,
  seed,
  workers,
}: typeof days extends fc.Arbitrary<infer T> ? T : never): SandboxOptions {
  return {
    seed,
    senders: workers,
    limits: `${perMinute}/min,100000/day`,
    ...(storm === undefined ? {} : { storm: `${storm.rate},retry-after=${storm.retryAfter}` }),
    ...(failing ? { fault: ['*:503@20%'] } : {}),
  }
}

describe.each(transports)('a client that waits, %s', (name, openSandbox) => {
  it('breaks no rule, however many requests it has in flight', async () => {
    await fc.assert(
      fc.asyncProperty(days, async (day) => {
        const sandbox = await openSandbox(optionsOf(day))
        const conduct = await work(sandbox, day.workers, 5, day.paths)
        expect(conduct.violations).toEqual([])
        // With several senders, the finding is only likely, as the warning says.
        expect(conduct.warnings.filter(({ rule }) => rule !== 'early-retry-likely' || day.workers === 1)).toEqual([])
      }),
      { numRuns: runs(name === 'in process' ? 40 : 10), seed: 1 },
    )
  })
})
