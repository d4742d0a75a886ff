import { describe, expect, it } from 'vitest'
import { type AttemptOutcome, decideRetry, type RetryRules } from '../../src/client/send.js'
import fc from '../support/fast-check.js'

const RULES: RetryRules = { retries: 2, maxWait: 60_000, unsafe: false }
const NOW = Date.parse('2026-03-01T10:00:00Z')
const response = (status: number, retryAfter?: string, date?: string): AttemptOutcome => ({
  kind: 'response',
  status,
  retryAfter,
  date,
})
const decide = (method: string, outcome: AttemptOutcome, rules: Partial<RetryRules> = {}, attempt = 1, random = 0) =>
  decideRetry({ method, attempt, outcome }, { ...RULES, ...rules }, NOW, random)

describe('retries', () => {
  it.each(['GET', 'POST', 'DELETE'])('%s after a 429, whatever it does', (method) =>
    expect(decide(method, response(429))).toMatchObject({ wait: 0 }),
  )

  it.each<[string, AttemptOutcome]>([
    ...[502, 503, 504].map((status): [string, AttemptOutcome] => [`a ${status}`, response(status)]),
    ['a dropped connection', { kind: 'dropped' }],
  ])('only GET after %s', (_what, outcome) => {
    expect(decide('GET', outcome).wait).toBe(0)
    expect(decide('POST', outcome)).toEqual({})
    expect(decide('POST', outcome, { unsafe: true }).wait).toBe(0)
  })

  it.each([200, 302, 400, 408, 500, 501])('nothing after a %i', (status) =>
    expect(decide('GET', response(status, '1'), { unsafe: true })).toEqual({}),
  )

  it('only GET after a 503, and reports Retry-After of others', () =>
    expect(decide('POST', response(503, '90'))).toEqual({ retryAfter: 90_000, isTooLong: false }))

  it('nothing after a refused connection', () => expect(decide('GET', { kind: 'no-response' })).toEqual({}))

  it('nothing beyond the number of retries, and reports Retry-After', () =>
    expect(decide('GET', response(429, '7'), {}, 3)).toEqual({ retryAfter: 7000, isTooLong: false }))
})

describe('the wait', () => {
  it('is Retry-After or the backoff, whichever is longer', () => {
    expect(decide('GET', response(429, '7'), {}, 1, 0.99)).toEqual({ wait: 7000 })
    expect(decide('GET', response(429, '0'), {}, 2, 0.5)).toEqual({ wait: 500 })
  })

  it('is refused if it is longer than allowed', () => {
    expect(decide('GET', response(429, '61'))).toEqual({ retryAfter: 61_000, isTooLong: true })
    expect(decide('GET', response(429, '60'))).toEqual({ wait: 60_000 })
  })

  it('is never shorter than Retry-After, nor longer than allowed, nor begun after the last try', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000),
        fc.nat(100_000),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(10),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.boolean(),
        (seconds, maxWait, attempt, retries, random, asDate) => {
          const told = asDate ? new Date(NOW + seconds * 1000).toUTCString() : String(seconds)
          const date = new Date(NOW).toUTCString()
          const decision = decide('POST', response(429, told, date), { maxWait, retries }, attempt, random)
          if (decision.wait !== undefined) {
            expect(attempt).toBeLessThanOrEqual(retries)
            expect(decision.wait).toBeGreaterThanOrEqual(seconds * 1000)
            expect(decision.wait).toBeLessThanOrEqual(maxWait)
            expect(decision.wait).toBeLessThanOrEqual(Math.max(seconds * 1000, 500 * 2 ** (attempt - 1)))
          } else {
            expect(decision).toMatchObject({ retryAfter: seconds * 1000 })
            expect(attempt > retries || seconds * 1000 > maxWait).toBe(true)
          }
        },
      ),
    )
  })
})
