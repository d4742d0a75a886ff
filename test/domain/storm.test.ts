import { describe, expect, it } from 'vitest'
import { isStormActive } from '../../src/domain/storm.js'
import { MINUTE_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('a storm', () => {
  it('is active for a period, at its interval', () => {
    const storm = { rate: 1, for: 30_000, every: 5 * MINUTE_MS, startedAt: NOON }
    const at = (offset: number) => isStormActive(storm, NOON + offset)
    expect([0, 29_999, 30_000, 299_999, 300_000, 329_999, 330_000].map(at)).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
      false,
    ])
  })

  it('is active without end if no length is given, and not before its start', () => {
    expect(isStormActive({ rate: 1, startedAt: NOON }, NOON + 1e12)).toBe(true)
    expect(isStormActive({ rate: 1, startedAt: NOON }, NOON - 1)).toBe(false)
  })
})
