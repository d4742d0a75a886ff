import type { Exchange } from '../../exchanges/exchange-view.js'
import { OUTCOMES, type Outcome, outcomeOf } from './outcome.js'

/** How many requests ended how. */
export type OutcomeCounts = Readonly<Record<Outcome, number>>

/** Stretches that the chart shows, by the space's clock. */
export const CHART_RANGES = {
  '1 min': { bucketSeconds: 1, buckets: 60 },
  '10 min': { bucketSeconds: 10, buckets: 60 },
  '1 h': { bucketSeconds: 60, buckets: 60 },
  '24 h': { bucketSeconds: 1800, buckets: 48 },
} as const
export type ChartRange = keyof typeof CHART_RANGES

/** Seconds with requests that are remembered: hours of steady traffic, in little memory. */
const SECONDS_KEPT = 10_000

/** Counts requests by second and outcome. It outlives the list of exchanges, which keeps the last ones only. */
export class TrafficTally {
  #seconds = new Map<number, Record<Outcome, number>>()

  add(exchange: Pick<Exchange, 'at' | 'status'>): void {
    const second = Math.floor(Date.parse(exchange.at) / 1000)
    let counts = this.#seconds.get(second)
    if (counts === undefined) {
      counts = none()
      this.#seconds.set(second, counts)
      const [oldest] = this.#seconds.keys()
      if (this.#seconds.size > SECONDS_KEPT && oldest !== undefined) this.#seconds.delete(oldest)
    }
    counts[outcomeOf(exchange)]++
  }

  clear(): void {
    this.#seconds = new Map()
  }

  /** The buckets of a range that ends at an instant of the space's clock, oldest first. */
  buckets(range: ChartRange, now: number): { readonly starts: readonly number[]; readonly counts: OutcomeCounts[] } {
    const { bucketSeconds, buckets } = CHART_RANGES[range]
    const last = Math.floor(now / 1000 / bucketSeconds)
    const first = last - buckets + 1
    const counts = Array.from({ length: buckets }, none)
    for (const [second, of] of this.#seconds) {
      const bucket = counts[Math.floor(second / bucketSeconds) - first]
      if (bucket !== undefined) for (const outcome of OUTCOMES) bucket[outcome] += of[outcome]
    }
    return { starts: counts.map((_, index) => (first + index) * bucketSeconds), counts }
  }
}

/** All buckets together. */
export function totalOf(buckets: readonly OutcomeCounts[]): OutcomeCounts {
  const total = none()
  for (const bucket of buckets) for (const outcome of OUTCOMES) total[outcome] += bucket[outcome]
  return total
}

/** Heights of bars that stand on each other: for each outcome, with all those below it. */
export function piled(buckets: readonly OutcomeCounts[]): readonly (readonly number[])[] {
  let below = buckets.map(() => 0)
  return OUTCOMES.map((outcome) => {
    below = buckets.map((bucket, index) => bucket[outcome] + (below[index] ?? 0))
    return below
  })
}

function none(): Record<Outcome, number> {
  return { answered: 0, refused: 0, limited: 0, failed: 0, cut: 0 }
}
