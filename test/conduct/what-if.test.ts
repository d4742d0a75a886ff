import { describe, expect, it } from 'vitest'
import type { BanRules } from '../../src/conduct/judged-request.js'
import { isRunning } from '../../src/conduct/waits.js'
import { countRequest, openTraffic, refusedBy } from '../../src/conduct/what-if.js'
import { activeBan, type BanRecord, banFor, bringsBan, NO_BAN_RECORD, type Wait } from '../../src/domain/ban.js'
import { charge, type Limits, type QuotaUsage } from '../../src/domain/quota.js'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/domain/time.js'
import fc from '../support/fast-check.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const SMALL: Limits = { perMinute: 2, perDay: 5 }
const LARGE: Limits = { perMinute: 10, perDay: 100 }
const NEVER: BanRules = { banAfter: 'never', banDuration: 5 * MINUTE_MS, retryAfter: 'seconds' }

/** Refusals by plan, and by the configured limits. */
function outcome(
  instants: readonly number[],
  rules: BanRules,
  plans: readonly Limits[] = [SMALL, LARGE],
  configured: Limits = LARGE,
  wallOf: (now: number, index: number) => number = (now) => now,
) {
  const traffic = openTraffic(plans)
  for (const [index, now] of instants.entries()) countRequest(traffic, rules, configured, 1, now, wallOf(now, index))
  const refused = refusedBy(traffic)
  return { traffic, refused: refused.slice(0, plans.length), byConfigured: refused[plans.length] }
}

/** A simple simulation of the gates with one plan. */
function reference(
  instants: readonly number[],
  rules: BanRules,
  limits: Limits,
  wallOf: (now: number, index: number) => number,
) {
  const refused = { minute: 0, day: 0, ban: 0 }
  let usage: QuotaUsage = {}
  let bans: BanRecord = NO_BAN_RECORD
  let waits: Wait[] = []
  let early: Wait[] = []
  for (const [index, now] of instants.entries()) {
    const wall = wallOf(now, index)
    if (activeBan(bans, now) !== undefined) {
      refused.ban++
      continue
    }
    // Waits that have ended, or begin in the future, do not come back.
    waits = waits.filter((wait) => wait.from <= now && isRunning(wait, now, wall))
    // Overlapping waits count as one.
    const isEarly = waits.length > 0
    if (isEarly && rules.banAfter !== 'never' && bringsBan(early, true, rules.banAfter, now, wall)) {
      bans = banFor(rules.banDuration, now)
      waits = []
      early = []
      refused.ban++
      continue
    }
    const verdict = charge(usage, limits, now)
    if (verdict.kind === 'charged') usage = verdict.usage
    else {
      refused[verdict.shown.window]++
      if (rules.banAfter !== 'never' && rules.retryAfter !== 'none') {
        const { resetAt } = verdict.shown
        const wait = { from: now, until: resetAt, wallUntil: wall + resetAt - now }
        if (isRunning(wait, now, wall)) {
          waits.push(wait)
          if (isEarly) early.push(wait)
        }
      }
    }
  }
  return refused
}

