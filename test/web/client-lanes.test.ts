import { describe, expect, it } from 'vitest'
import type { Conduct, Finding } from '../../src/conduct/conduct-view.js'
import type { Exchange } from '../../src/exchanges/exchange-record.js'
import { type Lane, lanesOf, orderLanes } from '../../src/web/dashboard/client-lanes.js'
import { anExchange } from './exchanges.js'

const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const iso = (second: number) => new Date(NOON + second * 1000).toISOString()
/** At these seconds by the space's clock, and in real time. */
const at = (second: number, real = second) => ({ at: iso(second), receivedAt: iso(real) })
const sentBy = (agent: string, facts: Partial<Exchange>) =>
  anExchange({ request: { headers: { 'user-agent': agent }, body: '' }, ...facts })
const told = (seconds: string) => ({ headers: { 'retry-after': seconds }, body: '' })
const aFinding = (facts: Partial<Finding>) =>
  ({
    ...{
      rule: 'early-retry',
      key: 'sandbox',
      sender: '',
      exchanges: [3],
      count: 2,
      countByClient: {},
      disobeyed: null,
    },
    ...{ operation: 'listPets', firstAt: iso(0), lastAt: iso(60) },
    ...facts,
  }) as unknown as Finding
const conductOf = (...violations: Finding[]) => ({ violations, warnings: [], notes: [] }) as unknown as Conduct

/** @param real second in real time, if the clock may have been moved */
function draw(exchanges: readonly Exchange[], second: number, conduct?: Conduct, real?: number) {
  return lanesOf(exchanges, conduct, NOON + second * 1000, real === undefined ? undefined : NOON + real * 1000)
}

