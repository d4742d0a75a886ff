import { describe, expect, it } from 'vitest'
import { activeBan, banFor, banRecordWithoutFuture, bringsBan, isRunning, type Wait } from '../../src/domain/ban.js'
import { MINUTE_MS } from '../../src/domain/time.js'
import fc from '../support/fast-check.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const BAN_AFTER = 10

/** A key whose requests are all refused, each with a wait. */
class Refused {
  #waits: (Wait & { readonly isEarly: boolean })[] = []
  readonly #early: Wait[] = []

  /** @returns whether the request brings the ban */
  send(waitMs: number, now: number, wall = now, threshold = BAN_AFTER): boolean {
    this.#waits = this.#waits.filter((wait) => isRunning(wait, now, wall))
    const isEarly = this.#waits.length > 0
    const isWaiting = this.#waits.some((wait) => !wait.isEarly)
    if (isEarly && bringsBan(this.#early, isWaiting, threshold, now, wall)) return true
    const wait = { from: now, until: now + waitMs, wallUntil: wall + waitMs }
    this.#waits.push({ ...wait, isEarly })
    if (isEarly) this.#early.push(wait)
    return false
  }
}

/** Number of refused requests before the ban; undefined without a ban. */
function refusalsBeforeBan(instants: readonly number[], waitMs: number, threshold = BAN_AFTER): number | undefined {
  const refused = new Refused()
  const index = instants.findIndex((now) => refused.send(waitMs, now, now, threshold))
  return index === -1 ? undefined : index
}

describe('a ban', () => {
  it('starts with the tenth request sent between a 429 and the end of its Retry-After', () => {
    const instants = Array.from({ length: 20 }, (_, i) => NOON + i)
    // One refusal that was not early, nine that were; the tenth early one is the ban.
    expect(refusalsBeforeBan(instants, MINUTE_MS)).toBe(10)
    expect(refusalsBeforeBan(instants, MINUTE_MS, 1)).toBe(1)
    expect(
      refusalsBeforeBan(
        Array.from({ length: 2000 }, (_, i) => NOON + i),
        MINUTE_MS,
        1000,
      ),
    ).toBe(1000)
  })

  it('starts for a client that sends every six seconds for a minute, not every seven', () => {
    const every = (step: number) => Array.from({ length: 40 }, (_, i) => NOON + i * step)
    expect(refusalsBeforeBan(every(6000), 60 * MINUTE_MS)).toBeDefined()
    expect(refusalsBeforeBan(every(7000), 60 * MINUTE_MS)).toBeUndefined()
  })

  it('never starts for ten clients that each wait, however short the waits are', () => {
    const workers = fc.array(fc.record({ start: fc.nat(2000), think: fc.nat(50) }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(workers, fc.integer({ min: 1, max: 3000 }), (crew, waitMs) => {
        // Every request is refused; each worker comes back exactly when its own wait is over, or a little later.
        const refused = new Refused()
        const due = crew.map(({ start, think }) => ({ at: NOON + start, think }))
        for (let step = 0; step < 300; step++) {
          const next = due.reduce((a, b) => (b.at < a.at ? b : a))
          expect(refused.send(waitMs, next.at)).toBe(false)
          next.at += waitMs + next.think
        }
      }),
    )
  })

  it('lasts until the instant before its end', () => {
    const record = banFor(5 * MINUTE_MS, NOON)
    expect(activeBan(record, NOON + 5 * MINUTE_MS - 1)).toBeDefined()
    expect(activeBan(record, NOON + 5 * MINUTE_MS)).toBeUndefined()
  })

  it('is over if it starts in the future', () => {
    const record = banFor(MINUTE_MS, NOON)
    expect(activeBan(record, NOON - 1)).toBeUndefined()
    expect(banRecordWithoutFuture(record, NOON - 1)).toEqual({})
    expect(banRecordWithoutFuture(record, NOON)).toBe(record)
  })

  it('never starts for a client that waits in real time while the clock is frozen', () => {
    const refused = new Refused()
    for (let wall = NOON; wall < NOON + 60 * MINUTE_MS; wall += MINUTE_MS)
      expect(refused.send(MINUTE_MS, NOON, wall, 1)).toBe(false)
  })

  it('counts a minute of real time on a frozen clock', () => {
    const bringing = (step: number) => {
      const refused = new Refused()
      return Array.from({ length: 40 }, (_, i) => refused.send(60 * MINUTE_MS, NOON, NOON + i * step)).includes(true)
    }
    expect([bringing(6000), bringing(7000)]).toEqual([true, false])
  })
})
