import { describe, expect, it } from 'vitest'
import { bodyStart, isBrowsersOwn, SLICE_CHARACTERS, sliceBody, textOf } from '../../src/domain/messages.js'
import fc from '../support/fast-check.js'

function isOwn(target: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): boolean {
  return isBrowsersOwn({
    method,
    target,
    headers,
    rawHeaders: [],
    body: undefined,
    address: 'test',
    connection: 0,
    deliveredUpTo: 0,
  })
}

const TYPED = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
}

describe("a browser's own request", () => {
  it.each([
    '/favicon.ico',
    '/apple-touch-icon.png',
    '/apple-touch-icon-120x120-precomposed.png',
    '/.well-known/appspecific/com.chrome.devtools.json',
    '/favicon.ico?v=2',
  ])('is one for %s', (target) => {
    expect(isOwn(target)).toBe(true)
  })

  it('recognizes a page typed into the address bar, with and without sec-fetch-mode', () => {
    expect(isOwn('/v1/pets', TYPED)).toBe(true)
    expect(isOwn('/v1/pets', { accept: TYPED.accept })).toBe(true)
  })

  it('ignores scripts, other clients and requests with an API key', () => {
    expect(isOwn('/v1/pets', { accept: '*/*', 'sec-fetch-mode': 'cors' })).toBe(false)
    expect(isOwn('/v1/pets', { accept: 'text/html', 'sec-fetch-mode': 'cors' })).toBe(false)
    expect(isOwn('/v1/pets', { accept: 'application/json, text/plain, */*' })).toBe(false)
    expect(isOwn('/v1/pets')).toBe(false)
    expect(isOwn('/v1/pets', { ...TYPED, authorization: 'Bearer sandbox' })).toBe(false)
    expect(isOwn('/v1/pets', TYPED, 'POST')).toBe(false)
    expect(isOwn('/v1/favicon.ico')).toBe(false)
  })
})

const bodyOf = (pieces: readonly string[]) => ({ pieces: () => pieces })

/** Texts about as long as a slice, of characters that UTF-16 makes two of. */
const piece = fc
  .tuple(fc.constantFrom('a', 'é', '猫', '🐱', 'a🐱'), fc.nat(SLICE_CHARACTERS + 2))
  .map(([character, length]) => character.repeat(length))

describe('a long body', () => {
  it('has the same text and bytes in slices', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
        const body = bodyOf(pieces)
        const slices = [...sliceBody(body)]
        expect(slices.join('') === pieces.join('')).toBe(true)
        expect(Buffer.concat(slices.map((slice) => Buffer.from(slice))).equals(Buffer.from(textOf(body)))).toBe(true)
        expect(slices.every(({ length }) => length > 0 && length <= SLICE_CHARACTERS)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  it('returns the start of a body', () => {
    expect(bodyStart('abc', 3)).toBe('abc')
    expect(bodyStart('abcd', 3)).toBe('abc')
    expect(bodyStart(bodyOf(['ab', 'cd', 'ef']), 3)).toBe('abc')
    expect(bodyStart(bodyOf(['ab']), 3)).toBe('ab')
  })
})
