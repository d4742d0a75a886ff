import { expect, it } from 'vitest'
import { POLICIES } from '../../../src/web/playground/policies.js'

const told = { asked: 30_000, luck: 0.5 }
const untold = { asked: undefined, luck: 0 }

it('waits not at all, a second, twice as long each time, or as long as Retry-After asks', () => {
  expect(POLICIES.none.wait()).toBeUndefined()
  expect(POLICIES.fixed.wait()).toBe(1000)
  expect([1, 2, 3, 4].map((tries) => POLICIES.exponential.wait({ ...untold, tries }))).toEqual([500, 1000, 2000, 4000])
  expect(POLICIES.exponential.wait({ ...told, tries: 1 })).toBe(750)
  expect(POLICIES['retry-after'].wait({ ...told, tries: 1 })).toBe(30_000)
})

it('waits by the policy Retry-After no shorter than its doubling delay', () => {
  expect(POLICIES['retry-after'].wait({ ...untold, tries: 3 })).toBe(2000)
  expect(POLICIES['retry-after'].wait({ asked: 1000, luck: 0, tries: 4 })).toBe(4000)
})
