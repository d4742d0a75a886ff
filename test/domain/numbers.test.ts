import { expect, it } from 'vitest'
import { counted, pluralize } from '../../src/domain/numbers.js'

it('writes a count with the noun in its number', () => {
  expect([0, 1, 2].map((count) => counted(count, 'pet'))).toEqual(['0 pets', '1 pet', '2 pets'])
  expect([1, 2].map((count) => pluralize(count, 'key'))).toEqual(['key', 'keys'])
})
