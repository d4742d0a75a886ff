import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BanRecord, bringsBan, NO_BAN_RECORD, noteRefusal } from '../../src/domain/ban.js'
import { MINUTE_MS } from '../../src/domain/time.js'

// The torture suite found that each refusal cost as much as there were early requests before it: with a large
// --ban-after a client that never waits brought the sandbox to a crawl.

const NOON = Date.parse('2026-03-01T12:00:00Z')

interface Refusal {
  readonly from: number
  readonly until: number
}

/** The rule as it reads, by going through all refusals there have been. */
function plainly(refusals: readonly Refusal[], now: number): number {
  let wait: Refusal | undefined
  let early: Refusal[] = []
  const stillCounting = (at: number) =>
    early.filter(({ from, until }) => from <= at && at < until && at - from < MINUTE_MS)
  for (const refusal of refusals) {
    early = stillCounting(refusal.from)
    const isEarly = wait !== undefined && wait.from <= refusal.from && refusal.from < wait.until
    if (wait === undefined || !isEarly) wait = refusal
    else {
      wait = { from: wait.from, until: Math.max(wait.until, refusal.until) }
      early.push(refusal)
    }
  }
  return wait !== undefined && wait.from <= now && now < wait.until ? stillCounting(now).length + 1 : 0
}

function noteAll(refusals: readonly Refusal[]): BanRecord {
  return refusals.reduce((record, { from, until }) => noteRefusal(record, until, from), NO_BAN_RECORD)
}

describe('a client that never waits, under a ban that comes late', () => {
  it('is counted as if all its refusals were gone through each time, also when the clock goes back', () => {
    const step = fc.record({ by: fc.integer({ min: -5000, max: 20_000 }), wait: fc.integer({ min: 1, max: 200_000 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: -5000, max: 70_000 }), (steps, last) => {
        let now = NOON
        const refusals = steps.map(({ by, wait }) => {
          now += by
          return { from: now, until: now + wait }
        })
        const count = plainly(refusals, now + last)
        const record = noteAll(refusals)
        if (count > 0) expect(bringsBan(record, count, now + last)).toBe(true)
        expect(bringsBan(record, count + 1, now + last)).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it('is counted exactly, far beyond what is kept in one piece', () => {
    const refusals = Array.from({ length: 1000 }, (_, i) => ({ from: NOON + i, until: NOON + 10 * MINUTE_MS }))
    expect(bringsBan(noteAll(refusals), 1000, NOON + 1000)).toBe(true)
    expect(bringsBan(noteAll(refusals), 1001, NOON + 1000)).toBe(false)
  })

  it('adds to what was noted before without going through it', () => {
    const record = noteAll(Array.from({ length: 600 }, (_, i) => ({ from: NOON + i, until: NOON + MINUTE_MS })))
    const next = noteRefusal(record, NOON + MINUTE_MS, NOON + 600)
    expect(next.early[0]).toBe(record.early[0])
    expect(next.early[1]).toBe(record.early[1])
  })
})
