import { expect, it } from 'vitest'
import { counted, pluralize } from '../../src/domain/numbers.js'

it('writes a count with the noun in its number', () => {
  expect([0, 1, 2].map((count) => counted(count, 'pet'))).toEqual(['0 pets', '1 pet', '2 pets'])
  expect([counted(2, 'entry', 'entries'), pluralize(1, 'entry', 'entries')]).toEqual(['2 entries', 'entry'])
})
