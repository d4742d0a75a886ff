import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SLICE_CHARACTERS, slicesOf, startOf, textOf } from '../../src/domain/long-body.js'

const bodyOf = (pieces: readonly string[]) => ({ pieces: () => pieces })

/** Texts about as long as a slice, of characters that UTF-16 makes two of. */
const piece = fc
  .tuple(fc.constantFrom('a', 'é', '猫', '🐱', 'a🐱'), fc.nat(SLICE_CHARACTERS + 2))
  .map(([character, length]) => character.repeat(length))

describe('a long body', () => {
  it('is the same text, and the same bytes, in slices', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
        const body = bodyOf(pieces)
        const slices = [...slicesOf(body)]
        expect(slices.join('') === pieces.join('')).toBe(true)
        expect(Buffer.concat(slices.map((slice) => Buffer.from(slice))).equals(Buffer.from(textOf(body)))).toBe(true)
        expect(slices.every(({ length }) => length > 0 && length <= SLICE_CHARACTERS)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  it('has a beginning', () => {
    expect(startOf('abc', 3)).toBe('abc')
    expect(startOf('abcd', 3)).toBe('abc')
    expect(startOf(bodyOf(['ab', 'cd', 'ef']), 3)).toBe('abc')
    expect(startOf(bodyOf(['ab']), 3)).toBe('ab')
  })
})
