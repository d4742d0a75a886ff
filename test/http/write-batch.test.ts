import { setImmediate as endOfTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Outgoing } from '../../src/http/connection.js'
import { WriteBatch } from '../../src/http/write-batch.js'

let sent: number[]
let reported: number[][]
let proven: boolean[]
let batch: WriteBatch

beforeEach(() => {
  // New ones, because a batch of the previous test may still be pending.
  const mine = { sent: [] as number[], reported: [] as number[][], proven: [] as boolean[] }
  ;({ sent, reported, proven } = mine)
  batch = new WriteBatch({
    send: ({ arrivedAt }) => mine.sent.push(arrivedAt),
    sent(batch, isProven) {
      mine.reported.push(batch.map(({ arrivedAt }) => arrivedAt))
      mine.proven.push(isProven)
    },
  })
})

function replyTo(arrivedAt: number): Outgoing {
  return { arrivedAt, reply: { status: 200 } } as Outgoing
}

function refusalOf(arrivedAt: number): Outgoing {
  return { arrivedAt, reply: { status: 429, exchange: {} } } as Outgoing
}

describe('replies', () => {
  it('are sent together at the end of a turn, in order, and then reported', async () => {
    for (const arrivedAt of [1, 2, 3]) batch.put(replyTo(arrivedAt))
    expect(sent).toEqual([])
    await endOfTurn()
    expect(sent).toEqual([1, 2, 3])
    expect(reported).toEqual([[1, 2, 3]])
  })

  it('are sent immediately once there are 64', () => {
    for (let arrivedAt = 1; arrivedAt <= 65; arrivedAt++) batch.put(replyTo(arrivedAt))
    expect(sent).toHaveLength(64)
  })

  it('that refuse are sent after a turn without input', async () => {
    batch.put(refusalOf(1))
    batch.put(replyTo(2))
    for (let turn = 0; turn < 5; turn++) {
      await endOfTurn()
      batch.quiet.received()
    }
    expect(sent).toEqual([2])
    await vi.waitFor(() => expect(sent).toEqual([2, 1]), 30_000)
    expect(proven).toEqual([false, true])
  })

  it('that refuse are sent without proof if input continues', async () => {
    batch.put(refusalOf(1))
    while (sent.length === 0) {
      batch.quiet.received()
      await endOfTurn()
    }
    expect(proven).toEqual([false])
  })
})
