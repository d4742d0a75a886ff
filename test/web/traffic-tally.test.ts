import { describe, expect, it } from 'vitest'
import { piled, TrafficTally, totalOf } from '../../src/web/dashboard/traffic-tally.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('the chart', () => {
  it('counts requests where they happened, and ends at the present bucket', () => {
    const tally = new TrafficTally()
    tally.add({ at: '2026-03-01T11:59:58.999Z', status: 200 })
    tally.add({ at: '2026-03-01T12:00:00.000Z', status: 429 })
    tally.add({ at: '2026-03-01T12:00:00.500Z', status: 201 })
    const { starts, counts } = tally.buckets('1 min', NOON + 999)
    expect(starts.length).toBe(60)
    expect(starts.at(-1)).toBe(NOON / 1000)
    expect(counts.at(-1)).toEqual({ answered: 1, refused: 0, limited: 1, failed: 0, cut: 0 })
    expect(counts.at(-3)?.answered).toBe(1)
    expect(totalOf(counts)).toEqual({ answered: 2, refused: 0, limited: 1, failed: 0, cut: 0 })
  })

  it('leaves out what is older than its range, or later than now', () => {
    const tally = new TrafficTally()
    tally.add({ at: '2026-03-01T11:59:00.999Z', status: 200 })
    tally.add({ at: '2026-03-01T12:00:01.000Z', status: 200 })
    expect(totalOf(tally.buckets('1 min', NOON).counts).answered).toBe(0)
    expect(totalOf(tally.buckets('10 min', NOON).counts).answered).toBe(2)
  })

  it('piles the outcomes of a bucket up', () => {
    const bucket = { answered: 3, refused: 0, limited: 2, failed: 1, cut: 0 }
    expect(piled([bucket])).toEqual([[3], [3], [5], [6], [6]])
  })
})
