import { setImmediate as endOfTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { Outbox, type Outgoing } from '../../src/http/write-batch.js'

let sent: number[]
let outbox: Outbox

beforeEach(() => {
  // Of this test alone, though an outbox of the last may not be empty yet.
  const mine: number[] = []
  sent = mine
  outbox = new Outbox(
    ({ reply }) => mine.push(reply.dueAt),
    () => 1_000,
  )
})

/** Told apart by when it is due. */
function replyDueAt(dueAt: number): Outgoing {
  return { reply: { dueAt } } as Outgoing
}

describe('replies', () => {
  it('leave together at the end of a turn, in their order', async () => {
    for (const dueAt of [1, 2, 3]) outbox.put(replyDueAt(dueAt))
    expect(sent).toEqual([])
    await endOfTurn()
    expect(sent).toEqual([1, 2, 3])
  })

  it('leave before it when there are 64', () => {
    for (let dueAt = 1; dueAt <= 65; dueAt++) outbox.put(replyDueAt(dueAt))
    expect(sent).toHaveLength(64)
  })

  it('leave when they are asked to, and once only', async () => {
    outbox.put(replyDueAt(1))
    outbox.empty()
    expect(sent).toEqual([1])
    await endOfTurn()
    expect(sent).toEqual([1])
  })
})

describe('what can have been heard', () => {
  it('is everything while nothing waits', () => {
    expect(outbox.leftUntil(1_000)).toBe(1_000)
  })

  it('is nothing of what waits, nor of what left after the instant in question', () => {
    outbox.put(replyDueAt(900))
    outbox.put(replyDueAt(901))
    expect(outbox.leftUntil(1_000)).toBeLessThan(900)
    outbox.empty()
    expect(outbox.leftUntil(999)).toBeLessThan(900)
  })

  it('is what left before the instant in question', () => {
    outbox.put(replyDueAt(900))
    outbox.empty()
    expect(outbox.leftUntil(1_000)).toBe(1_000)
  })

  it('is not lessened by replies that no space has made', () => {
    outbox.put(replyDueAt(0))
    expect(outbox.leftUntil(1_000)).toBe(1_000)
  })
})
