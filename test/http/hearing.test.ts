import { beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from '../../src/http/connection.js'
import { Hearing } from '../../src/http/hearing.js'
import { type Outgoing, WriteBatch } from '../../src/http/write-batch.js'

let now: number
let batch: WriteBatch
let hearing: Hearing

beforeEach(() => {
  now = 1_000
  batch = new WriteBatch(
    () => {},
    () => now,
  )
  hearing = new Hearing(batch, () => now)
})

function used(): Connection {
  return { heardUntil: 0, isSettled: true } as Connection
}

/** Answers at once. @returns when the answer was due */
function answer(): number {
  batch.put({ reply: { dueAt: now } } as Outgoing)
  batch.empty()
  return now
}

/** A client sends one request after the other, on some connections in turn, each so many milliseconds after the last answer. */
function oneByOne(connections: readonly Connection[], times: number, gap: number): void {
  for (let i = 0; i < times; i++) {
    for (const connection of connections) {
      now += gap
      hearing.heardOn(connection)
      answer()
    }
  }
}

describe('what the sender of a request can have heard', () => {
  it('is what left a millisecond before, on any connection', () => {
    hearing.heardOn(used())
    const answered = answer()
    now += 0.9
    expect(hearing.heardOn(used())).toBeLessThan(answered)
    now += 0.2
    expect(hearing.heardOn(used())).toBeGreaterThan(answered)
  })

  it('is the last answer, of a client that uses two connections in turn and is faster than that', () => {
    const [one, other] = [used(), used()]
    oneByOne([one, other], 3, 0.2)
    const answered = answer()
    now += 0.2
    expect(hearing.heardOn(one)).toBeGreaterThan(answered)
  })

  it('is not the answer to a request that was sent together with it, though it has left', () => {
    const [one, other] = [used(), used()]
    oneByOne([one, other], 3, 0.2)
    now += 0.2
    hearing.heardOn(one)
    const answered = answer()
    now += 0.05
    expect(hearing.heardOn(other)).toBeLessThan(answered)
  })

  it('is not that of the other one of a pair either, where all are sent in pairs', () => {
    const [one, other] = [used(), used()]
    for (let i = 0; i < 3; i++) {
      now += 0.4
      hearing.heardOn(one)
      const answered = answer()
      now += 0.05
      expect(hearing.heardOn(other)).toBeLessThan(answered)
      answer()
    }
  })

  it('does not depend on a hiccup of the client', () => {
    const [one, other] = [used(), used()]
    oneByOne([one, other], 3, 0.2)
    oneByOne([one], 1, 50)
    const answered = answer()
    now += 0.2
    expect(hearing.heardOn(other)).toBeGreaterThan(answered)
  })

  it('is measured by the client only where no third connection is in turn', () => {
    const [one, other, third] = [used(), used(), used()]
    oneByOne([one, other], 3, 0.2)
    oneByOne([third, one], 1, 0.2)
    const answered = answer()
    now += 0.2
    expect(hearing.heardOn(other)).toBeLessThan(answered)
    oneByOne([other], 1, 1_000)
    oneByOne([one, other], 3, 0.2)
    const later = answer()
    now += 0.2
    expect(hearing.heardOn(one)).toBeGreaterThan(later)
  })

  it('is what was answered on its own connection in any case', () => {
    expect(hearing.heardOn({ heardUntil: 999.9, isSettled: true } as Connection)).toBe(999.9)
  })

  it('is nothing that waits to leave', () => {
    const one = used()
    batch.put({ reply: { dueAt: now } } as Outgoing)
    now += 5
    expect(hearing.heardOn(one)).toBeLessThan(1_000)
  })

  it('is for the first request of a new connection what was known when it was accepted', () => {
    answer()
    now += 5
    expect(hearing.heardOn({ heardUntil: 998, isSettled: false } as Connection)).toBe(998)
  })
})
