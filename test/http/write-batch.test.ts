import { setImmediate as endOfTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Outgoing } from '../../src/http/connection.js'
import { WriteBatch } from '../../src/http/write-batch.js'
import { systemClock } from '../../src/system/system-clock.js'

let sent: number[]
let told: number[][]
let batch: WriteBatch
/** Lets everything be kept; undefined while all is. */
let keep: (() => void) | undefined
let keeping: Promise<void> | undefined

beforeEach(() => {
  // Of this test alone, though a batch of the last may not be empty yet.
  const mine: number[] = []
  const mineTold: number[][] = []
  sent = mine
  told = mineTold
  keep = keeping = undefined
  batch = new WriteBatch({
    settle: () => keeping,
    send: ({ arrivedAt }) => mine.push(arrivedAt),
    sent: (batch) => mineTold.push(batch.map(({ arrivedAt }) => arrivedAt)),
  })
})

/** Told apart by when its request came. */
function replyTo(arrivedAt: number): Outgoing {
  return { arrivedAt } as Outgoing
}

function writeSlowly(): void {
  keeping = new Promise((resolve) => {
    keep = () => {
      keeping = undefined
      resolve()
    }
  })
}

describe('replies', () => {
  it('leave together at the end of a turn, in their order, and are told of then', async () => {
    for (const arrivedAt of [1, 2, 3]) batch.put(replyTo(arrivedAt))
    expect(sent).toEqual([])
    await endOfTurn()
    expect(sent).toEqual([1, 2, 3])
    expect(told).toEqual([[1, 2, 3]])
  })

  it('leave before it when there are 64', () => {
    for (let arrivedAt = 1; arrivedAt <= 65; arrivedAt++) batch.put(replyTo(arrivedAt))
    expect(sent).toHaveLength(64)
  })

  it('leave when they are asked to, and once only', async () => {
    batch.put(replyTo(1))
    batch.empty()
    expect(sent).toEqual([1])
    await endOfTurn()
    expect(sent).toEqual([1])
  })

  it('leave only when what they may tell of is kept, and the later ones after them', async () => {
    writeSlowly()
    batch.put(replyTo(1))
    batch.empty()
    batch.put(replyTo(2))
    await endOfTurn()
    expect(sent).toEqual([])
    keep?.()
    await endOfTurn()
    expect(sent).toEqual([1, 2])
    expect(told).toEqual([[1], [2]])
  })

  it('that were waited for do not make what comes in their turn seem to have come earlier', () => {
    const earlier = batch.arrival()
    while (systemClock.monotonic() <= earlier);
    batch.put(replyTo(earlier))
    expect(batch.arrival()).toBeGreaterThan(earlier)
  })
})
