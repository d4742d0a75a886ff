import { describe, expect, it } from 'vitest'
import { readRetryAfter } from '../../src/domain/retry-after.js'

const NOW = Date.parse('2026-03-01T10:00:00Z')

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['Sun, 01 Mar 2026 10:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 10:00:30 GMT', 30_000],
    ['Sun Mar  1 10:00:30 2026', 30_000],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    ['soon', undefined],
    ['2026-03-01T10:00:30Z', undefined],
  ])('%j is read as %s', (text, wait) => expect(readRetryAfter(text, undefined, NOW)).toBe(wait))

  it("is read against the answer's own Date", () =>
    expect(readRetryAfter('Sun, 01 Mar 2099 10:00:30 GMT', 'Sun, 01 Mar 2099 10:00:00 GMT', NOW)).toBe(30_000))

  it.each([
    ['Sun, 01 Mar 2026 10:00:05 GMT', 'Sun, 01 Mar 2026 10:00:00 GMT', 5000],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 'Sun, 01 Mar 2026 10:00:00 GMT', 0],
    ['Sun, 01 Mar 2026 10:00:05 GMT', 'yesterday', undefined],
    ['Sun, 01 Mar 2026 10:00:05 GMT', undefined, undefined],
    ['30', undefined, 30_000],
  ])('%j beside Date %j is %s where no clock is to be trusted', (text, date, wait) =>
    expect(readRetryAfter(text, date, undefined)).toBe(wait),
  )
})
