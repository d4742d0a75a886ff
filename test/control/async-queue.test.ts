import { describe, expect, it } from 'vitest'
import { AsyncQueue } from '../../src/control/async-queue.js'

describe('the queue', () => {
  it('returns all items since the last call', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.push(2)
    expect(await queue.take()).toEqual({ kind: 'items', items: [1, 2], dropped: 0 })
    const next = queue.take()
    queue.push(3)
    expect(await next).toEqual({ kind: 'items', items: [3], dropped: 0 })
  })

  it('drops the oldest exchanges for a slow reader, and reports how many', async () => {
    const queue = new AsyncQueue<number>(3)
    for (let i = 1; i <= 10; i++) queue.push(i)
    expect(await queue.take()).toEqual({ kind: 'items', items: [8, 9, 10], dropped: 7 })
    queue.push(11)
    expect(await queue.take()).toMatchObject({ items: [11], dropped: 0 })
  })

  it('is quiet after the timeout', async () => {
    expect(await new AsyncQueue<number>().take(1)).toEqual({ kind: 'quiet' })
  })

  it('returns its items before it reports that it is closed', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.close()
    expect(await queue.take()).toMatchObject({ items: [1] })
    expect(await queue.take()).toEqual({ kind: 'closed' })
    const waiting = new AsyncQueue<number>()
    const delivery = waiting.take()
    waiting.close()
    expect(await delivery).toEqual({ kind: 'closed' })
  })
})
