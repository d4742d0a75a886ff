import { expect, it } from 'vitest'
import { MAX_POLICY_LENGTH, readPolicy } from '../../../src/web/playground/policy.js'

const failed = { status: 429, attempt: 3, retryAfter: 30, random: 0.5 }

it.each([
  ['1', 1],
  ['retryAfter', 30],
  ['retryAfter / 2 + 1', 16],
  ['min(60, 2 ** attempt)', 8],
  ['backoff', 2],
  ['attempt < 3 && status === 429 ? 1 : max(retryAfter, 40)', 40],
  ['attempt > 5 || random < 0.5 ? 1 : giveUp', Number.POSITIVE_INFINITY],
  ['-retryAfter', 0],
  ['!retryAfter', 0],
  ['retryAfter % 7 - 0 / 0', 0],
])('waits for %s', (text, seconds) => {
  expect(readPolicy(text)(failed)).toBe(seconds)
})

it('reads Retry-After as null without the header', () => {
  const bare = { ...failed, retryAfter: null }
  expect(readPolicy('retryAfter ?? 7')(bare)).toBe(7)
  expect(readPolicy('retryAfter + 1')(bare)).toBe(1)
})

it('doubles the backoff with each try, with jitter, up to 24 seconds', () => {
  const backoff = readPolicy('backoff')
  const waits = [1, 2, 3, 20].map((attempt) => [0, 1].map((random) => backoff({ ...failed, attempt, random })))
  expect(waits.map(String)).toEqual(['0.25,0.75', '0.5,1.5', '1,3', '8,24'])
})

it.each([
  ['', 'Write one expression'],
  ['1; 2', 'Write one expression'],
  ['x = 1', 'Unexpected "=" at character 2'],
  ['min(1', 'Expected )'],
  ['self.close()', 'Unknown function'],
  ['fetch(1)', 'Unknown function "fetch"'],
  ['constructor', 'Unknown name "constructor"'],
  ['min.constructor', 'Write one expression'],
  ['"text"', 'Text is not allowed: "text"'],
  ['[1]', 'Write one expression'],
  ['this', 'Write one expression'],
  ['1 | 2', 'The operator | is not allowed'],
  ['~1', 'Write one expression'],
])('refuses %s', (text, message) => {
  expect(() => readPolicy(text)).toThrow(message)
})

it('limits the length', () => {
  expect(readPolicy('1'.padEnd(MAX_POLICY_LENGTH))(failed)).toBe(1)
  expect(() => readPolicy('1'.padEnd(MAX_POLICY_LENGTH + 1))).toThrow('at most 200 characters; this one has 201')
})
