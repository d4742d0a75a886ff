import fc from 'fast-check'
import { expect, it } from 'vitest'
import { passingText } from '../../src/domain/passing-text.js'

it('is what String makes of any count', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(), fc.maxSafeNat()), (count) => {
      expect(passingText(count)).toBe(String(count))
    }),
  )
  for (const count of [0, 999, 1000, 1001, 1_000_000, Number.MAX_SAFE_INTEGER])
    expect(passingText(count)).toBe(String(count))
})
