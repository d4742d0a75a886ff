import { type EpochMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'

/** How an exchange ended, in stacking order of charts. `cut`: the client did not receive a whole response. */
export const OUTCOMES = ['answered', 'refused', 'limited', 'failed', 'cut'] as const
export type Outcome = (typeof OUTCOMES)[number]

export function outcomeOf({
  status,
  ended,
}: {
  readonly status: number | null | undefined
  readonly ended?: string | null | undefined
}): Outcome {
  if (status == null || ended === 'cut' || ended === 'left') return 'cut'
  if (status === 429) return 'limited'
  if (status >= 500) return 'failed'
  return status >= 400 ? 'refused' : 'answered'
}

/** Ended exchanges by outcome, in buckets of equal length, oldest first. */
export interface TrafficBuckets {
  /** Start of the first bucket, by the space's clock: ISO 8601, UTC. */
  readonly from: string
  readonly bucketSeconds: number
  readonly outcomes: Readonly<Record<Outcome, readonly number[]>>
}

/** Seconds with requests that are kept. Older ones become minutes. */
const MAX_SECONDS = 3600
const MAX_MINUTES = 1440

type Counts = readonly (readonly [second: number, counts: readonly number[]])[]

export interface SavedTally {
  readonly seconds: Counts
  readonly minutes: Counts
}

/** Counts exchanges by the second of their arrival. */
export class TrafficTally {
  readonly #seconds = new Map<number, number[]>()
  readonly #minutes = new Map<number, number[]>()
  #second = -1
  #counts: number[] = []

  add(at: EpochMs, outcome: Outcome): void {
    const second = Math.floor(at / SECOND_MS)
    if (second !== this.#second) {
      this.#second = second
      this.#counts = countsIn(this.#seconds, second)
      if (this.#seconds.size > MAX_SECONDS) this.#merge()
    }
    const index = OUTCOMES.indexOf(outcome)
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
  }

  #merge(): void {
    const [oldest] = this.#seconds
    if (oldest === undefined) return
    const [second, counts] = oldest
    const length = MINUTE_MS / SECOND_MS
    addTo(countsIn(this.#minutes, Math.floor(second / length) * length), counts)
    this.#seconds.delete(second)
    const [first] = this.#minutes.keys()
    if (this.#minutes.size > MAX_MINUTES && first !== undefined) this.#minutes.delete(first)
  }

  /** @param bucketSeconds above 0 @param now end of the last bucket's range */
  buckets(bucketSeconds: number, count: number, now: EpochMs): TrafficBuckets {
    const first = Math.floor(now / SECOND_MS / bucketSeconds) - count + 1
    const sums = Array.from({ length: count }, blank)
    for (const periods of [this.#minutes, this.#seconds])
      for (const [second, counts] of periods) {
        const sum = sums[Math.floor(second / bucketSeconds) - first]
        if (sum !== undefined) addTo(sum, counts)
      }
    return {
      from: new Date(first * bucketSeconds * SECOND_MS).toISOString(),
      bucketSeconds,
      outcomes: Object.fromEntries(
        OUTCOMES.map((outcome, index) => [outcome, sums.map((sum) => sum[index] ?? 0)]),
      ) as unknown as TrafficBuckets['outcomes'],
    }
  }

  save(): SavedTally {
    const copy = (periods: Map<number, number[]>) => [...periods].map(([at, counts]) => [at, [...counts]] as const)
    return { seconds: copy(this.#seconds), minutes: copy(this.#minutes) }
  }

  load({ seconds, minutes }: SavedTally): void {
    for (const [second, counts] of seconds) addTo(countsIn(this.#seconds, second), counts)
    for (const [second, counts] of minutes) addTo(countsIn(this.#minutes, second), counts)
  }

  clear(): void {
    this.#seconds.clear()
    this.#minutes.clear()
    this.#second = -1
  }
}

function blank(): number[] {
  return OUTCOMES.map(() => 0)
}

function countsIn(periods: Map<number, number[]>, second: number): number[] {
  const known = periods.get(second)
  if (known !== undefined) return known
  const counts = blank()
  periods.set(second, counts)
  return counts
}

function addTo(sum: number[], counts: readonly number[]): void {
  for (let i = 0; i < counts.length; i++) sum[i] = (sum[i] ?? 0) + (counts[i] ?? 0)
}
