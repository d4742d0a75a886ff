import { describe, expect, it } from 'vitest'
import { banLeft, minuteAt, windowAt } from '../../src/web/dashboard/quota-now.js'
import { dateText, inZone } from '../../src/web/dashboard/texts.js'
import { countdownText, readableBody, timeText } from '../../src/web/format.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('a time on a page', () => {
  it.each([
    [0, '0:00'],
    [245_000, '4:05'],
    [3_600_000, '1:00:00'],
    [86_399_000, '23:59:59'],
    [51 * 3_600_000, '2 d 3 h'],
  ])('shows %d ms left as %s', (left, text) => expect(countdownText(left)).toBe(text))

  it('is in UTC by default', () => {
    const texts = [timeText(NOON + 7), timeText(NOON + 7, true), dateText(NOON)]
    expect(texts).toEqual(['12:00:00', '12:00:00.007', 'Sun, 1 Mar 2026'])
  })

  it('in a sentence is not rounded up, unless it is the end of a wait', () => {
    const text = 'Clock set to 2026-03-01T12:00:51.332Z; sandbox is banned until 2026-03-01T12:00:51.332Z.'
    expect(inZone(text, NOON)).toBe('Clock set to 12:00:51 UTC; sandbox is banned until 12:00:52 UTC.')
  })
})

describe('a gauge', () => {
  const reported = { limit: 60, remaining: 12, reset: '2026-03-01T12:00:30.000Z' }

  it('shows the reported numbers until the reset, and is full again at the instant its window ends', () => {
    expect(windowAt(reported, NOON)).toEqual({ limit: 60, remaining: 12, leftMs: 30_000 })
    expect(windowAt(reported, NOON + 29_999).remaining).toBe(12)
    expect(windowAt(reported, NOON + 30_000)).toEqual({ limit: 60, remaining: 60, leftMs: 0 })
  })

  it('stays spent for a key that is always out of quota', () => {
    for (const reset of [null, reported.reset]) {
      const minute = { limit: 60, remaining: 0, reset }
      expect(minuteAt({ minute, always: 'limited' }, NOON + 90_000)?.remaining).toBe(0)
    }
  })

  it('shows the time left of a ban, none for a key that is always banned', () => {
    const ban = { until: '2026-03-01T12:05:00.000Z' }
    expect(banLeft({ ban, always: null }, NOON)).toBe(300_000)
    expect(banLeft({ ban, always: null }, NOON + 300_000)).toBe(0)
    expect(banLeft({ ban, always: 'banned' }, NOON)).toBe(0)
  })
})

describe('a body on a page', () => {
  it('is indented; nothing but whitespace changes', () => {
    const body = '{"id": 9223372036854775807,"price":1.0,"tags":[],"of":{},"text":"a\\"{ [,:]","list":[1,-0]}'
    const list = ['  "list": [', '    1,', '    -0', '  ]']
    const [id, text] = ['  "id": 9223372036854775807,', '  "text": "a\\"{ [,:]",']
    const lines = ['{', id, '  "price": 1.0,', '  "tags": [],', '  "of": {},', text, ...list, '}']
    expect(readableBody(body).split('\n')).toEqual(lines)
  })

  it.each(['', '{"name":', 'plain text'])('stays as it is if it is not valid JSON: %s', (body) =>
    expect(readableBody(body)).toBe(body),
  )
})
