import { describe, expect, it } from 'vitest'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import {
  LIMIT_HEADER_KEYS,
  rateLimitViolations,
  readDeprecation,
  retryAfterViolations,
  unauthenticatedLimitViolations,
} from '../../src/drift/headers.js'

describe('rate-limit headers', () => {
  const NOW = 'Sun, 01 Mar 2026 10:00:00 GMT'
  const seconds = Date.parse(NOW) / 1000
  const documented = new Map([...LIMIT_HEADER_KEYS].map((key) => [key, { required: true }]))
  const headers = (given: Readonly<Record<string, string>>) => ({
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(seconds),
    date: NOW,
    ...given,
  })

  it.each([
    [{}],
    [{ 'x-ratelimit-remaining': '60' }],
    [{ 'x-ratelimit-reset': String(seconds + 86_400) }],
    [{ 'x-ratelimit-reset': String(seconds - 5) }],
    [{ date: '', 'x-ratelimit-reset': '1772359260' }],
  ])('make sense: %j', (given) => expect(rateLimitViolations(headers(given), documented)).toEqual([]))

  const RESET = 'not a Unix timestamp in seconds within the next day'
  it.each([
    [{ 'x-ratelimit-limit': 'many' }, 'X-RateLimit-Limit is "many", not a whole number'],
    [{ 'x-ratelimit-remaining': '61' }, 'X-RateLimit-Remaining is 61, more than the limit of 60'],
    [{ 'x-ratelimit-reset': String(seconds - 6) }, `X-RateLimit-Reset is ${seconds - 6}, ${RESET}`],
    [{ 'x-ratelimit-reset': '60' }, `X-RateLimit-Reset is 60, ${RESET}`],
    [{ 'x-ratelimit-reset': `${seconds}000` }, `X-RateLimit-Reset is ${seconds}000, ${RESET}`],
    [{ 'x-ratelimit-reset': `${seconds}000`, date: '' }, `X-RateLimit-Reset is ${seconds}000, ${RESET}`],
  ])('make none: %j', (given, violation) =>
    expect(rateLimitViolations(headers(given), documented)).toEqual([violation]),
  )

  it('show a client without a key only limits of plans', () => {
    const { plans } = packagedContract()
    const found = (limit: string) => unauthenticatedLimitViolations({ 'x-ratelimit-limit': limit }, plans)
    expect(['60', '1000', '10000'].flatMap(found)).toEqual([])
    expect(found('45')).toEqual([
      'X-RateLimit-Limit is 45, which no plan states (they state 60, 1000, 300, 10000, 100000), and the request had no valid key',
    ])
  })
})

describe('a 429', () => {
  const NOW = 'Sun, 01 Mar 2026 10:00:00 GMT'
  const LATER = 'Sun, 01 Mar 2026 10:00:30 GMT'
  const reset = String(Date.parse(LATER) / 1000)
  const used = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset, date: NOW }
  const left = { ...used, 'x-ratelimit-remaining': '5' }

  it.each([
    ['seconds until the window resets', { ...used, 'retry-after': '30' }],
    ['the date on which it does', { ...used, 'retry-after': LATER }],
    ['what a storm asks for, though quota is left', { ...left, 'retry-after': '1' }],
    ['what a ban asks for, though quota is left', { ...left, 'retry-after': '300' }],
    ['a wait that the sandbox explains', { ...left, 'retry-after': '30', 'x-sandbox-reason': 'storm' }],
  ])('may name %s', (_what, headers) => expect(retryAfterViolations(headers, undefined)).toEqual([]))

  it('may have quota left if the key is banned', () =>
    expect(retryAfterViolations({ ...left, 'retry-after': '20' }, 'api_key_banned')).toEqual([]))

  it.each([
    [used, 'Retry-After is missing'],
    [{ ...used, 'retry-after': 'soon' }, 'Retry-After is "soon", neither whole seconds nor an HTTP date'],
    [{ ...used, 'retry-after': '0' }, 'Retry-After is "0", which asks for no wait'],
    [{ ...used, 'retry-after': NOW }, `Retry-After is "${NOW}", which is not after the Date of the response`],
    [{ ...left, 'retry-after': '30' }, 'it is a 429, although X-RateLimit-Remaining is 5'],
  ])('%j drifts', (headers, violation) => expect(retryAfterViolations(headers, undefined)).toEqual([violation]))
})

describe('deprecation headers', () => {
  const sunsetAt = Date.parse('2030-12-05T00:00:00Z')
  const deprecated = { deprecated: true, sunsetAt, successor: '/pets?status=available' }
  const both = { deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' }
  const linked = (link: string) => ({ ...both, link })
  const reading = (operation: Parameters<typeof readDeprecation>[0], headers: Readonly<Record<string, string>>) =>
    readDeprecation(operation, headers, '/v1')

  it.each([
    [deprecated, both, 'kept'],
    [deprecated, { sunset: 'Thu, 05 Dec 2030 23:59:59 GMT' }, 'kept'],
    [deprecated, {}, 'absent'],
    [deprecated, linked('</v1/pets?status=available>; rel="successor-version"'), 'kept'],
    [deprecated, linked('<https://api.example/v1/pets?status=sold>;rel=successor-version'), 'kept'],
    [deprecated, linked('</docs>; rel="deprecation", </v1/pets?status=sold>; rel="next successor-version"'), 'kept'],
    [{ deprecated: false }, {}, 'kept'],
    [{ deprecated: false }, { link: '</v1/pets?page=2>; rel="next"' }, 'kept'],
    [deprecated, { ...both, deprecation: 'true' }, 'drift'],
    [deprecated, { ...both, deprecation: '@1922745600' }, 'drift'],
    [deprecated, { sunset: '2030-12-05' }, 'drift'],
    [deprecated, { deprecation: '@1764892800' }, 'drift'],
    [deprecated, linked('</v1/animals?status=available>; rel="successor-version"'), 'drift'],
    [deprecated, linked('</v1/pets>; rel="successor-version"'), 'drift'],
    [deprecated, linked('/v1/pets?status=available'), 'drift'],
    [deprecated, linked('<http://[>; rel="successor-version"'), 'drift'],
    [{ deprecated: false }, { sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' }, 'drift'],
    [{ deprecated: false }, { link: '</v1/pets>; rel="successor-version"' }, 'drift'],
  ] as const)('%j with %j: %s', (operation, headers, kind) => expect(reading(operation, headers).kind).toBe(kind))

  it('reports headers missing beside them', () => {
    expect(reading(deprecated, { deprecation: '@1764892800' })).toEqual({
      kind: 'drift',
      violations: ['Sunset is missing beside Deprecation: the contract says Thu, 05 Dec 2030 00:00:00 GMT'],
    })
  })
})
