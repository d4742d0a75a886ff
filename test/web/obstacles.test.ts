import { describe, expect, it } from 'vitest'
import type { KeyView, StormView } from '../../src/control/views.js'
import { bansIn, nextStorm, obstaclesOf, obstacleText } from '../../src/web/dashboard/obstacles.js'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const iso = (second: number) => new Date(NOW + second * 1000).toISOString()
const key = (facts: Partial<KeyView>) =>
  ({ key: 'sandbox', secret: false, plan: null, always: null, minute: null, day: null, ban: null, ...facts }) as KeyView
const storm = (facts: Partial<StormView>): StormView => ({
  ...{ rate: 1, for: '30s', every: null, retryAfter: null, startedAt: iso(-10) },
  ...facts,
})
const texts = (view: KeyView | undefined, running: StormView | null = null) =>
  obstaclesOf(view, running, NOW).map((one) => obstacleText(one, NOW))

describe('what refuses a key now', () => {
  it.each<[what: string, KeyView | undefined, StormView | null, readonly string[]]>([
    ['nothing', key({ minute: { limit: 60, remaining: 1, reset: iso(30) } }), null, []],
    [
      'a used-up quota',
      key({ minute: { limit: 60, remaining: 0, reset: iso(30) } }),
      null,
      ['minute quota used up until 12:00:30 UTC'],
    ],
    ['nothing after its reset', key({ minute: { limit: 60, remaining: 0, reset: iso(-1) } }), null, []],
    [
      'the last to end first',
      key({ ban: { until: iso(60) }, day: { limit: 9, remaining: 0, reset: iso(90) } }),
      storm({}),
      ['day quota used up until 12:01:30 UTC', 'banned until 12:01:00 UTC', 'storm 100 % until 12:00:20 UTC'],
    ],
    [
      'a storm without end, of an unknown key too',
      undefined,
      storm({ for: null, rate: 0.25 }),
      ['storm 25 % until it is stopped'],
    ],
    ['nothing after a storm', undefined, storm({ for: '10s' }), []],
    ['a periodic storm', undefined, storm({ every: '5m', startedAt: iso(-310) }), ['storm 100 % until 12:00:20 UTC']],
    ['nothing between its periods', undefined, storm({ every: '5m', startedAt: iso(-340) }), []],
    ['nothing of a storm that is yet to begin', undefined, storm({ startedAt: iso(1) }), []],
  ])('is %s', (_, view, running, expected) => expect(texts(view, running)).toEqual(expected))
})

describe('a storm with periods', () => {
  it.each<[what: string, facts: Partial<StormView>, second: number | undefined]>([
    ['begins again after a pause', { every: '2m', startedAt: iso(-40) }, 80],
    ['does not begin while it refuses', { every: '2m', startedAt: iso(-20) }, undefined],
    ['does not begin again without periods', { startedAt: iso(-40) }, undefined],
  ])('%s', (_, facts, second) =>
    expect(nextStorm(storm(facts), NOW)).toBe(second === undefined ? undefined : NOW + second * 1000),
  )
})

describe('bans in the log of changes', () => {
  const ban = (at: number, until: number) => ({
    ...{ verb: 'keys.ban', text: '', key: 'sandbox', afterId: at },
    ...{ at: iso(at), until: iso(until) },
  })
  const lift = (at: number) => ({ verb: 'keys.unban', text: '', key: 'sandbox', afterId: at, at: iso(at) })
  const lifted = (...events: Parameters<typeof bansIn>[0][number][]) =>
    bansIn(events.toReversed(), [key({})], NOW).map(({ isLifted }) => isLifted)

  it('are lifted only if they had not ended, each by its own', () => {
    expect(lifted(ban(-600, -300), ban(-200, 100), lift(-100))).toEqual([true, false])
    expect(lifted(ban(-600, -300), lift(-200))).toEqual([false])
    expect(lifted(ban(-600, -300), lift(-400))).toEqual([true])
    expect(lifted(ban(-10, 100))).toEqual([true])
  })
})
