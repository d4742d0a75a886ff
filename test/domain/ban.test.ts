import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  activeBan,
  type BanRecord,
  banFor,
  bringsBan,
  keptBanRecord,
  NO_BAN_RECORD,
  noteRefusal,
  revivedBanRecord,
} from '../../src/domain/ban.js'
import { MINUTE_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const BAN_AFTER = 10

/** How many requests are refused before the one that brings the ban; undefined if none does. */
function refusalsBeforeBan(instants: readonly number[], waitMs: number): number | undefined {
  let record: BanRecord = NO_BAN_RECORD
  for (const [index, now] of instants.entries()) {
    if (bringsBan(record, BAN_AFTER, now, now)) return index
    record = noteRefusal(record, now + waitMs, now, now)
  }
  return undefined
}

describe('a ban', () => {
  it('falls with the tenth request that comes after a 429 and before its Retry-After has passed', () => {
    const instants = Array.from({ length: 20 }, (_, i) => NOON + i)
    // One refusal that was not early, nine that were; the tenth early one is the ban.
    expect(refusalsBeforeBan(instants, MINUTE_MS)).toBe(10)
  })

  it('falls on a client that asks every six seconds for a minute, and not on one that asks every seven', () => {
    const every = (step: number) => Array.from({ length: 40 }, (_, i) => NOON + i * step)
    expect(refusalsBeforeBan(every(6000), 60 * MINUTE_MS)).toBeDefined()
    expect(refusalsBeforeBan(every(7000), 60 * MINUTE_MS)).toBeUndefined()
  })

  it('never falls on a client that waits and has fewer than ten requests under way, however short the waits are', () => {
    const workers = fc.array(fc.record({ start: fc.nat(2000), think: fc.nat(50) }), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(workers, fc.integer({ min: 1, max: 3000 }), (crew, waitMs) => {
        // Every request is refused; each worker comes back exactly when its own wait is over, or a little later.
        let record: BanRecord = NO_BAN_RECORD
        const due = crew.map(({ start, think }) => ({ at: NOON + start, think }))
        for (let step = 0; step < 300; step++) {
          const next = due.reduce((a, b) => (b.at < a.at ? b : a))
          expect(bringsBan(record, BAN_AFTER, next.at, next.at)).toBe(false)
          record = noteRefusal(record, next.at + waitMs, next.at, next.at)
          next.at += waitMs + next.think
        }
      }),
    )
  })

  it('lasts to the instant before its end', () => {
    const record = banFor(5 * MINUTE_MS, NOON)
    expect(activeBan(record, NOON + 5 * MINUTE_MS - 1)).toBeDefined()
    expect(activeBan(record, NOON + 5 * MINUTE_MS)).toBeUndefined()
  })

  it('from the future is over, as after a return to real time', () => {
    expect(activeBan(banFor(MINUTE_MS, NOON), NOON - 1)).toBeUndefined()
    const told = noteRefusal(NO_BAN_RECORD, NOON + MINUTE_MS, NOON, NOON)
    expect(bringsBan(told, 1, NOON - 1, NOON)).toBe(false)
  })

  it('forgets what led to it', () => {
    const instants = Array.from({ length: 10 }, (_, i) => NOON + i)
    const refused = instants.reduce((record, now) => noteRefusal(record, now + MINUTE_MS, now, now), NO_BAN_RECORD)
    expect(bringsBan(refused, BAN_AFTER, NOON + 10, NOON + 10)).toBe(true)
    expect(bringsBan(banFor(1, NOON + 10), BAN_AFTER, NOON + 11, NOON + 11)).toBe(false)
  })

  it('never falls on a client that really waits, though the clock stands still', () => {
    let record: BanRecord = NO_BAN_RECORD
    for (let wall = NOON; wall < NOON + 60 * MINUTE_MS; wall += MINUTE_MS) {
      expect(bringsBan(record, 1, NOON, wall)).toBe(false)
      record = noteRefusal(record, NOON + MINUTE_MS, NOON, wall)
    }
  })

  it('counts on a clock that stands still for a minute of real time', () => {
    const bringing = (step: number) => {
      let record: BanRecord = NO_BAN_RECORD
      for (let i = 0; i < 40; i++) {
        const wall = NOON + i * step
        if (bringsBan(record, BAN_AFTER, NOON, wall)) return true
        record = noteRefusal(record, NOON + 60 * MINUTE_MS, NOON, wall)
      }
      return false
    }
    expect([bringing(6000), bringing(7000)]).toEqual([true, false])
  })

  it('lies in a snapshot with what is left of each wait, however long it lies there', () => {
    const instants = Array.from({ length: 10 }, (_, i) => NOON + i)
    const refused = instants.reduce((record, now) => noteRefusal(record, now + MINUTE_MS, now, now), NO_BAN_RECORD)
    const kept = keptBanRecord(refused, NOON + 10, NOON + 10)
    expect(JSON.stringify(kept)).not.toContain('wall')
    const later = NOON + 1e9
    const revived = revivedBanRecord(kept, NOON + 10, later)
    expect(bringsBan(revived, BAN_AFTER, NOON + 10, later)).toBe(true)
    expect(bringsBan(revived, BAN_AFTER, NOON + 10, later + MINUTE_MS)).toBe(false)
    expect(keptBanRecord(refused, NOON + 10, later)).toEqual(NO_BAN_RECORD)
    expect(keptBanRecord(banFor(MINUTE_MS, NOON), NOON + 1, later)).toEqual(banFor(MINUTE_MS, NOON))
  })
})
