import { setImmediate as endOfTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Outgoing, WriteBatch } from '../../src/http/write-batch.js'

let sent: number[]
let batch: WriteBatch

beforeEach(() => {
  // Of this test alone, though an outbox of the last may not be empty yet.
  const mine: number[] = []
  sent = mine
  batch = new WriteBatch(
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
    for (const dueAt of [1, 2, 3]) batch.put(replyDueAt(dueAt))
    expect(sent).toEqual([])
    await endOfTurn()
    expect(sent).toEqual([1, 2, 3])
  })

  it('leave before it when there are 64', () => {
    for (let dueAt = 1; dueAt <= 65; dueAt++) batch.put(replyDueAt(dueAt))
    expect(sent).toHaveLength(64)
  })

  it('leave when they are asked to, and once only', async () => {
    batch.put(replyDueAt(1))
    batch.empty()
    expect(sent).toEqual([1])
    await endOfTurn()
    expect(sent).toEqual([1])
  })
})

describe('what can have been heard', () => {
  it('is everything while nothing waits', () => {
    expect(batch.leftUntil(1_000)).toBe(1_000)
  })

  it('is nothing of what waits, nor of what left after the instant in question', () => {
    batch.put(replyDueAt(900))
    batch.put(replyDueAt(901))
    expect(batch.leftUntil(1_000)).toBeLessThan(900)
    batch.empty()
    expect(batch.leftUntil(999)).toBeLessThan(900)
  })

  it('is what left before the instant in question', () => {
    batch.put(replyDueAt(900))
    batch.empty()
    expect(batch.leftUntil(1_000)).toBe(1_000)
  })

  it('is not lessened by replies that no space has made', () => {
    batch.put(replyDueAt(0))
    expect(batch.leftUntil(1_000)).toBe(1_000)
  })
})
