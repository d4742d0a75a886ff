import { describe, expect, it } from 'vitest'
import {
  activeBan,
  banFor,
  banRecordWithoutFuture,
  type EarlyRequest,
  isRetryWindowOpen,
  type RetryWindow,
  withEarly,
} from '../../src/domain/ban.js'
import { MINUTE_MS } from '../../src/domain/time.js'
import fc from '../support/fast-check.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

/** A key whose requests are all refused, each with a wait, and that has some senders. */
class Refused {
  #waits: RetryWindow[] = []
  #early: readonly EarlyRequest[] = []
  readonly #senders: number

  constructor(senders = 1) {
    this.#senders = senders
  }

  /** @returns whether the request brings the ban */
  send(waitMs: number, now: number, wall = now, threshold = 10): boolean {
    this.#waits = this.#waits.filter((wait) => isRetryWindowOpen(wait, now, wall))
    const isEarly = this.#waits.length >= this.#senders
    this.#waits.push({ from: now, until: now + waitMs, wallUntil: wall + waitMs })
    if (isEarly) this.#early = withEarly(this.#early, '', now, wall)
    return isEarly && this.#early.length >= threshold * this.#senders
  }
}

describe('a ban', () => {
  it.each([1, 10, 1000])('starts with early request %d between a 429 and the end of its Retry-After', (threshold) => {
    const refused = new Refused()
    const sent = Array.from({ length: 2000 }, (_, i) => refused.send(MINUTE_MS, NOON + i, NOON + i, threshold))
    // The first refused request was not early.
    expect(sent.indexOf(true)).toBe(threshold)
  })

  it.each([
    ['moving', 1],
    ['frozen', 0],
  ])('starts for a client that sends every six seconds for a minute, not every seven, on a %s clock', (_how, moves) => {
    const isBanned = (step: number) => {
      const refused = new Refused()
      const after = Array.from({ length: 40 }, (_, i) => i * step)
      return after.some((ms) => refused.send(60 * MINUTE_MS, NOON + ms * moves, NOON + ms))
    }
    expect([isBanned(6000), isBanned(7000)]).toEqual([true, false])
  })

  it.each([100, 250, 500, 1900])(
    'starts with the tenth early request, one every %d ms, while waits take 2 s',
    (step) => {
      const refused = new Refused()
      const sent = Array.from({ length: 40 }, (_, i) => refused.send(2000, NOON + i * step))
      expect(sent.indexOf(true)).toBe(10)
    },
  )

  it('never starts for clients that each wait, however short the waits are', () => {
    const workers = fc.array(fc.record({ start: fc.nat(2000), think: fc.nat(50) }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(workers, fc.integer({ min: 1, max: 3000 }), (crew, waitMs) => {
        // Every request is refused; each worker comes back exactly when its own wait is over, or a little later.
        const refused = new Refused(crew.length)
        const due = crew.map(({ start, think }) => ({ at: NOON + start, think }))
        for (let step = 0; step < 300; step++) {
          const next = due.reduce((a, b) => (b.at < a.at ? b : a))
          expect(refused.send(waitMs, next.at)).toBe(false)
          next.at += waitMs + next.think
        }
      }),
    )
  })

  it('never starts for a client that waits in real time while the clock is frozen', () => {
    const refused = new Refused()
    for (let wall = NOON; wall < NOON + 60 * MINUTE_MS; wall += MINUTE_MS)
      expect(refused.send(MINUTE_MS, NOON, wall, 1)).toBe(false)
  })

  it('lasts from its start until the instant before its end', () => {
    const record = banFor(MINUTE_MS, NOON, 0)
    const isActive = (offset: number) => activeBan(record, NOON + offset) !== undefined
    expect([-1, 0, MINUTE_MS - 1, MINUTE_MS].map(isActive)).toEqual([false, true, true, false])
    expect(banRecordWithoutFuture(record, NOON - 1)).toEqual({})
    expect(banRecordWithoutFuture(record, NOON)).toBe(record)
  })
})
