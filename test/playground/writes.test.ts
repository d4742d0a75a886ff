import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Writes } from '../../src/playground/writes.js'

/** A state, and a place to write it that takes as long as the test says. */
function open() {
  const state = { now: 0 }
  const written: number[] = []
  let finish = () => {}
  const writes = new Writes(() => {
    const taken = state.now
    return new Promise((resolve) => {
      finish = () => {
        written.push(taken)
        resolve()
      }
    })
  })
  return { state, written, writes, finish: () => finish() }
}

describe('the state of a playground', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const turn = () => vi.advanceTimersByTimeAsync(0)

  it('is written before a change is answered', async () => {
    const { state, written, writes, finish } = open()
    state.now = 1
    const answered = writes.now().then(() => written.length)
    await turn()
    expect(written).toEqual([])
    finish()
    expect(await answered).toBe(1)
  })

  it('is written once for all that has changed while it was being written', async () => {
    const { state, written, writes, finish } = open()
    state.now = 1
    const first = writes.now()
    await turn()
    const others = [2, 3, 4].map((value) => {
      state.now = value
      return writes.now()
    })
    finish()
    await first
    expect(written).toEqual([1])
    await turn()
    finish()
    await Promise.all(others)
    expect(written).toEqual([1, 4])
  })

  it('writes once, a second after a read', async () => {
    const { state, written, writes, finish } = open()
    state.now = 1
    const read = [writes.later(), writes.later()]
    await vi.advanceTimersByTimeAsync(999)
    finish()
    expect(written).toEqual([])
    state.now = 2
    await vi.advanceTimersByTimeAsync(1)
    finish()
    await Promise.all(read)
    expect(written).toEqual([2])
  })
})
