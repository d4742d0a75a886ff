import { expect, it } from 'vitest'
import { randomStream } from '../../src/domain/random.js'

it('a random stream repeats with the same seed only, and continues from its state', () => {
  const draws = (stream: ReturnType<typeof randomStream>) => Array.from({ length: 5 }, () => stream.next())
  const one = randomStream('1::storm')
  expect(draws(one)).toEqual(draws(randomStream('1::storm')))
  for (const seed of ['2::storm', '1:a:storm'])
    expect(draws(randomStream(seed))).not.toEqual(draws(randomStream('1::storm')))
  expect(draws({ ...randomStream('x'), state: one.state })).toEqual(draws(one))
})

it('a random stream is uniform', () => {
  const stream = randomStream('even')
  const hits = Array.from({ length: 10_000 }, () => stream.next()).filter((draw) => draw < 0.3).length
  expect(hits / 10_000).toBeCloseTo(0.3, 1)
})
