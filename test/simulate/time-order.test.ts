import { describe, expect, it } from 'vitest'
import { TimeOrder } from '../../src/simulate/time-order.js'

/** A minute and an hour. */
const M = 60_000
const H = 60 * M

describe('requests out of order', () => {
  it.each([
    ['are sorted within a minute', [5, 3, 4, 59_000, 1, M], [1, 3, 4, 5, 59_000, M], 0],
    ['count for the present time if they come later', [0, 5 * M, 6.5 * M, M], [0, 5 * M, 5 * M, 6.5 * M], 1],
    ['begin a new order where a clock was set back', [H, H + 2 * M, 5, 4, 6], [H, H + 2 * M, 4, 5, 6], 1],
  ])('%s', (_what, times, sorted, late) => {
    const taken: number[] = []
    const order = new TimeOrder<{ readonly at: number }>((_item, at) => void taken.push(at))
    for (const at of times) order.add({ at })
    order.end()
    expect([taken, order.late]).toEqual([sorted, late])
  })

  it('keep their order if they have the same time', () => {
    const taken: string[] = []
    const order = new TimeOrder<{ readonly at: number; readonly name: string }>(({ name }) => void taken.push(name))
    for (const name of ['a', 'b', 'c']) order.add({ at: 7, name })
    order.add({ at: 6, name: 'first' })
    order.end()
    expect(taken).toEqual(['first', 'a', 'b', 'c'])
  })
})
