import { type RandomStream, randomStream } from '../../src/domain/random.js'

/** Random choices that a seed repeats. */
export class Chance {
  readonly #stream: RandomStream

  constructor(seed: string) {
    this.#stream = randomStream(seed)
  }

  /** A whole number, `from` at least, below `below`. */
  integer(from: number, below: number): number {
    return from + Math.floor(this.#stream.next() * (below - from))
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length)] as T
  }

  /** True in `share` of a hundred cases. */
  percent(share: number): boolean {
    return this.#stream.next() * 100 < share
  }

  /** One of some makers, each as often as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, make: () => T])[]): T {
    let rest = this.#stream.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, make] of choices) {
      rest -= weight
      if (rest < 0) return make()
    }
    return (choices[0] as (typeof choices)[number])[1]()
  }
}
