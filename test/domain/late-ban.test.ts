import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BanRecord, bringsBan, NO_BAN_RECORD, noteRefusal } from '../../src/domain/ban.js'
import { MINUTE_MS } from '../../src/domain/time.js'

// The torture suite found that each refusal cost as much as there were early requests before it: with a large
// --ban-after a client that never waits brought the sandbox to a crawl.

const NOON = Date.parse('2026-03-01T12:00:00Z')

/** A refusal, and when its wait is over, by the clock and really. */
interface Refusal {
  readonly from: number
  readonly until: number
  readonly wall: number
}

/** The rule as it reads, by going through all refusals there have been. */
function plainly(refusals: readonly Refusal[], now: number, wall: number): number {
  let wait: { from: number; until: number; wallUntil: number } | undefined
  let early: Refusal[] = []
  const stillCounting = (at: number, wallAt: number) =>
    early.filter(
      ({ from, until, wall }) =>
        from <= at && at < until && at - from < MINUTE_MS && wallAt - wall < Math.min(until - from, MINUTE_MS),
    )
  const isWaiting = (at: number, wallAt: number) =>
    wait !== undefined && wait.from <= at && at < wait.until && wallAt < wait.wallUntil
  for (const refusal of refusals) {
    const { from, until } = refusal
    const wallUntil = refusal.wall + until - from
    early = stillCounting(from, refusal.wall)
    if (wait === undefined || !isWaiting(from, refusal.wall)) wait = { from, until, wallUntil }
    else {
      wait = {
        from: wait.from,
        until: Math.max(wait.until, until),
        wallUntil: Math.max(wait.wallUntil, wallUntil),
      }
      early.push(refusal)
    }
  }
  return isWaiting(now, wall) ? stillCounting(now, wall).length + 1 : 0
}

function noteAll(refusals: readonly Refusal[]): BanRecord {
  return refusals.reduce((record, { from, until, wall }) => noteRefusal(record, until, from, wall), NO_BAN_RECORD)
}

describe('a client that never waits, under a ban that comes late', () => {
  it('is counted as if all its refusals were gone through each time, also when the clock goes back', () => {
    const step = fc.record({
      by: fc.integer({ min: -5000, max: 20_000 }),
      wait: fc.integer({ min: 1, max: 200_000 }),
      really: fc.nat(20_000),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: -5000, max: 70_000 }), (steps, last) => {
        let now = NOON
        let wall = NOON
        const refusals = steps.map(({ by, wait, really }) => {
          now += by
          wall += really
          return { from: now, until: now + wait, wall }
        })
        const count = plainly(refusals, now + last, wall)
        const record = noteAll(refusals)
        if (count > 0) expect(bringsBan(record, count, now + last, wall)).toBe(true)
        expect(bringsBan(record, count + 1, now + last, wall)).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it('is counted exactly, far beyond what is kept in one piece', () => {
    const refusals = Array.from({ length: 1000 }, (_, i) => ({
      from: NOON + i,
      until: NOON + 10 * MINUTE_MS,
      wall: NOON,
    }))
    expect(bringsBan(noteAll(refusals), 1000, NOON + 1000, NOON)).toBe(true)
    expect(bringsBan(noteAll(refusals), 1001, NOON + 1000, NOON)).toBe(false)
  })

  it('adds to what was noted before without going through it', () => {
    const record = noteAll(
      Array.from({ length: 600 }, (_, i) => ({ from: NOON + i, until: NOON + MINUTE_MS, wall: NOON })),
    )
    const next = noteRefusal(record, NOON + MINUTE_MS, NOON + 600, NOON)
    expect(next.early[0]).toBe(record.early[0])
    expect(next.early[1]).toBe(record.early[1])
  })
})
