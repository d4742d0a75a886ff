import { describe, expect, it } from 'vitest'
import { TimeOrder } from '../../src/simulate/time-order.js'

const MINUTE = 60_000

/** The instants at which items are taken, and how many came too late. */
function ordered(times: readonly number[]) {
  const taken: number[] = []
  const order = new TimeOrder<{ readonly at: number }>((_item, at) => void taken.push(at))
  for (const at of times) order.add({ at })
  order.end()
  return { taken, late: order.late }
}

describe('requests out of order', () => {
  it('are sorted within a minute', () => {
    expect(ordered([5, 3, 4, 59_000, 1, 60_000])).toEqual({ taken: [1, 3, 4, 5, 59_000, 60_000], late: 0 })
  })

  it('count for the present time if they come later', () => {
    expect(ordered([0, 5 * MINUTE, 6.5 * MINUTE, MINUTE])).toEqual({
      taken: [0, 5 * MINUTE, 5 * MINUTE, 6.5 * MINUTE],
      late: 1,
    })
  })

  it('begin a new order where a clock was set back', () => {
    const hour = 60 * MINUTE
    expect(ordered([hour, hour + 2 * MINUTE, 5, 4, 6])).toEqual({
      taken: [hour, hour + 2 * MINUTE, 4, 5, 6],
      late: 1,
    })
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
