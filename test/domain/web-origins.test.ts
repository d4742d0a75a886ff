import { describe, expect, it } from 'vitest'
import { type AllowedOrigins, findWebsite, isLoopbackOrigin } from '../../src/domain/web-origins.js'

const find = (given: Readonly<Record<string, string>>, allowed: AllowedOrigins = 'loopback', isExposed = false) => {
  const headers = { host: 'localhost:4010', ...given }
  return findWebsite({ target: '/v1/pets', headers, rawHeaders: Object.entries(headers).flat() }, allowed, isExposed)
}

describe('the website behind a request to the real service', () => {
  it.each([
    {},
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' },
    { origin: 'https://app.localhost:3000' },
    { origin: 'http://127.0.0.9' },
    { origin: 'http://[::1]:5173', host: '[::1]:4010' },
    { host: '127.0.0.1:4010', origin: 'http://127.0.0.1:4010' },
  ])('is none for %j', (headers) => expect(find(headers)).toBeUndefined())

  it.each([
    [{ origin: 'https://evil.example' }, 'https://evil.example'],
    [{ origin: 'null' }, 'null'],
    [{ origin: '' }, ''],
    [{ origin: 'http://localhost.evil.example' }, 'http://localhost.evil.example'],
    [{ origin: 'http://127.0.0.1.evil.example' }, 'http://127.0.0.1.evil.example'],
    [{ origin: 'http://localhost:3000, https://evil.example' }, 'http://localhost:3000, https://evil.example'],
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, 'https://evil.example'],
    [{ 'sec-fetch-site': 'cross-site' }, 'another site'],
    [{ 'sec-fetch-site': 'Cross-Site' }, 'another site'],
    [{ 'sec-fetch-site': 'same-origin, cross-site' }, 'another site'],
    // A name that was rebound to this machine, and an address that browsers once took for it.
    [{ host: 'evil.example:4010', 'sec-fetch-site': 'same-origin' }, 'evil.example:4010'],
    [{ host: '0.0.0.0:4010' }, '0.0.0.0:4010'],
  ])('is found for %j', (headers, website) => expect(find(headers)).toBe(website))

  it('is none without a Host, as in process', () =>
    expect(findWebsite({ target: '/v1/pets', headers: {}, rawHeaders: [] }, 'loopback', false)).toBeUndefined())

  it('is none if every origin is allowed', () =>
    expect(find({ origin: 'null', host: 'evil.example' }, '*')).toBeUndefined())

  it('is any but the listed origins, and the own one', () => {
    const allowed = ['https://app.example']
    expect(find({ origin: 'https://app.example' }, allowed)).toBeUndefined()
    expect(find({ origin: 'http://localhost:4010' }, allowed)).toBeUndefined()
    expect(find({ host: 'app.example' }, allowed)).toBeUndefined()
    expect(find({ origin: 'http://localhost:3000' }, allowed)).toBe('http://localhost:3000')
    expect(find({ 'sec-fetch-site': 'same-site' }, allowed)).toBe('another site')
    expect(find({ origin: 'http://localhost:3000' }, [])).toBe('http://localhost:3000')
  })

  it.each(['192.168.0.7:4010', '[fd00::7]:4010', 'sandbox:4010'])(
    'is none for the Host %s if the sandbox listens beyond loopback',
    (host) => {
      expect(find({ host }, 'loopback', true)).toBeUndefined()
      expect(find({ host })).toBe(host)
    },
  )

  it('is found by a Host with a dot, which may have been rebound', () =>
    expect(find({ host: 'evil.example' }, 'loopback', true)).toBe('evil.example'))
})

it.each(['capacitor://localhost', 'http://localhost.', 'http://user@localhost', 'http://128.0.0.1'])(
  'does not take %s for a page of this machine',
  (origin) => expect(isLoopbackOrigin(origin)).toBe(false),
)