describe('the outcome of a plan', () => {
  it('has no refusals within its limits', () => {
    const { traffic, refused } = outcome([NOON, NOON, NOON + MINUTE_MS, NOON + MINUTE_MS], NEVER)
    expect(refused).toEqual([
      { minute: 0, day: 0, ban: 0 },
      { minute: 0, day: 0, ban: 0 },
    ])
    expect(traffic).toMatchObject({ requests: 4, minute: { peak: 2 }, day: { peak: 4 } })
  })

  it('counts each request beyond a window until its end', () => {
    const { refused } = outcome([NOON, NOON, NOON + MINUTE_MS - 1, NOON + MINUTE_MS], NEVER)
    expect(refused[0]).toEqual({ minute: 1, day: 0, ban: 0 })
  })

  it('counts refusals by minute and by day separately', () => {
    const hours = Array.from({ length: 8 }, (_, hour) => NOON + hour * 60 * MINUTE_MS)
    expect(outcome(hours, NEVER).refused[0]).toEqual({ minute: 0, day: 3, ban: 0 })
    expect(outcome([...hours, NOON + DAY_MS], NEVER).refused[0]).toEqual({ minute: 0, day: 3, ban: 0 })
  })

  it('includes bans that its refusals would have caused', () => {
    const rules: BanRules = { banAfter: 3, banDuration: 5 * MINUTE_MS, retryAfter: 'seconds' }
    const burst = Array.from({ length: 8 }, (_, second) => NOON + second * SECOND_MS)
    // Two pass, one is refused, two are early, the third early one causes the ban.
    expect(outcome(burst, rules).refused[0]).toEqual({ minute: 3, day: 0, ban: 3 })
    expect(outcome([...burst, NOON + 2 * MINUTE_MS], rules).refused[0]).toEqual({ minute: 3, day: 0, ban: 4 })
    expect(outcome([...burst, NOON + 7 * MINUTE_MS], rules).refused[0]).toEqual({ minute: 3, day: 0, ban: 3 })
  })

  it('has peaks without any refusals', () => {
    const burst = Array.from({ length: 8 }, () => NOON)
    expect(outcome(burst, NEVER).traffic).toMatchObject({ minute: { peak: 8 }, day: { peak: 8 } })
  })

  it('ends windows of the future when the clock goes back', () => {
    const { traffic, refused } = outcome([NOON + DAY_MS, NOON + DAY_MS, NOON, NOON, NOON], NEVER)
    expect(refused[0]).toEqual({ minute: 1, day: 0, ban: 0 })
    expect(traffic.minute.peak).toBe(3)
  })

  it("is separate from the outcome of the key's real limits", () => {
    const traffic = openTraffic([LARGE])
    const send = (count: number, configured: Limits) => {
      for (let i = 0; i < count; i++) countRequest(traffic, NEVER, configured, 1, NOON, NOON)
    }
    send(3, LARGE)
    send(2, SMALL)
    send(2, LARGE)
    expect(refusedBy(traffic)).toEqual([
      { minute: 0, day: 0, ban: 0 },
      { minute: 2, day: 0, ban: 0 },
    ])
  })

  it('has no bans if refusals have no Retry-After', () => {
    const burst = Array.from({ length: 8 }, () => NOON)
    const rules: BanRules = { banAfter: 1, banDuration: 5 * MINUTE_MS, retryAfter: 'none' }
    expect(outcome(burst, rules).refused[0]).toEqual({ minute: 6, day: 0, ban: 0 })
  })

  it('has no bans for a client that waits in real time on a frozen clock', () => {
    const rules: BanRules = { banAfter: 1, banDuration: 5 * MINUTE_MS, retryAfter: 'seconds' }
    const { refused } = outcome(
      Array.from({ length: 8 }, () => NOON),
      rules,
      [SMALL],
      SMALL,
      (now, index) => now + index * MINUTE_MS,
    )
    expect(refused[0]).toEqual({ minute: 6, day: 0, ban: 0 })
  })

  it('equals a simulation of the rules, request by request', () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 900 }) },
        { weight: 2, arbitrary: fc.integer({ min: 1000, max: 2 * MINUTE_MS }) },
        { weight: 1, arbitrary: fc.integer({ min: -2 * MINUTE_MS, max: DAY_MS }) },
      ),
      { maxLength: 300 },
    )
    const limits = fc.record({ perMinute: fc.integer({ min: 1, max: 12 }), perDay: fc.integer({ min: 1, max: 60 }) })
    const rules = fc.record({
      banAfter: fc.oneof(fc.constant('never' as const), fc.integer({ min: 1, max: 12 })),
      banDuration: fc.integer({ min: 1, max: 10 * MINUTE_MS }),
      retryAfter: fc.constantFrom('seconds' as const, 'none' as const),
    })
    fc.assert(
      fc.property(
        steps,
        fc.array(limits, { minLength: 1, maxLength: 4 }),
        rules,
        fc.boolean(),
        (gaps, plans, banRules, isReal) => {
          let now = NOON
          const instants = gaps.map((gap) => {
            now += gap
            return now
          })
          // Real time passes with the clock, or hardly at all.
          const wallOf = isReal ? (at: number) => at : (_: number, index: number) => NOON + index
          const [configured = SMALL] = plans
          const { refused, byConfigured } = outcome(instants, banRules, plans, configured, wallOf)
          expect(refused).toEqual(plans.map((plan) => reference(instants, banRules, plan, wallOf)))
          expect(byConfigured).toEqual(refused[0])
        },
      ),
      {
        numRuns: 300,
        examples: [
          // The last 50 ms of a wait do not count.
          [
            [0, 58_936, 0, 1012, 2],
            [{ perMinute: 1, perDay: 2 }],
            { banAfter: 1, banDuration: 1, retryAfter: 'seconds' },
            false,
          ],
          [
            [0, 0, 0, -1, 1],
            [
              { perMinute: 2, perDay: 2 },
              { perMinute: 1, perDay: 1 },
            ],
            { banAfter: 'never', banDuration: 1, retryAfter: 'seconds' },
            false,
          ],
        ],
      },
    )
  })
})
