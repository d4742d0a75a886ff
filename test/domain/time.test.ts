import { describe, expect, it } from 'vitest'
import {
  changeClock,
  clockAt,
  formatDuration,
  parseDuration,
  REAL_TIME,
  readClock,
  readRetryAfter,
} from '../../src/domain/time.js'
import fc from '../support/fast-check.js'

describe('a duration', () => {
  it('is a whole number with a unit', () => {
    const durations = { '500ms': 500, '30s': 30_000, '5m': 300_000, '24h': 86_400_000, '0s': 0 }
    for (const [text, milliseconds] of Object.entries(durations)) expect(parseDuration(text)).toBe(milliseconds)
  })

  it.each(['', '5', '-1s', '1.5s', '1 s', '1y', '1d', 's', '5S', '1e3s', ' 5s'])('is not: %j', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  )

  it('reads its own output', () => {
    fc.assert(fc.property(fc.nat(999_999_999), (ms) => parseDuration(formatDuration(ms)) === ms))
  })
})

const NOW = Date.parse('2026-03-01T10:00:00Z')

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['Sun, 01 Mar 2026 10:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 10:00:30 GMT', 30_000],
    ['Sun Mar  1 10:00:30 2026', 30_000],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
    ['-1', undefined],
    ['soon', undefined],
    ['2026-03-01T10:00:30Z', undefined],
  ])('%j is read as %s', (text, wait) => expect(readRetryAfter(text, undefined, NOW)).toBe(wait))

  it.each([
    ['Sun, 01 Mar 2099 10:00:30 GMT', 'Sun, 01 Mar 2099 10:00:00 GMT', NOW, 30_000],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 'Sun, 01 Mar 2026 10:00:00 GMT', undefined, 0],
    ['Sun, 01 Mar 2026 10:00:05 GMT', 'yesterday', undefined, undefined],
    ['Sun, 01 Mar 2026 10:00:05 GMT', undefined, undefined, undefined],
    ['30', undefined, undefined, 30_000],
  ])('%j is relative to the Date %j of the response, with the clock %j: %j', (text, date, now, wait) =>
    expect(readRetryAfter(text, date, now)).toBe(wait),
  )
})

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('a clock', () => {
  it('only goes forward', () => {
    const frozen = clockAt(NOON, true, 0)
    expect(changeClock(frozen, { now: NOON - 1 }, 0)).toMatch(/only goes forward/)
    expect(changeClock(frozen, { now: NOON }, 0)).toEqual(frozen)
  })

  it('keeps its offset while it runs, and stops while it is frozen', () => {
    const running = clockAt(NOON, false, 1000)
    expect(readClock(running, 1500)).toBe(NOON + 500)
    const frozen = changeClock(running, { frozen: true }, 1500)
    expect(frozen).toEqual({ kind: 'frozen', at: NOON + 500 })
    expect(changeClock(frozen as typeof REAL_TIME, { frozen: false }, 9000)).toEqual(clockAt(NOON + 500, false, 9000))
  })

  it('cannot go past the last date of a header', () => {
    expect(changeClock(REAL_TIME, { now: Number.MAX_SAFE_INTEGER }, 0)).toMatch(/cannot go past 9999-12-31/)
  })
})
