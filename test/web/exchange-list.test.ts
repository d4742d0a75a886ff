import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../src/exchanges/exchange-record.js'
import type { LoggedEvent } from '../../src/exchanges/space-event.js'
import { ExchangeRing, scrollToRow, timelineOf, visibleRows } from '../../src/web/dashboard/exchange-rows.js'
import { anExchange } from './exchanges.js'

const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`
const event = (afterId: number, verb = 'storm.start'): LoggedEvent => ({ at: at(0), verb, text: verb, afterId })
const words = (rows: ReturnType<typeof timelineOf>) =>
  rows.map((row) => (row.kind === 'exchange' ? row.exchange.id : row.kind === 'event' ? row.event.verb : row.kind))

describe('the list', () => {
  it('has events between the exchanges where they happened', () => {
    const exchanges = [3, 2, 1].map((id) => anExchange({ id, at: at(id) }))
    const events = [event(3, 'storm.stop'), event(1, 'clock.advance'), event(1), event(0, 'reset')]
    const rows = ['storm.stop', 3, 2, 'clock.advance', 'storm.start', 1, 'reset']
    expect(words(timelineOf(exchanges, events))).toEqual(rows)
    expect(words(timelineOf([], events))).toHaveLength(4)
  })

  it('shows where the clock went back, unless an event explains it', () => {
    const exchanges = [anExchange({ id: 2, at: at(1) }), anExchange({ id: 1, at: at(30) })]
    expect(words(timelineOf(exchanges, []))).toEqual([2, 'back', 1])
    expect(words(timelineOf(exchanges, [event(1, 'clock.reset')]))).toEqual([2, 'clock.reset', 1])
    expect(words(timelineOf(exchanges, [event(1, 'faults.add')]))).toEqual([2, 'faults.add', 'back', 1])
  })
})

describe('the rows of the list', () => {
  it('name the day of exchanges of another day', () => {
    const exchanges = [anExchange({ id: 2, at: at(1) }), anExchange({ id: 1, at: '2026-02-28T23:00:00.000Z' })]
    const dayOf = (text: string) => text.slice(0, 10)
    expect(words(timelineOf(exchanges, [], { today: '2026-03-01', dayOf }))).toEqual([2, 'day', 1])
    expect(words(timelineOf(exchanges, [], { today: '2026-03-02', dayOf }))).toEqual(['day', 2, 'day', 1])
  })

  it('are shared by equal exchanges, unless something happened between them', () => {
    const exchanges = [4, 3, 2, 1].map((id) => anExchange({ id, at: at(id), status: id === 1 ? 500 : 200 }))
    const factsOf = ({ key, status }: Exchange) => ({ client: key, facts: String(status) })
    const ids = (events: readonly LoggedEvent[], given: readonly Exchange[] = exchanges) =>
      timelineOf(given, events, { factsOf }).map((row) => (row.kind === 'exchange' ? row.ids : 0))
    expect(ids([])).toEqual([[4, 3, 2], [1]])
    expect(ids([event(3)])).toEqual([[4], 0, [3, 2], [1]])
    const other = exchanges.map((one) => (one.id === 3 ? { ...one, key: 'other' } : one))
    expect(ids([], other), 'requests of others between them').toEqual([[4, 2], [3], [1]])
  })

  it('name the day of events alone', () => {
    const events = [event(2, 'clock.advance'), event(0, 'reset')]
    const dayOf = (text: string) => text.slice(0, 10)
    expect(words(timelineOf([], events, { today: '2026-03-02', dayOf }))).toEqual(['day', 'clock.advance', 'reset'])
  })
})

describe('the exchanges that a page keeps', () => {
  it('are the last ones, newest first, each once', () => {
    const ring = new ExchangeRing(3)
    for (const id of [1, 2, 3, 4, 5]) expect(ring.add(anExchange({ id }))).toBe(true)
    expect(ring.add(anExchange({ id: 5 }))).toBe(false)
    expect(ring.newestFirst().map(({ id }) => id)).toEqual([5, 4, 3])
  })

  it('accept an exchange that ends late', () => {
    const ring = new ExchangeRing()
    for (const id of [1, 3, 2]) expect(ring.add(anExchange({ id }))).toBe(true)
    expect([ring.newestFirst().length, ring.highestId]).toEqual([3, 3])
  })

  it('grow by a page of older ones', () => {
    const ring = new ExchangeRing(2)
    for (const id of [3, 4]) ring.add(anExchange({ id }))
    ring.addOlder([1, 2].map((id) => anExchange({ id })))
    expect(ring.newestFirst().map(({ id }) => id)).toEqual([4, 3, 2, 1])
  })

  it('contradict those of another log, also at the same instant of the clock', () => {
    const ring = new ExchangeRing()
    for (const id of [1, 2, 3]) ring.add(anExchange({ id }))
    expect([1, 4].map((id) => ring.contradicts(anExchange({ id, status: 404 })))).toEqual([false, false])
    expect(ring.contradicts(anExchange({ id: 1, receivedAt: '2026-03-01T12:00:09.000Z' }))).toBe(true)
  })
})

describe('the rows that are rendered', () => {
  it.each([0, 15_000, 29_700])('are the visible ones and a few more, scrolled by %i', (scrollTop) => {
    const { first, end } = visibleRows(1000, 30, scrollTop, 300)
    expect(first * 30).toBeLessThanOrEqual(scrollTop)
    expect(end * 30).toBeGreaterThanOrEqual(scrollTop + 300)
    expect(end - first).toBeLessThanOrEqual(24)
  })

  it('scroll only as far as needed, and are empty after a list was cleared', () => {
    expect(visibleRows(0, 30, 9000, 300)).toEqual({ first: 0, end: 0 })
    expect(scrollToRow(5, 30, 0, 300)).toBeUndefined()
    expect(scrollToRow(10, 30, 0, 300)).toBe(30)
    expect(scrollToRow(1, 30, 300, 300)).toBe(30)
  })
})
