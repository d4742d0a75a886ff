import { describe, expect, it } from 'vitest'
import { changeClock, clockAt, REAL_TIME, readClock } from '../../src/domain/clock.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('a clock', () => {
  it('goes forward only', () => {
    const frozen = clockAt(NOON, true, 0)
    expect(changeClock(frozen, { now: NOON - 1 }, 0)).toMatch(/only goes forward/)
    expect(changeClock(frozen, { now: NOON }, 0)).toEqual(frozen)
  })

  it('keeps its distance from the wall clock while it runs, and stands while it is frozen', () => {
    const running = clockAt(NOON, false, 1000)
    expect(readClock(running, 1500)).toBe(NOON + 500)
    const frozen = changeClock(running, { frozen: true }, 1500)
    expect(frozen).toEqual({ kind: 'frozen', at: NOON + 500 })
    expect(changeClock(frozen as typeof REAL_TIME, { frozen: false }, 9000)).toEqual(clockAt(NOON + 500, false, 9000))
  })

  it('cannot go past what a date can name', () => {
    expect(changeClock(REAL_TIME, { now: Number.MAX_SAFE_INTEGER }, 0)).toMatch(/cannot go past 9999-12-31/)
  })
})
