import { describe, expect, it } from 'vitest'
import { bodyStart, bodyText, isBrowserProbe, SLICE_CHARACTERS, sliceBody } from '../../src/domain/messages.js'
import fc from '../support/fast-check.js'
import { serviceRequest } from '../support/service-request.js'

const isOwn = (target: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  isBrowserProbe(serviceRequest({ method, target, headers }))

const TYPED = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
}

describe("a browser's own request", () => {
  it.each([
    ['/favicon.ico?v=2', {}],
    ['/apple-touch-icon-120x120-precomposed.png', {}],
    ['/.well-known/appspecific/com.chrome.devtools.json', {}],
    ['/v1/pets', TYPED],
    ['/v1/pets', { accept: TYPED.accept }],
  ])('is one for an icon, or for a page typed into the address bar: %s %j', (target, headers) =>
    expect(isOwn(target, headers)).toBe(true),
  )

  it.each([
    ['/v1/pets', { accept: '*/*', 'sec-fetch-mode': 'cors' }],
    ['/v1/pets', { accept: 'application/json, text/plain, */*' }],
    ['/v1/pets', {}],
    ['/v1/pets', { ...TYPED, authorization: 'Bearer sandbox' }],
    ['/v1/pets', TYPED, 'POST'],
    ['/v1/favicon.ico', {}],
  ])('is none of a script, another client, or with an API key: %s %j', (target, headers, method = 'GET') =>
    expect(isOwn(target, headers, method)).toBe(false),
  )
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
        expect(Buffer.concat(slices.map((slice) => Buffer.from(slice))).equals(Buffer.from(bodyText(body)))).toBe(true)
        expect(slices.every(({ length }) => length > 0 && length <= SLICE_CHARACTERS)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  it('returns the start of a body', () => {
    for (const body of ['abc', 'abcd', bodyOf(['ab', 'cd', 'ef'])]) expect(bodyStart(body, 3)).toBe('abc')
    expect(bodyStart(bodyOf(['ab']), 3)).toBe('ab')
  })
})
