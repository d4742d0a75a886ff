import { expect, it, onTestFinished, vi } from 'vitest'
import { unlessStalled } from './stalls.js'

/** @param elapsedMs between start and failure, during which no timer fires @returns the number of runs of a test that fails */
async function runsOf(elapsedMs: number): Promise<number> {
  let count = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => count * elapsedMs)
  onTestFinished(() => now.mockRestore())
  const failing = unlessStalled(async () => {
    count++
    throw new Error('it failed')
  })
  await expect(failing).rejects.toThrow('it failed')
  return count
}

it('a failure is repeated a few times while the machine stalls', async () => {
  expect(await runsOf(300)).toBe(5)
})

it('any other failure is final', async () => {
  expect(await runsOf(100)).toBe(1)
})
