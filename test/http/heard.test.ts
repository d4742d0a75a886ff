import { setImmediate as endOfTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Heard } from '../../src/http/heard.js'
import { systemClock } from '../../src/system/system-clock.js'

let heard: Heard

beforeEach(() => {
  heard = new Heard()
})

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await endOfTurn()
}

describe('what everybody has heard', () => {
  /** Time passes, and each timer has its turn of the event loop. */
  async function pass(duration: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(duration)
    await turns(2)
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const send = (position: number) => heard.sent(position, systemClock.monotonic(), true)

  it('is what was sent 250 ms before, and nothing later', async () => {
    send(7)
    await pass(249)
    expect(heard.upTo).toBe(0)
    await pass(1)
    expect(heard.upTo).toBe(7)
    await pass(50)
    send(9)
    await pass(249)
    expect(heard.upTo).toBe(7)
    await pass(1)
    expect(heard.upTo).toBe(9)
  })

  it('is not what was sent 250 ms before as long as the process has not read what came since', async () => {
    send(7)
    vi.advanceTimersByTime(10_000)
    expect(heard.upTo).toBe(0)
    await turns(2)
    expect(heard.upTo).toBe(7)
  })

  it('is never too much, though what is sent within 10 ms is told together', async () => {
    send(1)
    await pass(9)
    send(2)
    await pass(241)
    expect(heard.upTo).toBe(0)
    await pass(9)
    expect(heard.upTo).toBe(2)
  })

  it('comes to be, however often something is sent', async () => {
    for (let at = 0; at < 1000; at += 5) {
      send(at)
      await pass(5)
    }
    expect(heard.upTo).toBeGreaterThanOrEqual(735)
    expect(heard.upTo).toBeLessThanOrEqual(750)
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
