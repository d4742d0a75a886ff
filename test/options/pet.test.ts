import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { int64Schema } from '../../src/options/values/reading.js'

describe('a whole number of 64 bits', () => {
  it.each([0, -1, Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 63n - 1n])('is %s', (value) =>
    expect(v.parse(int64Schema, value)).toBe(value),
  )

  it.each([2 ** 53, -(2 ** 62)])('must be a bigint if a number is not exact: %s', (value) =>
    expect(() => v.parse(int64Schema, value)).toThrow('write it as a bigint, such as 9007199254740993n'),
  )

  it.each([2 ** 63, 2n ** 63n, 1.5, '1', null])('is not %s', (value) =>
    expect(() => v.parse(int64Schema, value)).toThrow(
      'must be a whole number from -9223372036854775808 to 9223372036854775807',
    ),
  )
})
