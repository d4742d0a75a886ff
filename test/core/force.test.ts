import { expect, it } from 'vitest'
import { readPreferences } from '../../src/core/gates/apply-preference.js'
import fc from '../support/fast-check.js'

it.each([
  ['code=429', '429'],
  ['CODE = "404"', '404'],
  ['respond-async, code=500; foo=bar', '500'],
  ['code=404, code=500', '404'],
  ['code', ''],
  ['respond-async', undefined],
  ['foo="a, code=500"', undefined],
  ['foo="a, b", code=500', '500'],
  ['foo="a, code=500', undefined],
  ['', undefined],
])('a Prefer header %j forces %s', (header, code) => {
  expect(readPreferences(header).get('code')).toBe(code)
})

it('a Prefer header never throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void readPreferences(text)))
})
