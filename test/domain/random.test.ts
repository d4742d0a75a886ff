import { describe, expect, it } from 'vitest'
import { randomStream } from '../../src/domain/random.js'

describe('chance', () => {
  it('repeats with the same seed only', () => {
    const draws = (seed: string) => {
      const stream = randomStream(seed)
      return Array.from({ length: 5 }, () => stream.next())
    }
    expect(draws('1::storm')).toEqual(draws('1::storm'))
    expect(draws('1::storm')).not.toEqual(draws('2::storm'))
    expect(draws('1::storm')).not.toEqual(draws('1:a:storm'))
  })

  it('continues from its state', () => {
    const stream = randomStream('1')
    stream.next()
    const copy = { ...randomStream('x'), state: stream.state }
    expect(copy.next()).toBe(stream.next())
  })

  it('is uniform', () => {
    const stream = randomStream('even')
    const hits = Array.from({ length: 10_000 }, () => stream.next()).filter((draw) => draw < 0.3).length
    expect(hits / 10_000).toBeCloseTo(0.3, 1)
  })
})
