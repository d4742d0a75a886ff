import type { Exchange } from '../../exchanges/exchange-view.js'
import { NO_OUTCOMES, OUTCOMES, type Outcome, type OutcomeCounts, outcomeOf } from '../format.js'

export const CHART_RANGES = {
  '1 min': { bucketSeconds: 1, buckets: 60, tickSeconds: 10 },
  '10 min': { bucketSeconds: 10, buckets: 60, tickSeconds: 120 },
  '1 h': { bucketSeconds: 60, buckets: 60, tickSeconds: 600 },
  '24 h': { bucketSeconds: 1800, buckets: 48, tickSeconds: 14_400 },
} as const
export type ChartRange = keyof typeof CHART_RANGES

/** Hours of steady traffic. */
const MAX_SECONDS_WITH_REQUESTS = 10_000

/** `start` in milliseconds since the epoch. */
export interface Bucket {
  readonly start: number
  readonly counts: OutcomeCounts
}

export class TrafficTally {
  readonly #seconds = new Map<number, Record<Outcome, number>>()

  add(exchange: Pick<Exchange, 'at' | 'status'>): void {
    const second = Math.floor(Date.parse(exchange.at) / 1000)
    const counts = this.#seconds.get(second) ?? { ...NO_OUTCOMES }
    counts[outcomeOf(exchange)]++
    this.#seconds.set(second, counts)
    const [oldest] = this.#seconds.keys()
    if (this.#seconds.size > MAX_SECONDS_WITH_REQUESTS && oldest !== undefined) this.#seconds.delete(oldest)
  }

  clear(): void {
    this.#seconds.clear()
  }

  /** Oldest first. @param now end of the range, by the space's clock */
  buckets(range: ChartRange, now: number): readonly Bucket[] {
    const { bucketSeconds, buckets } = CHART_RANGES[range]
    const first = Math.floor(now / 1000 / bucketSeconds) - buckets + 1
    const all = Array.from({ length: buckets }, (_, index) => ({
      start: (first + index) * bucketSeconds * 1000,
      counts: { ...NO_OUTCOMES },
    }))
    for (const [second, counts] of this.#seconds) addTo(all[Math.floor(second / bucketSeconds) - first]?.counts, counts)
    return all
  }
}

export function totalOf(buckets: readonly Bucket[]): OutcomeCounts {
  const total = { ...NO_OUTCOMES }
  for (const { counts } of buckets) addTo(total, counts)
  return total
}

function addTo(sum: Record<Outcome, number> | undefined, counts: OutcomeCounts): void {
  if (sum !== undefined) for (const outcome of OUTCOMES) sum[outcome] += counts[outcome]
}
