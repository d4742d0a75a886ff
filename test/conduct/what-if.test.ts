import { expect, it } from 'vitest'
import type { BanRules } from '../../src/conduct/judged-request.js'
import { countRequest, openTraffic, refusedBy } from '../../src/conduct/what-if.js'
import type { Limits } from '../../src/domain/quota.js'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const SMALL: Limits = { perMinute: 2, perDay: 5 }
const LARGE: Limits = { perMinute: 10, perDay: 100 }
const NEVER: BanRules = { banAfter: 'never', banDuration: 5 * MINUTE_MS, retryAfter: 'seconds' }
const AFTER_THREE: BanRules = { ...NEVER, banAfter: 3 }
const times = (count: number, step: number) => Array.from({ length: count }, (_, index) => index * step)
const [HOURS, BURST] = [times(8, 60 * MINUTE_MS), times(8, SECOND_MS)]

// service/what-if.test.ts compares the outcome with a sandbox on each plan.
it.each<[what: string, offsets: readonly number[], rules: BanRules, refused: readonly number[], peaks: object]>([
  ['no refusals within its limits', [0, 0, MINUTE_MS, MINUTE_MS], NEVER, [0, 0, 0], { minute: 2, day: 4 }],
  ['peaks without any refusals', times(8, 0), { ...NEVER, banAfter: 1, retryAfter: 'none' }, [6, 0, 0], { minute: 8 }],
  ['each request beyond a window until its end', [0, 0, MINUTE_MS - 1, MINUTE_MS], NEVER, [1, 0, 0], { minute: 3 }],
  ['refusals by day', HOURS, NEVER, [0, 3, 0], { minute: 1, day: 8 }],
  ['refusals by day until its end', [...HOURS, DAY_MS], NEVER, [0, 3, 0], { day: 8 }],
  // Two pass, one is refused, two are early, the third early one causes the ban.
  ['bans that its refusals would have caused', BURST, AFTER_THREE, [3, 0, 3], { minute: 8 }],
  ['refusals by a ban until its end', [...BURST, 2 * MINUTE_MS], AFTER_THREE, [3, 0, 4], {}],
  ['no refusals after the end of a ban', [...BURST, 7 * MINUTE_MS], AFTER_THREE, [3, 0, 3], {}],
  ['no windows of a future that the clock has left', [DAY_MS, DAY_MS, 0, 0, 0], NEVER, [1, 0, 0], { minute: 3 }],
])('the outcome of a plan has %s', (_what, offsets, rules, [minute, day, ban], peaks) => {
  const traffic = openTraffic()
  for (const offset of offsets) countRequest(traffic, rules, [SMALL, LARGE], LARGE, 1, NOON + offset, NOON + offset)
  expect(refusedBy(traffic)[0]).toEqual({ minute, day, ban })
  expect(refusedBy(traffic)[1]).toEqual({ minute: 0, day: 0, ban: 0 })
  expect(traffic.requests).toBe(offsets.length)
  expect({ minute: traffic.minute.peak, day: traffic.day.peak }).toMatchObject(peaks)
})

it("the outcome of a plan is separate from that of the key's real limits", () => {
  const traffic = openTraffic()
  for (const configured of [LARGE, LARGE, LARGE, SMALL, SMALL, LARGE, LARGE])
    countRequest(traffic, NEVER, [LARGE], configured, 1, NOON, NOON)
  expect(refusedBy(traffic).map(({ minute }) => minute)).toEqual([0, 2])
})

it('the outcome of a plan has no bans for a client that waits in real time on a frozen clock', () => {
  const traffic = openTraffic()
  for (const wall of times(8, MINUTE_MS))
    countRequest(traffic, { ...NEVER, banAfter: 1 }, [SMALL], SMALL, 1, NOON, NOON + wall)
  expect(refusedBy(traffic)).toEqual(Array(2).fill({ minute: 6, day: 0, ban: 0 }))
})
