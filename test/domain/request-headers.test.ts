import { expect, it } from 'vitest'
import { allowedHeaders, readSpace } from '../../src/domain/request-headers.js'

it.each([
  ['user=7 , sandbox-space = %63heckout ; ttl=5;flag ,other=1', 'checkout'],
  ['bad member,,=,%zz=%zz,sandbox-space=checkout', 'checkout'],
  ['sandbox-space=checkout,sandbox-space=checkout', 'checkout'],
  ['sandbox-space=checkout,sandbox-space=other', 'checkout,other'],
  ['sandbox-space=%zz', '%zz'],
  ['sandbox-space=%FF', '%FF'],
  ['sandbox-space=', ''],
  ['sandbox-space="checkout"', '"checkout"'],
  ...['user=7', 'my-sandbox-space=checkout', 'Sandbox-Space=checkout', 'a=sandbox-space=checkout'].map((text) => [
    text,
  ]),
])('the space in the baggage %j is %j', (baggage, space) => expect(readSpace(baggage)).toBe(space))

it.each([
  ['traceparent,x-request-id', 'Prefer, traceparent, x-request-id'],
  ['prefer, cache-control', 'Prefer, cache-control'],
  ['', 'Prefer'],
  ['a b, <x>, ok', 'Prefer, ok'],
  [Array.from({ length: 1000 }, (_, n) => `x-${n}`).join(), 'Prefer'],
])('the headers that a page asks for are allowed beside our own: %#', (asked, allowed) => {
  expect(allowedHeaders(['Prefer'], asked)).toBe(allowed)
})
