import { expect, it } from 'vitest'
import { parseJson, stringifyJson } from '../../src/contract/json.js'
import { LinesReader, toLines } from '../../src/core/checkpoint.js'
import fc from '../support/fast-check.js'

function readAgain(lines: Iterable<string>): unknown {
  const reader = new LinesReader()
  for (const line of lines) reader.take(line)
  return reader.value
}

it('plain data as lines restores the same data in the same order, with any names', () => {
  const bigint = fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n })
  const data = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, 0, 1.5, ''),
      bigint,
      fc.string({ maxLength: 20, unit: 'grapheme' }),
      fc.array(tie('value'), { maxLength: 8 }),
      fc.dictionary(fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('__proto__', '0', 'length')), tie('value')),
    ),
  })).value
  fc.assert(
    fc.property(data, fc.integer({ min: 1, max: 200 }), (value, longest) => {
      // Once read, its names are in an order that JSON keeps.
      const plain = parseJson(stringifyJson(value))
      expect(stringifyJson(readAgain(toLines(plain, longest)))).toBe(stringifyJson(plain))
    }),
  )
})

it('plain data as lines has only short lines, wherever the data is large', () => {
  const many = Array.from({ length: 20_000 }, (_, id) => ({ id, name: 'a pet', further: { tags: ['x'] } }))
  const data = {
    few: 1,
    spaces: [
      { name: 'a', pets: many, log: [] },
      { name: 'b', undo: { pets: many } },
    ],
    last: {},
  }
  const lines = [...toLines(data)]
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(100_000)
  expect(lines.length).toBeLessThan(50)
  expect(stringifyJson(readAgain(lines))).toBe(stringifyJson(data))
})

it('plain data as lines refuses lines whose beginning is missing', () => {
  const [, , ...rest] = toLines({ pets: ['one', 'two'] }, 4)
  expect(() => readAgain(rest)).toThrow('there is nothing at')
})
