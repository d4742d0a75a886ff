import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDuration, parseDuration } from '../../src/domain/time.js'

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['0s', 0],
  ])('%s is %d milliseconds', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds)
  })

  it.each(['', '5', '-1s', '1.5s', '1 s', '1y', '1d', 's', '5S', '1e3s', ' 5s'])('is nothing else: %j', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })

  it('is read back as it was written', () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms)
      }),
    )
  })
})
