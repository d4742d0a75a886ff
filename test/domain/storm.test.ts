import { expect, it } from 'vitest'
import { isStormActive } from '../../src/domain/storm.js'
import { MINUTE_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

it.each([
  ['for a period, at its interval', { for: 30_000, every: 5 * MINUTE_MS }, [0, 29_999, 300_000, 329_999]],
  ['without end if no length is given, and not before its start', {}, [0, 29_999, 30_000, 299_999, 300_000, 329_999]],
])('a storm is active %s', (_when, lengths, active) => {
  const storm = { rate: 1, ...lengths, startedAt: NOON }
  const offsets = [-1, 0, 29_999, 30_000, 299_999, 300_000, 329_999]
  expect(offsets.filter((offset) => isStormActive(storm, NOON + offset))).toEqual(active)
})
