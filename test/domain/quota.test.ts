import { describe, expect, it } from 'vitest'
import { charge, type QuotaUsage, shownWindow, viewQuota } from '../../src/domain/quota.js'
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const FREE = { perMinute: 60, perDay: 1000 }

/** Charges a run of requests, one at each instant. */
function run(instants: readonly number[], limits = FREE) {
  let usage: QuotaUsage = {}
  return instants.map((now) => {
    const verdict = charge(usage, limits, now)
    if (verdict.kind === 'charged') usage = verdict.usage
    return verdict
  })
}

describe('a quota', () => {
  it('allows exactly the requests per minute of the plan', () => {
    const verdicts = run(Array.from({ length: 70 }, (_, i) => NOON + i))
    expect(verdicts.filter(({ kind }) => kind === 'charged')).toHaveLength(60)
    expect(verdicts.slice(60).every(({ kind }) => kind === 'refused')).toBe(true)
  })

  it('opens its window with the first request', () => {
    const first = NOON + 59_999
    expect(run([first])[0]?.shown.resetAt).toBe(first + MINUTE_MS)
  })

  it('ends its window before the instant of the reset', () => {
    const limits = { perMinute: 1, perDay: 1000 }
    expect(run([NOON, NOON + 59_999, NOON + 60_000], limits).map(({ kind }) => kind)).toEqual([
      'charged',
      'refused',
      'charged',
    ])
  })

  it('charges nothing for a refused request', () => {
    const [, , third] = run([NOON, NOON + 1, NOON + MINUTE_MS], { perMinute: 1, perDay: 2 })
    expect(third).toMatchObject({ kind: 'charged', shown: { window: 'day', remaining: 0 } })
  })

  it('refuses by the day while the minute has requests left', () => {
    const [, second] = run([NOON, NOON + 2 * MINUTE_MS], { perMinute: 5, perDay: 1 })
    expect(second).toMatchObject({ kind: 'refused', shown: { window: 'day', resetAt: NOON + DAY_MS } })
  })

  it('shows the minute on a tie, and the later reset when both are used up', () => {
    const window = (remaining: number, resetAt: number) => ({ limit: 9, remaining, resetAt })
    const minute = { window: 'minute' as const, ...window(3, 10) }
    const day = { window: 'day' as const, ...window(3, 99) }
    expect(shownWindow(minute, day).window).toBe('minute')
    expect(shownWindow({ ...minute, remaining: 0 }, { ...day, remaining: 0 }).window).toBe('day')
    expect(shownWindow({ ...minute, remaining: 0, resetAt: 200 }, { ...day, remaining: 0 }).window).toBe('minute')
  })

  it('ends a window opened in the future', () => {
    const later = { openedAt: NOON + DAY_MS, used: 60 }
    expect(viewQuota({ minute: later }, FREE, NOON)).toMatchObject({ remaining: 60, resetAt: NOON + MINUTE_MS })
  })

  it('refuses every request under a limit of 0', () => {
    expect(run([NOON], { perMinute: 0, perDay: 10 })[0]).toMatchObject({ kind: 'refused', shown: { remaining: 0 } })
  })
})
