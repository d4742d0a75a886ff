import { expect, it } from 'vitest'
import { POLICIES } from '../../../src/web/playground/policies.js'

const withHeader = { retryAfter: 30_000, random: 0.5 }
const withoutHeader = { retryAfter: undefined, random: 0 }

it('gives up, waits a second, twice as long each time, or as long as Retry-After asks', () => {
  expect(POLICIES.none.wait()).toBeUndefined()
  expect(POLICIES.fixed.wait()).toBe(1000)
  const waits = [1, 2, 3, 4].map((attempt) => POLICIES.exponential.wait({ ...withoutHeader, attempt }))
  expect(waits).toEqual([500, 1000, 2000, 4000])
  expect(POLICIES.exponential.wait({ ...withHeader, attempt: 1 })).toBe(750)
  expect(POLICIES['retry-after'].wait({ ...withHeader, attempt: 1 })).toBe(30_000)
})

it('waits with the policy Retry-After at least its doubling delay', () => {
  expect(POLICIES['retry-after'].wait({ ...withoutHeader, attempt: 3 })).toBe(2000)
  expect(POLICIES['retry-after'].wait({ retryAfter: 1000, random: 0, attempt: 4 })).toBe(4000)
})
