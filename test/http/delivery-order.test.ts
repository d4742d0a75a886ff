import { Writable } from 'node:stream'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Outgoing } from '../../src/http/connection.js'
import { DeliveryOrder } from '../../src/http/delivery-order.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'

let written: number[]
let reported: number[][]
let proven: boolean[]
let order: DeliveryOrder

beforeEach(() => {
  // New ones, because replies of the previous test may still be pending.
  const mine = { written: [] as number[], reported: [] as number[][], proven: [] as boolean[] }
  ;({ written, reported, proven } = mine)
  order = new DeliveryOrder({
    written(batch, isProven) {
      mine.reported.push(batch.map(({ arrivedAt }) => arrivedAt))
      mine.proven.push(isProven)
    },
  })
})

function replyTo(arrivedAt: number): Outgoing {
  return outgoing(arrivedAt, { status: 200 })
}

function refusalOf(arrivedAt: number): Outgoing {
  return outgoing(arrivedAt, { status: 429, exchange: {}, body: '' })
}

function outgoing(arrivedAt: number, reply: object): Outgoing {
  const mine = written
  const socket = new Writable({
    write(_chunk, _encoding, done) {
      mine.push(arrivedAt)
      socket.emit('finished')
      done()
    },
  })
  return { arrivedAt, reply, connection: { socket }, write: () => socket.write('x') } as unknown as Outgoing
}

describe('replies', () => {
  it('are sent together at the end of a turn, in order, and then reported', async () => {
    for (const arrivedAt of [1, 2, 3]) order.put(replyTo(arrivedAt))
    expect(written).toEqual([])
    await endOfTurn()
    expect(written).toEqual([1, 2, 3])
    expect(reported).toEqual([[1, 2, 3]])
  })

  it('are sent immediately once there are 64', () => {
    for (let arrivedAt = 1; arrivedAt <= 65; arrivedAt++) order.put(replyTo(arrivedAt))
    expect(written).toHaveLength(64)
  })

  it('that refuse are sent after a turn without input', async () => {
    const connection = order.connected()
    order.requested(connection)
    order.put(refusalOf(1))
    order.put(replyTo(2))
    for (let turn = 0; turn < 5; turn++) {
      await endOfTurn()
      order.received(connection)
    }
    expect(written).toEqual([2])
    await vi.waitFor(() => expect(written).toEqual([2, 1]), STEP_PATIENCE_MS)
    expect(proven).toEqual([false, true])
  })

  it('that refuse wait for another quiet turn if the one before has interrupted the process', async () => {
    const slow = refusalOf(1)
    slow.connection.socket.on('finished', () => {
      for (const start = performance.now(); performance.now() - start < 1; );
    })
    order.put(slow)
    order.put(refusalOf(2))
    await vi.waitFor(() => expect(written).toEqual([1, 2]), STEP_PATIENCE_MS)
    expect(reported).toEqual([[1], [2]])
    expect(proven).toEqual([true, true])
  })

  it('that refuse are rendered before the quiet turn', async () => {
    const connection = order.connected()
    order.requested(connection)
    const refusal = refusalOf(1)
    const write = vi.fn(refusal.write)
    order.put({ ...refusal, write })
    for (let turn = 0; turn < 5; turn++) {
      await endOfTurn()
      order.received(connection)
    }
    expect(write).toHaveBeenCalledOnce()
    expect(written).toEqual([])
    await vi.waitFor(() => expect(written).toEqual([1]), STEP_PATIENCE_MS)
  })

  it('that refuse are sent without proof if input continues', async () => {
    const connection = order.connected()
    order.put(refusalOf(1))
    while (written.length === 0) {
      order.received(connection)
      await endOfTurn()
    }
    expect(proven).toEqual([false])
  })
})
