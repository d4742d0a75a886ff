import { describe, expect, it } from 'vitest'
import { blows } from '../../src/domain/storm.js'
import { MINUTE_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('a storm', () => {
  it('blows for a while, every so often', () => {
    const storm = { rate: 1, for: 30_000, every: 5 * MINUTE_MS, startedAt: NOON }
    const at = (offset: number) => blows(storm, NOON + offset)
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

  it('blows without end if no length is given, and not before it started', () => {
    expect(blows({ rate: 1, startedAt: NOON }, NOON + 1e12)).toBe(true)
    expect(blows({ rate: 1, startedAt: NOON }, NOON - 1)).toBe(false)
  })
})
