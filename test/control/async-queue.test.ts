import { expect, it } from 'vitest'
import { AsyncQueue } from '../../src/control/async-queue.js'

it('a queue returns all items since the last call, and undefined once it is closed', async () => {
  const queue = new AsyncQueue<number>()
  for (const item of [1, 2]) queue.push(item)
  expect(await queue.take()).toEqual([1, 2])
  const next = queue.take()
  queue.push(3)
  expect(await next).toEqual([3])
  queue.push(4)
  queue.close()
  expect([await queue.take(), await queue.take()]).toEqual([[4], undefined])
  const waiting = new AsyncQueue<number>()
  const delivery = waiting.take()
  waiting.close()
  expect(await delivery).toBeUndefined()
})
