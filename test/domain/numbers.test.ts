import { expect, it } from 'vitest'
import { counted, noun, passingText } from '../../src/domain/numbers.js'
import fc from '../support/fast-check.js'

it('writes a count with the noun in its number', () => {
  expect([0, 1, 2].map((count) => counted(count, 'pet'))).toEqual(['0 pets', '1 pet', '2 pets'])
  expect([counted(2, 'entry', 'entries'), noun(1, 'entry', 'entries')]).toEqual(['2 entries', 'entry'])
})

it('equals String for any count', () => {
  const counts = [0, 999, 1000, 1001, 1_000_000, Number.MAX_SAFE_INTEGER].map((count) => [count] as [number])
  const equals = (count: number) => passingText(count) === String(count)
  fc.assert(fc.property(fc.oneof(fc.nat(), fc.maxSafeNat()), equals), { examples: counts })
})
