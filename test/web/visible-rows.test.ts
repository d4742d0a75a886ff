import { describe, expect, it } from 'vitest'
import { scrollToRow, visibleRows } from '../../src/web/dashboard/visible-rows.js'

describe('the rows that are rendered', () => {
  it.each([
    ['at the top', 0],
    ['in the middle', 15_000],
    ['at the end', 29_700],
  ])('are all that are in sight and few others, %s', (_where, scrollTop) => {
    const { first, end } = visibleRows(1000, 30, scrollTop, 300)
    expect(first * 30).toBeLessThanOrEqual(scrollTop)
    expect(end * 30).toBeGreaterThanOrEqual(scrollTop + 300)
    expect(end - first).toBeLessThanOrEqual(24)
  })

  it('are none of an empty list, also where it was scrolled before', () => {
    expect(visibleRows(0, 30, 9000, 300)).toEqual({ first: 0, end: 0 })
  })

  it('are scrolled to as far as needed', () => {
    expect(scrollToRow(5, 30, 0, 300)).toBeUndefined()
    expect(scrollToRow(10, 30, 0, 300)).toBe(30)
    expect(scrollToRow(1, 30, 300, 300)).toBe(30)
  })
})
