import { setImmediate as endOfTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { Heard } from '../../src/http/heard.js'

let heard: Heard

beforeEach(() => {
  heard = new Heard()
})

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await endOfTurn()
}

describe('what everybody has heard', () => {
  it('is what was sent 250 ms before, and nothing later', () => {
    heard.sent(7, 1000, true)
    expect(heard.upTo(1249.9)).toBe(0)
    expect(heard.upTo(1250)).toBe(7)
    heard.sent(9, 1300, true)
    expect(heard.upTo(1549)).toBe(7)
    expect(heard.upTo(1550)).toBe(9)
  })

  it('is never too much, though what is sent within 10 ms is told together', () => {
    heard.sent(1, 1000, true)
    heard.sent(2, 1009, true)
    expect(heard.upTo(1250)).toBe(0)
    expect(heard.upTo(1259)).toBe(2)
  })

  it('comes to be, however often something is sent', () => {
    for (let at = 0; at <= 1000; at += 5) heard.sent(at, at, true)
    expect(heard.upTo(1000)).toBeGreaterThanOrEqual(735)
    expect(heard.upTo(1000)).toBeLessThanOrEqual(750)
  })
})

describe('what the opener of a new connection has heard', () => {
  it('is all that was sent before a turn that accepted nobody', async () => {
    heard.sent(5, 0, true)
    expect(heard.accepted()).toBe(0)
    await turns(4)
    expect(heard.accepted()).toBe(5)
  })

  it('takes a turn more where it was sent before the turn has looked at the queue', async () => {
    heard.sent(5, 0, false)
    await turns(1)
    expect(heard.accepted()).toBe(0)
    await turns(4)
    expect(heard.accepted()).toBe(5)
  })

  it('is nothing new as long as those who connect stand in a queue', async () => {
    heard.sent(5, 0, true)
    for (let turn = 0; turn < 10; turn++) {
      expect(heard.accepted()).toBe(0)
      await turns(1)
    }
    await turns(4)
    expect(heard.accepted()).toBe(5)
  })

  it('is not what was sent while the queue was being watched, before it was empty again', async () => {
    heard.sent(5, 0, true)
    await turns(1)
    heard.sent(6, 1, true)
    await turns(2)
    expect([5, 6]).toContain(heard.accepted())
    await turns(8)
    expect(heard.accepted()).toBe(6)
  })
})
