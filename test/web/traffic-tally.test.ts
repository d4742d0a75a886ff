import { describe, expect, it } from 'vitest'
import { TrafficTally, totalOf } from '../../src/web/dashboard/traffic-tally.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('the chart', () => {
  it('counts requests by second, up to the present bucket', () => {
    const tally = new TrafficTally()
    tally.add({ at: '2026-03-01T11:59:58.999Z', status: 200 })
    tally.add({ at: '2026-03-01T12:00:00.000Z', status: 429 })
    tally.add({ at: '2026-03-01T12:00:00.500Z', status: 201 })
    const buckets = tally.buckets('1 min', NOON + 999)
    expect(buckets.length).toBe(60)
    expect(buckets.at(-1)).toEqual({ start: NOON, counts: { answered: 1, refused: 0, limited: 1, failed: 0, cut: 0 } })
    expect(buckets.at(-3)?.counts.answered).toBe(1)
    expect(totalOf(buckets)).toEqual({ answered: 2, refused: 0, limited: 1, failed: 0, cut: 0 })
  })

  it('leaves out requests before its range and after now', () => {
    const tally = new TrafficTally()
    tally.add({ at: '2026-03-01T11:59:00.999Z', status: 200 })
    tally.add({ at: '2026-03-01T12:00:01.000Z', status: 200 })
    expect(totalOf(tally.buckets('1 min', NOON)).answered).toBe(0)
    expect(totalOf(tally.buckets('10 min', NOON)).answered).toBe(2)
  })
})
