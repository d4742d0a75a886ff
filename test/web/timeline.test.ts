import { describe, expect, it } from 'vitest'
import { type TimelineEvent, timelineOf } from '../../src/web/dashboard/timeline.js'
import { anExchange } from './exchanges.js'

const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`
const event = (afterId: number, verb = 'storm.start', number = afterId): TimelineEvent => ({
  at: at(0),
  verb,
  text: verb,
  afterId,
  number,
})
const words = (rows: ReturnType<typeof timelineOf>) =>
  rows.map((row) => (row.kind === 'exchange' ? row.exchange.id : row.kind === 'event' ? row.event.verb : 'back'))

describe('the list', () => {
  it('has what happened between the exchanges where it happened', () => {
    const exchanges = [3, 2, 1].map((id) => anExchange({ id, at: at(id) }))
    const events = [event(3, 'storm.stop'), event(1, 'clock.advance', 9), event(1), event(0, 'reset')]
    expect(words(timelineOf(exchanges, events))).toEqual([
      'storm.stop',
      3,
      2,
      'clock.advance',
      'storm.start',
      1,
      'reset',
    ])
    expect(words(timelineOf([], events))).toHaveLength(4)
  })

  it('says where the clock went back, unless somebody has said so', () => {
    const exchanges = [anExchange({ id: 2, at: at(1) }), anExchange({ id: 1, at: at(30) })]
    expect(words(timelineOf(exchanges, []))).toEqual([2, 'back', 1])
    expect(words(timelineOf(exchanges, [event(1, 'clock.reset')]))).toEqual([2, 'clock.reset', 1])
    expect(words(timelineOf(exchanges, [event(1, 'faults.add')]))).toEqual([2, 'faults.add', 'back', 1])
  })
})
