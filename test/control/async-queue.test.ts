import { expect, it } from 'vitest'
import { AsyncQueue } from '../../src/control/async-queue.js'

it('a queue returns all items since the last call, and then that it is closed', async () => {
  const queue = new AsyncQueue<number>()
  for (const item of [1, 2]) queue.push(item)
  expect(await queue.take()).toEqual({ kind: 'items', items: [1, 2], dropped: 0 })
  const next = queue.take()
  queue.push(3)
  expect(await next).toEqual({ kind: 'items', items: [3], dropped: 0 })
  queue.push(4)
  queue.close()
  expect([await queue.take(), await queue.take()]).toMatchObject([{ items: [4] }, { kind: 'closed' }])
  const waiting = new AsyncQueue<number>()
  const delivery = waiting.take()
  waiting.close()
  expect(await delivery).toEqual({ kind: 'closed' })
})

it('a queue drops the oldest exchanges for a slow reader, and reports how many', async () => {
  const queue = new AsyncQueue<number>(3)
  for (let i = 1; i <= 10; i++) queue.push(i)
  expect(await queue.take()).toEqual({ kind: 'items', items: [8, 9, 10], dropped: 7 })
  queue.push(11)
  expect(await queue.take()).toMatchObject({ items: [11], dropped: 0 })
})

it('a queue is quiet after the timeout', async () => {
  expect(await new AsyncQueue<number>().take(1)).toEqual({ kind: 'quiet' })
})
