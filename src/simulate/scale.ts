/** By how many the traffic is multiplied: one factor, or several from the smallest to the largest. */
export type Scale = readonly number[]

/** What a factor may be: each request is sent so many times. */
const LARGEST = 1000
/** Factors of a range that are tried. */
const MOST_FACTORS = 10

const FACTOR = /^(?:\d+(?:\.\d{1,3})?)$/

/**
 * Reads `3`, `1.5` or `1..10`. A range is tried at ten factors at most, its ends among them.
 *
 * @returns undefined for anything else
 */
export function readScale(text: string): Scale | undefined {
  const ends = text.split('..')
  if (ends.length > 2 || !ends.every((end) => FACTOR.test(end))) return undefined
  const [from = 0, to = from] = ends.map(Number)
  if (from <= 0 || to < from || to > LARGEST) return undefined
  const steps = Math.min(MOST_FACTORS - 1, Math.max(0, Math.ceil(to - from)))
  if (to === from) return [from]
  const factors = Array.from({ length: steps + 1 }, (_, step) => roundTo(from + ((to - from) * step) / steps))
  return [...new Set(factors)]
}

/** Whole where that is near enough: nobody asks what happens at 3.3333. */
function roundTo(factor: number): number {
  return factor >= 10 ? Math.round(factor) : Math.round(factor * 100) / 100
}

/**
 * How often the nth request of a key is sent, so that n of them are `factor * n`, rounded down.
 *
 * @param ordinal from 0
 */
export function copiesOf(ordinal: number, factor: number): number {
  return Math.floor((ordinal + 1) * factor) - Math.floor(ordinal * factor)
}
