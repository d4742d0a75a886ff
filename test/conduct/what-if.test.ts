import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BanRules, countRequest, openTraffic, refusedBy } from '../../src/conduct/what-if.js'
import { activeBan, type BanRecord, banFor, bringsBan, NO_BAN_RECORD, noteRefusal } from '../../src/domain/ban.js'
import { charge, type Limits, type QuotaUsage } from '../../src/domain/quota.js'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const SMALL: Limits = { perMinute: 2, perDay: 5 }
const LARGE: Limits = { perMinute: 10, perDay: 100 }
const NEVER: BanRules = { banAfter: 'never', banDuration: 5 * MINUTE_MS, retryAfter: 'seconds' }

/** The refusals by plan, and apart from them those by the limits that the key has. */
function outcome(
  instants: readonly number[],
  rules: BanRules,
  plans: readonly Limits[] = [SMALL, LARGE],
  configured: Limits = LARGE,
  wallOf: (now: number, index: number) => number = (now) => now,
) {
  const traffic = openTraffic(plans)
  for (const [index, now] of instants.entries()) countRequest(traffic, rules, configured, now, wallOf(now, index))
  const refused = refusedBy(traffic)
  return { traffic, refused: refused.slice(0, plans.length), byOwn: refused[plans.length] }
}

/** The rules as the gates ask them, for each plan by itself and without any short cut. */
function reference(
  instants: readonly number[],
  rules: BanRules,
  limits: Limits,
  wallOf: (now: number, index: number) => number,
) {
  const refused = { minute: 0, day: 0, ban: 0 }
  let usage: QuotaUsage = {}
  let bans: BanRecord = NO_BAN_RECORD
  for (const [index, now] of instants.entries()) {
    const wall = wallOf(now, index)
    if (activeBan(bans, now) !== undefined) {
      refused.ban++
      continue
    }
    if (rules.banAfter !== 'never' && bringsBan(bans, rules.banAfter, now, wall)) {
      bans = banFor(rules.banDuration, now)
      refused.ban++
      continue
    }
    const verdict = charge(usage, limits, now)
    if (verdict.kind === 'charged') usage = verdict.usage
    else {
      refused[verdict.shown.window]++
      if (rules.banAfter !== 'never' && rules.retryAfter !== 'none')
        bans = noteRefusal(bans, verdict.shown.resetAt, now, wall)
    }
  }
  return refused
}

describe('what each plan would have done', () => {
  it('is nothing, as long as its limits are kept', () => {
    const { traffic, refused } = outcome([NOON, NOON, NOON + MINUTE_MS, NOON + MINUTE_MS], NEVER)
    expect(refused).toEqual([
      { minute: 0, day: 0, ban: 0 },
      { minute: 0, day: 0, ban: 0 },
    ])
    expect(traffic).toMatchObject({ requests: 4, minute: { peak: 2 }, day: { peak: 4 } })
  })

  it('is a refusal for each request beyond a window, to the instant before its end', () => {
    const { refused } = outcome([NOON, NOON, NOON + MINUTE_MS - 1, NOON + MINUTE_MS], NEVER)
    expect(refused[0]).toEqual({ minute: 1, day: 0, ban: 0 })
  })

  it('counts refusals by the minute and by the day apart', () => {
    const hours = Array.from({ length: 8 }, (_, hour) => NOON + hour * 60 * MINUTE_MS)
    expect(outcome(hours, NEVER).refused[0]).toEqual({ minute: 0, day: 3, ban: 0 })
    expect(outcome([...hours, NOON + DAY_MS], NEVER).refused[0]).toEqual({ minute: 0, day: 3, ban: 0 })
  })

  it('is a ban, where its refusals would have brought one', () => {
    const rules: BanRules = { banAfter: 3, banDuration: 5 * MINUTE_MS, retryAfter: 'seconds' }
    const burst = Array.from({ length: 8 }, (_, second) => NOON + second * SECOND_MS)
    // Two pass, one is refused, two are early, the third early one brings the ban.
    expect(outcome(burst, rules).refused[0]).toEqual({ minute: 3, day: 0, ban: 3 })
    expect(outcome([...burst, NOON + 2 * MINUTE_MS], rules).refused[0]).toEqual({ minute: 3, day: 0, ban: 4 })
    expect(outcome([...burst, NOON + 7 * MINUTE_MS], rules).refused[0]).toEqual({ minute: 3, day: 0, ban: 3 })
  })

  it('shows the peaks as if nothing had been refused', () => {
    const burst = Array.from({ length: 8 }, () => NOON)
    expect(outcome(burst, NEVER).traffic).toMatchObject({ minute: { peak: 8 }, day: { peak: 8 } })
  })

  it('lets a window of the future be over when the clock goes back', () => {
    const { traffic, refused } = outcome([NOON + DAY_MS, NOON + DAY_MS, NOON, NOON, NOON], NEVER)
    expect(refused[0]).toEqual({ minute: 1, day: 0, ban: 0 })
    expect(traffic.minute.peak).toBe(3)
  })

  it('is told apart from what the limits did that the key really had, whichever they were at the time', () => {
    const traffic = openTraffic([LARGE])
    const send = (count: number, configured: Limits) => {
      for (let i = 0; i < count; i++) countRequest(traffic, NEVER, configured, NOON, NOON)
    }
    send(3, LARGE)
    send(2, SMALL)
    send(2, LARGE)
    expect(refusedBy(traffic)).toEqual([
      { minute: 0, day: 0, ban: 0 },
      { minute: 2, day: 0, ban: 0 },
    ])
  })

  it('is no ban where no refusal names a wait', () => {
    const burst = Array.from({ length: 8 }, () => NOON)
    const rules: BanRules = { banAfter: 1, banDuration: 5 * MINUTE_MS, retryAfter: 'none' }
    expect(outcome(burst, rules).refused[0]).toEqual({ minute: 6, day: 0, ban: 0 })
  })

  it('is no ban of who really waits, though the clock stands still', () => {
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

  it('is what the rules would have answered, request by request, on whatever traffic', () => {
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
          // Real time passes, or hardly does, whatever the clock is moved to.
          const wallOf = isReal ? (at: number) => at : (_: number, index: number) => NOON + index
          const [configured = SMALL] = plans
          const { refused, byOwn } = outcome(instants, banRules, plans, configured, wallOf)
          expect(refused).toEqual(plans.map((plan) => reference(instants, banRules, plan, wallOf)))
          expect(byOwn).toEqual(refused[0])
        },
      ),
      {
        numRuns: 300,
        examples: [
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
