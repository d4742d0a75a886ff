/** The middle of several figures, and how far they lie apart. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** @throws RangeError for no figures at all */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = [...figures].sort((a, b) => a - b)
  const [low, high] = [sorted[0], sorted.at(-1)]
  const below = sorted[Math.floor((sorted.length - 1) / 2)]
  const above = sorted[Math.ceil((sorted.length - 1) / 2)]
  if (low === undefined || high === undefined || below === undefined || above === undefined)
    throw new RangeError('The median needs at least one figure.')
  return { median: (below + above) / 2, low, high }
}

/**
 * Ratios of figures that were taken in turn, round by round: what slows a whole
 * round down for a while slows both down, and leaves their ratio alone.
 */
export function ratiosOf(figures: readonly number[], base: readonly number[]): Spread {
  return spreadOf(figures.flatMap((figure, round) => (base[round] === undefined ? [] : [figure / base[round]])))
}

/** `1,000,000` */
export function count(figure: number): string {
  return Math.round(figure).toLocaleString('en-US')
}
