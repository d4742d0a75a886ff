import { describe, expect, it } from 'vitest'
import { ratiosOf, spreadOf } from './statistics.js'

describe('the statistics of the bench', () => {
  it.each([
    [[3], { median: 3, low: 3, high: 3 }],
    [[10, 2, 9], { median: 9, low: 2, high: 10 }],
    [[4, 1, 2, 100], { median: 3, low: 1, high: 100 }],
  ])('have the middle of %j', (figures, spread) => {
    expect(spreadOf(figures)).toEqual(spread)
  })

  it('compare figures of the same round, so that a slow round does not count', () => {
    expect(ratiosOf([80, 40, 8], [100, 50, 10])).toEqual({ median: 0.8, low: 0.8, high: 0.8 })
  })

  it('refuse to invent a middle of nothing', () => {
    expect(() => spreadOf([])).toThrow(RangeError)
  })
})
