import { describe, expect, it } from 'vitest'
import { ExchangeRing } from '../../src/web/dashboard/exchange-ring.js'
import { anExchange } from './exchanges.js'

describe('the exchanges that a page keeps', () => {
  it('are the last ones, newest first', () => {
    const ring = new ExchangeRing(3)
    for (const id of [1, 2, 3, 4, 5]) ring.add(anExchange({ id }))
    expect(ring.newestFirst().map(({ id }) => id)).toEqual([5, 4, 3])
  })

  it('hold each exchange once, whether it came from the list or the stream', () => {
    const ring = new ExchangeRing()
    expect([ring.add(anExchange({ id: 7 })), ring.add(anExchange({ id: 7 }))]).toEqual(['new', 'known'])
    expect(ring.size).toBe(1)
  })

  it('take a slow answer that comes late for what it is', () => {
    const ring = new ExchangeRing()
    for (const id of [1, 3, 2]) expect(ring.add(anExchange({ id }))).toBe('new')
    expect([ring.size, ring.highestId]).toEqual([3, 3])
  })

  it('begin afresh when the log counts from 1 again', () => {
    const ring = new ExchangeRing()
    for (const id of [1, 2, 3]) ring.add(anExchange({ id }))
    expect(ring.add(anExchange({ id: 1, at: '2026-03-01T12:00:09.000Z' }))).toBe('restarted')
    expect([ring.size, ring.highestId]).toEqual([1, 1])
  })
})
