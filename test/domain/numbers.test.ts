import { expect, it } from 'vitest'
import { counted, noun, passingText } from '../../src/domain/numbers.js'
import fc from '../support/fast-check.js'

it.each([
  [0, '0 pets'],
  [1, '1 pet'],
  [2, '2 pets'],
])('writes %i with the noun in its number', (count, text) => expect(counted(count, 'pet')).toBe(text))

it('uses an irregular plural', () => {
  expect(counted(2, 'entry', 'entries')).toBe('2 entries')
  expect(noun(1, 'entry', 'entries')).toBe('entry')
})

it('equals String for any count', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(), fc.maxSafeNat()), (count) => {
      expect(passingText(count)).toBe(String(count))
    }),
  )
  for (const count of [0, 999, 1000, 1001, 1_000_000, Number.MAX_SAFE_INTEGER])
    expect(passingText(count)).toBe(String(count))
})
