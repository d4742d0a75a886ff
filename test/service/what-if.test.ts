import { describe, expect, it } from 'vitest'
import type { Conduct } from '../../src/conduct/conduct-view.js'
import fc from '../support/fast-check.js'
import { runs } from '../support/test-seed.js'
import { NOON, transports } from '../support/transports.js'

/** What a client and whoever steers do: requests, and the clock, in seconds, forward or to an instant that may lie before. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ requests: fc.constantFrom(1, 30, 61) }) },
  { weight: 1, arbitrary: fc.record({ forward: fc.integer({ min: 0, max: 100 }) }) },
  { weight: 4, arbitrary: fc.record({ to: fc.constantFrom(0, 20, 40, 90) }) },
)

type Step =
  | { readonly requests: number }
  | { readonly forward: number }
  | { readonly to: number }
  | { readonly banAfter: number | 'never' }

const PLANS = ['free', 'pro'] as const

/** Refusals of a sandbox on a plan after some steps, by cause, and the forecasts of its report for all plans. */
async function played(plan: (typeof PLANS)[number], banAfter: number, steps: readonly Step[]) {
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const sandbox = await openSandbox({ plan, banAfter })
  const refused = { minute: 0, day: 0, ban: 0 }
  for (const one of steps) {
    if ('forward' in one) await sandbox.advance(`${one.forward}s`)
    else if ('to' in one) {
      const now = new Date(NOON + one.to * 1000).toISOString()
      await sandbox.control('PUT', '/scenario', { now, freeze: true })
    } else if ('banAfter' in one) await sandbox.control('PATCH', '/settings', one)
    else
      for (let i = 0; i < one.requests; i++) {
        const { reason } = await sandbox.get('/orders')
        if (reason === 'ban') refused.ban++
        else if (reason === 'quota-minute') refused.minute++
        else if (reason === 'quota-day') refused.day++
      }
  }
  const { whatIf } = (await sandbox.control('GET', '/conduct')).json as unknown as Conduct
  return { refused, foretold: whatIf?.plans.slice(0, PLANS.length).map((one) => one.refused) }
}

/** Compares the forecast for each plan with the refusals there. @returns the refusals */
async function expectForetold(banAfter: number, steps: readonly Step[]) {
  const plans = await Promise.all(PLANS.map((plan) => played(plan, banAfter, steps)))
  const refused = plans.map((plan) => plan.refused)
  for (const { foretold } of plans) expect(foretold).toEqual(refused)
  return refused
}

describe('what each plan would have done', () => {
  it('equals the refusals of a sandbox on that plan, by cause, even if the clock goes back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 6, maxLength: 16 }),
        fc.constantFrom(3, 12),
        async (steps, banAfter) => void (await expectForetold(banAfter, steps)),
      ),
      { numRuns: runs(30) },
    )
  })

  it('forgets the waits that began later when the clock goes back', () =>
    expectForetold(3, [{ requests: 61 }, { to: 20 }, { requests: 30 }, { to: 0 }, ...Array(5).fill({ requests: 1 })]))

  it('counts early requests before a ban was possible', () =>
    expectForetold(3, [{ banAfter: 'never' }, { requests: 63 }, { banAfter: 3 }, { requests: 3 }]))

  it('knows of days that are used up, and of none that the clock has taken back', async () => {
    const day = Array.from({ length: 17 }, () => [{ requests: 60 }, { forward: 60 }]).flat()
    const [free, pro] = await expectForetold(300, [...day, { to: 0 }, { requests: 61 }, ...day])
    expect([free?.day, pro?.day]).toEqual([expect.any(Number), 0])
    expect(free?.day).toBeGreaterThan(0)
  })
})
