import { expect, it } from 'vitest'
import { charge, type QuotaUsage, reportedWindow, viewQuota } from '../../src/domain/quota.js'
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

it.each([
  ['exactly the requests per minute of the plan', Array(70).fill(0), [60, 1000], 60, 'minute', 0, MINUTE_MS],
  ['nothing under a limit of 0', [0], [0, 10], 0, 'minute', 0, MINUTE_MS],
  ['one more from the instant of the reset', [0, 59_999, 60_000], [1, 1000], 2, 'minute', 0, 2 * MINUTE_MS],
  ['what refused requests have left of the day', [0, 1, MINUTE_MS], [1, 2], 2, 'day', 0, DAY_MS],
  ['no more than the day has, even if the minute has some left', [0, 2 * MINUTE_MS], [5, 1], 1, 'day', 0, DAY_MS],
  ['a window from its first request', [59_999], [60, 1000], 1, 'minute', 59, 59_999 + MINUTE_MS],
] as const)('a quota allows %s', (_what, offsets, [perMinute, perDay], charged, window, remaining, resetAfter) => {
  let usage: QuotaUsage = {}
  const verdicts = offsets.map((offset: number) => {
    const verdict = charge(usage, { perMinute, perDay }, NOON + offset)
    if (verdict.kind === 'charged') usage = verdict.usage
    return verdict
  })
  expect(verdicts.filter(({ kind }) => kind === 'charged')).toHaveLength(charged)
  expect(verdicts.at(-1)?.shown).toMatchObject({ window, remaining, resetAt: NOON + resetAfter })
})

it.each([
  ['the minute on a tie', [3, 10], [3, 99], 'minute'],
  ['the day if it resets later and both are used up', [0, 10], [0, 99], 'day'],
  ['the minute if it resets later and both are used up', [0, 200], [0, 99], 'minute'],
])('a quota shows %s', (_what, [ofMinute = 0, minuteReset = 0], [ofDay = 0, dayReset = 0], shown) => {
  const minute = { window: 'minute', limit: 9, remaining: ofMinute, resetAt: minuteReset } as const
  const day = { window: 'day', limit: 9, remaining: ofDay, resetAt: dayReset } as const
  expect(reportedWindow(minute, day).window).toBe(shown)
})

it('a quota ends a window opened in the future', () => {
  const minute = { openedAt: NOON + DAY_MS, used: 60 }
  const shown = viewQuota({ minute }, { perMinute: 60, perDay: 1000 }, NOON)
  expect(shown).toMatchObject({ remaining: 60, resetAt: NOON + MINUTE_MS })
})
