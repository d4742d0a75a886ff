import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Conduct } from '../../src/conduct/conduct-view.js'
import { NOON, transports } from '../support/transports.js'

/** What a client and whoever steers do: requests, and the clock, in seconds, forward or to an instant that may lie before. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ requests: fc.constantFrom(1, 30, 61) }) },
  { weight: 1, arbitrary: fc.record({ forward: fc.integer({ min: 0, max: 100 }) }) },
  { weight: 4, arbitrary: fc.record({ to: fc.constantFrom(0, 20, 40, 90) }) },
)

describe('what each plan would have done, also where the clock goes back', () => {
  it('is what a sandbox on that plan answers, cause by cause', async () => {
    const [, [, openSandbox] = []] = [...transports].reverse()
    if (openSandbox === undefined) throw new Error('no transport')
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 6, maxLength: 16 }),
        fc.constantFrom(3, 12),
        async (steps, banAfter) => {
          const reports: Conduct[] = []
          const seen: object[] = []
          for (const plan of ['free', 'pro'] as const) {
            const sandbox = await openSandbox({ plan, banAfter })
            const causes = { minute: 0, day: 0, ban: 0 }
            for (const one of steps) {
              if ('forward' in one) await sandbox.advance(`${one.forward}s`)
              else if ('to' in one) {
                const now = new Date(NOON + one.to * 1000).toISOString()
                await sandbox.control('PUT', '/scenario', { now, freeze: true })
              } else
                for (let i = 0; i < one.requests; i++) {
                  const { reason } = await sandbox.get('/orders')
                  if (reason === 'ban') causes.ban++
                  else if (reason === 'quota-minute') causes.minute++
                  else if (reason === 'quota-day') causes.day++
                }
            }
            seen.push(causes)
            reports.push((await sandbox.control('GET', '/conduct')).json as unknown as Conduct)
          }
          for (const { whatIf } of reports) {
            expect(whatIf.plans.slice(0, 2).map(({ refused }) => refused)).toEqual(seen)
          }
        },
      ),
      { numRuns: 30, seed: 7 },
    )
  })
})
