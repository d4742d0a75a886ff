import { describe, expect, it } from 'vitest'
import { removal } from '../../src/core/gates/check-sunset.js'
import { deprecationHeaders } from '../../src/core/reply-headers.js'
import { MINUTE_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const REMOVAL = Date.parse('2030-12-05T00:00:00Z')

describe('the removal of an operation', () => {
  it.each([
    ['auto', REMOVAL - 1, undefined],
    ['auto', REMOVAL, 'sunset'],
    ['before', REMOVAL + 1, undefined],
    ['after', NOON, 'sunset'],
    ['brownout', NOON, 'brownout'],
    ['brownout', NOON + 5 * MINUTE_MS - 1, 'brownout'],
    ['brownout', NOON + 5 * MINUTE_MS, undefined],
    ['brownout', NOON + 30 * MINUTE_MS, 'brownout'],
    ['brownout', REMOVAL + 6 * MINUTE_MS, 'sunset'],
  ] as const)('in mode %s at %d is %s', (mode, now, reason) => {
    expect(removal(mode, REMOVAL, now)).toBe(reason)
  })

  it('sends the headers of RFC 9745 and RFC 8594', () => {
    expect(deprecationHeaders(Date.UTC(2025, 11, 5), REMOVAL, '/v1/pets?status=available')).toEqual([
      'Deprecation',
      '@1764892800',
      'Sunset',
      'Thu, 05 Dec 2030 00:00:00 GMT',
      'Link',
      '</v1/pets?status=available>; rel="successor-version"',
    ])
  })
})
