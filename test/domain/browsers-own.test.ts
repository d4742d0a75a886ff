import { describe, expect, it } from 'vitest'
import { isBrowsersOwn } from '../../src/domain/browsers-own.js'

function isOwn(target: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): boolean {
  return isBrowsersOwn({
    method,
    target,
    headers,
    rawHeaders: [],
    body: undefined,
    address: 'test',
    connection: 0,
    heardUpTo: 0,
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

  it('is one for a page that was typed into the address bar, also by a browser that does not say so', () => {
    expect(isOwn('/v1/pets', TYPED)).toBe(true)
    expect(isOwn('/v1/pets', { accept: TYPED.accept })).toBe(true)
  })

  it('is none of a script in a page, of any other client, or with an API key', () => {
    expect(isOwn('/v1/pets', { accept: '*/*', 'sec-fetch-mode': 'cors' })).toBe(false)
    expect(isOwn('/v1/pets', { accept: 'text/html', 'sec-fetch-mode': 'cors' })).toBe(false)
    expect(isOwn('/v1/pets', { accept: 'application/json, text/plain, */*' })).toBe(false)
    expect(isOwn('/v1/pets')).toBe(false)
    expect(isOwn('/v1/pets', { ...TYPED, authorization: 'Bearer sandbox' })).toBe(false)
    expect(isOwn('/v1/pets', TYPED, 'POST')).toBe(false)
    expect(isOwn('/v1/favicon.ico')).toBe(false)
  })
})