describe('the lanes of clients', () => {
  it('are by sender, or else by key and the product of the User-Agent', () => {
    const exchanges = [
      anExchange({ id: 4, sender: 'importer' }),
      sentBy('curl/8.5.0', { id: 3 }),
      sentBy('Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/140.0 Safari/537.36', { id: 2 }),
      anExchange({ id: 1, key: 'sandbox-pro' }),
    ]
    expect(draw(exchanges, 0).lanes.map(({ client, name }) => [client, name])).toEqual([
      ['sandbox-pro', 'sandbox-pro'],
      ['sandbox/Chrome', 'Chrome'],
      ['sandbox/curl', 'curl'],
      ['importer', 'importer'],
    ])
  })

  it('reach from the first request to now, with the waits of each client joined', () => {
    const exchanges = [
      anExchange({ id: 4, ...at(20), status: 429, response: told('60') }),
      anExchange({ id: 3, ...at(11), status: 429, response: told('2') }),
      anExchange({ id: 2, ...at(10), status: 503, response: told('2') }),
      anExchange({ id: 1, ...at(0) }),
    ]
    const { axis, lanes } = draw(exchanges, 20)
    expect(axis.segments).toMatchObject([{ from: NOON, to: NOON + 40_000 }])
    expect(axis.now).toBe(0.5)
    expect(lanes[0]?.waits).toEqual([
      [0.25, 13 / 40],
      [0.5, 1],
    ])
    expect(lanes[0]?.marks.answered).toEqual(new Set([0]))
    expect(lanes[0]?.marks.limited).toEqual(new Set([0.275, 0.5]))
    expect(lanes[0]?.marks.failed).toEqual(new Set([0.25]))
  })

  it('have a break of the same width where the clock was moved, and where nothing happened', () => {
    const exchanges = [
      anExchange({ id: 6, ...at(7300, 100) }),
      anExchange({ id: 5, ...at(3700, 100) }),
      ...[4, 3, 2, 1].map((id) => anExchange({ id, ...at(id) })),
    ]
    const { axis } = draw(exchanges, 7301)
    expect(axis.segments.map(({ firstId, gap }) => [firstId, gap])).toEqual([
      [1, ''],
      [5, '+1 h'],
      [6, '+1 h'],
    ])
    // At least 10 s each, at equal distances.
    const places = exchanges.map((exchange) => axis.place(exchange) ?? -1)
    expect(places[0]).toBeCloseTo(2 * (places[1] ?? 0))
    expect(places[2]).toBeCloseTo(0.3 * 0.32)
    const idle = draw([anExchange({ id: 3, ...at(90) }), ...exchanges.slice(4)], 90).axis
    expect(idle.segments.map(({ gap }) => gap)).toEqual(['', '1 min idle'])
    expect(draw(exchanges.slice(2), 64).axis.segments.map(({ gap }) => gap)).toEqual(['', '1 min idle'])
    expect(draw(exchanges.slice(2), 3604, undefined, 4).axis.segments.map(({ gap }) => gap)).toEqual(['', '+1 h'])
    expect(draw([anExchange({ id: 2, ...at(0, 61) }), anExchange({ ...at(60) })], 1).axis.segments[1]?.gap).toBe(
      '−1 min',
    )
  })

  it('have no break where the clock was moved by no more than a stretch has at least', () => {
    const exchanges = Array.from({ length: 20 }, (_, n) => anExchange({ id: 20 - n, ...at((20 - n) * 9, 0) }))
    const { axis } = draw(exchanges, 20 * 9 + 8, undefined, 0)
    expect(axis.segments).toHaveLength(1)
    expect(axis.hidden).toBe(0)
  })

  it('have no jump of a clock that ran on, or that the page has read too early; now is not before a request', () => {
    const exchanges = [anExchange({ id: 2, ...at(8) }), anExchange({ id: 1, ...at(0) })]
    const gaps = (second: number, real?: number) => draw(exchanges, second, undefined, real).axis.segments[1]?.gap
    expect([gaps(45), gaps(45, 45), gaps(45, 8), gaps(-60, 9)]).toEqual(['37 s idle', '37 s idle', '+37 s', '−1 min'])
    const { axis } = draw(exchanges, 6)
    expect(axis.segments).toHaveLength(1)
    expect(axis.now).toBe(axis.place(exchanges[0] as Exchange))
  })

  it('end the wait of a ban where its client gets through: the ban was lifted', () => {
    const banned = { status: 429, reason: 'ban', response: told('300') } as const
    const exchanges = [
      anExchange({ id: 4, ...at(20) }),
      anExchange({ id: 3, ...at(15), key: 'sandbox-pro', sender: 'worker' }),
      anExchange({ id: 2, ...at(10), ...banned }),
      anExchange({ id: 1, ...at(0), ...banned, sender: 'worker' }),
    ]
    const { axis, lanes } = draw(exchanges, 30)
    const [worker, other] = lanes.map(({ waits }) => waits)
    expect(other).toEqual([[axis.place(exchanges[2] as Exchange), axis.place(exchanges[0] as Exchange)]])
    expect(worker).toEqual([[0, 1]])
  })

  it('draw the last stretches after many moves, and count the requests that are not drawn', () => {
    const exchanges = Array.from({ length: 24 }, (_, n) => anExchange({ id: 24 - n, ...at((24 - n) * 3600, 0) }))
    const { axis, lanes } = draw(exchanges, 24 * 3600)
    expect([axis.segments.length, axis.hidden]).toEqual([6, 18])
    expect(lanes[0]?.marks.answered.size).toBe(6)
    expect(lanes[0]?.requests).toBe(24)
  })

  it('do not blame a client for a wait that another one with its key was told', () => {
    const exchanges = [
      sentBy('poller/1', { id: 3, ...at(2), disobeyed: { rule: 'early-retry', exchange: 2 } }),
      sentBy('curl/8', { id: 2, ...at(1), status: 429, response: told('60') }),
      sentBy('curl/8', { id: 1, ...at(0) }),
    ]
    const finding = aFinding({
      countByClient: { poller: 1 },
      count: 1,
      disobeyed: { exchange: 2, retryAfter: '60' } as never,
    })
    const [curl, poller] = draw(exchanges, 3, conductOf(finding)).lanes
    expect([curl?.findings, poller?.findings, poller?.sharesWith]).toEqual([[], [], 'curl'])
  })

  it('have own requests of people as a lane that is not judged, whatever clients did with the key', () => {
    const finding = aFinding({ rule: 'invalid-request', exchanges: [1, 2], countByClient: { curl: 2 } })
    const { lanes } = draw([sentBy('curl/8', { id: 3, sender: 'you' })], 0, conductOf(finding))
    expect(lanes).toMatchObject([{ client: 'you', isOwn: true, findings: [] }])
  })
})

describe('the order of lanes', () => {
  const lane = (client: string, violations: number, isOwn = false) =>
    ({ client, violations, isOwn, findings: violations > 0 ? [{}] : [] }) as unknown as Lane
  const names = (lanes: readonly Lane[]) => lanes.map(({ client }) => client).join(' ')

  it('has the worst first, and people last', () => {
    const lanes = [lane('you', 0, true), lane('polite', 0), lane('two', 2), lane('many', 24)]
    expect(names(orderLanes(lanes, [], false))).toBe('many two polite you')
  })

  it('stays while counts grow, until one has doubled, and while it is held', () => {
    const before = ['a', 'b']
    expect(names(orderLanes([lane('a', 4), lane('b', 7)], before, false))).toBe('a b')
    expect(names(orderLanes([lane('a', 4), lane('b', 8)], before, false))).toBe('b a')
    expect(names(orderLanes([lane('new', 90), lane('a', 4), lane('b', 8)], before, true))).toBe('a b new')
  })
})
