import { describe, expect, it } from 'vitest'
import type { Arrival } from '../../src/conduct/knowledge.js'
import {
  type Coming,
  knewOfBan,
  lacksBackoff,
  newSenders,
  noteAnswer,
  noteFailure,
  noteWait,
  receive,
  type Senders,
  tellOfBan,
} from '../../src/conduct/senders.js'
import { MINUTE_MS, SECOND_MS } from '../../src/domain/time.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

/** A key whose requests come one after the other; an answer takes a millisecond. */
class Client {
  readonly senders: Senders = newSenders()
  at = NOON
  monotonic = 1000
  heardUntil = 0

  passes(clock: number, real = clock): this {
    this.at += clock
    this.monotonic += real
    return this
  }

  arrival(): Arrival {
    return { at: this.at, monotonic: this.monotonic, heardUntil: this.heardUntil }
  }

  send(fingerprint = 'GET /v1/pets'): Coming {
    return receive(this.senders, fingerprint, this.arrival())
  }

  /** @param isHeard whether its sender gets the answer before anything else is sent */
  #answered(isHeard: boolean) {
    this.monotonic++
    if (isHeard) this.heardUntil = this.monotonic
    return { at: this.at, monotonic: this.monotonic }
  }

  refused(wait: number, fingerprint = 'GET /v1/pets', isHeard = true, isLimit = true): Coming {
    const coming = this.send(fingerprint)
    const from = this.at
    noteWait(this.senders, { ...this.#answered(isHeard), fingerprint, from, until: from + wait, isLimit })
    return coming
  }

  served(fingerprint = 'GET /v1/pets', isHeard = true): Coming {
    const coming = this.send(fingerprint)
    noteAnswer(this.senders, coming, this.#answered(isHeard).monotonic)
    return coming
  }

  failed(fingerprint = 'GET /v1/pets'): Coming {
    const coming = this.send(fingerprint)
    noteFailure(this.senders, fingerprint, coming, this.#answered(true))
    return coming
  }
}

describe('a request that comes back', () => {
  it('is early to the instant before its wait is over, and not on it', () => {
    const early = new Client()
    early.refused(30_000)
    expect(early.passes(29_999).send()).toMatchObject({ kind: 'early' })
    const right = new Client()
    right.refused(30_000)
    expect(right.passes(30_000).send()).toEqual({ kind: 'free' })
  })

  it('is early each time that it comes too early', () => {
    const client = new Client()
    expect(client.refused(30_000).kind).toBe('fresh')
    expect([1, 2, 3].map(() => client.refused(30_000).kind)).toEqual(['early', 'early', 'early'])
  })

  it('is not held against who could not have heard of the refusal', () => {
    const client = new Client()
    client.refused(30_000, 'GET /v1/pets', false)
    expect(client.send().kind).toBe('fresh')
  })

  it.each([
    ['of the clock', SECOND_MS, 0],
    ['of real time', 0, SECOND_MS],
  ])('is, once a second %s has passed since', (_what, clock, real) => {
    const client = new Client()
    client.refused(30_000, 'GET /v1/pets', false)
    const before = structuredClone(client.arrival())
    expect(client.passes(clock, real).send().kind).toBe('early')
    expect(before.heardUntil).toBe(0)
  })

  it('is not early when the clock went back to before its wait', () => {
    const client = new Client()
    client.passes(60 * MINUTE_MS, 1).refused(MINUTE_MS)
    expect(client.passes(-60 * MINUTE_MS, 1).send().kind).toBe('fresh')
  })

  it('is not early when another request of the key was told to wait', () => {
    const client = new Client()
    client.refused(30_000, 'GET /v1/pets', true, false)
    expect(client.send('GET /v1/pets/1').kind).toBe('fresh')
  })
})

describe('another request while the key was told to wait', () => {
  it('is told, and does not end the wait', () => {
    const client = new Client()
    client.refused(30_000)
    expect(client.served('GET /v1/pets/1').kind).toBe('while-limited')
    expect(client.served('GET /v1/pets/2').kind).toBe('while-limited')
    expect(client.send().kind).toBe('early')
  })

  it('is none of a worker that was served', () => {
    const client = new Client()
    // Two under way at once: one is served, the other refused, and then the first goes on.
    client.served('GET /v1/pets/1', false)
    client.refused(30_000)
    expect(client.served('GET /v1/pets/2').kind).toBe('free')
    expect(client.served('GET /v1/pets').kind).toBe('free')
  })

  it('is so again once that worker was refused, too', () => {
    const client = new Client()
    client.served('GET /v1/pets/1', false)
    client.refused(30_000)
    expect(client.refused(30_000, 'GET /v1/pets/2').kind).toBe('free')
    expect(client.send('GET /v1/pets/3').kind).toBe('while-limited')
    expect(client.send('GET /v1/pets').kind).toBe('early')
  })

  it('is not excused by a worker that has long been gone', () => {
    const client = new Client()
    client.served('GET /v1/pets/1', false)
    client.refused(30_000)
    expect(client.passes(0, SECOND_MS).send().kind).toBe('early')
  })
})

describe('tries after failures that say nothing of when', () => {
  /** Whether each try lacks backoff, given the gaps before them. */
  function judge(gaps: readonly number[], scale: (gap: number) => readonly [number, number]) {
    const client = new Client()
    client.failed()
    return gaps.map((gap) => lacksBackoff(client.passes(...scale(gap)).failed()))
  }

  it.each([
    ['at once', [0, 0, 0, 0], [false, false, true, true]],
    ['at a steady pace', [1000, 1000, 1000], [false, false, true]],
    ['at a pace that is steady but for the jitter of timers', [1000, 1050, 1090], [false, false, true]],
    ['at a slower pace each time', [100, 200, 400, 800], [false, false, false, false]],
    ['a tenth slower each time', [1000, 1200, 1400, 1600], [false, false, false, false]],
    ['faster and faster', [800, 400, 200], [false, false, true]],
    ['with one longer wait between', [100, 100, 1000, 1000, 1000], [false, false, false, false, true]],
  ])('%s: %j', (_how, gaps, expected) => {
    expect(judge(gaps, (gap) => [gap, gap])).toEqual(expected)
    expect(judge(gaps, (gap) => [0, gap])).toEqual(expected)
    expect(judge(gaps, (gap) => [gap, 0])).toEqual(expected)
  })

  it('begin anew after another answer', () => {
    const client = new Client()
    client.failed()
    client.failed()
    client.failed()
    client.served()
    expect([1, 2, 3, 4].map(() => lacksBackoff(client.failed()))).toEqual([false, false, false, true])
  })

  it('are those of the same request only', () => {
    const client = new Client()
    const paths = ['/1', '/2', '/3', '/4', '/5', '/6']
    expect(paths.map((path) => lacksBackoff(client.failed(path)))).toEqual(paths.map(() => false))
  })
})

describe('a ban', () => {
  const ban = { from: NOON, until: NOON + MINUTE_MS }

  it('is known to whoever was told of it, and only that one ban', () => {
    const client = new Client()
    expect(knewOfBan(client.senders, ban, client.arrival())).toBe(false)
    tellOfBan(client.senders, ban, { at: client.at, monotonic: client.monotonic })
    expect(knewOfBan(client.senders, ban, client.arrival())).toBe(false)
    client.heardUntil = client.monotonic
    expect(knewOfBan(client.senders, ban, client.arrival())).toBe(true)
    expect(knewOfBan(client.senders, { ...ban }, client.arrival())).toBe(false)
  })
})

describe('what is remembered of a key', () => {
  it('is bounded, whatever it sends', () => {
    const client = new Client()
    for (let i = 0; i < 5000; i++) {
      client.refused(60 * MINUTE_MS, `GET /v1/pets/${i}`, false)
      client.failed(`GET /v1/pets/${i}?again`)
      client.served(`GET /v1/pets/${i}`, false)
    }
    expect(client.senders.waits.length).toBeLessThanOrEqual(200)
    expect(client.senders.failures.length).toBeLessThanOrEqual(200)
    expect(client.senders.free.count).toBeLessThanOrEqual(9)
  })
})
