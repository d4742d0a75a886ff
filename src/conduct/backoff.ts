import type { DurationMs } from '../domain/time.js'
import { type Arrival, isKnown, type Moment } from './knowledge.js'

/** An answer that said neither yes nor when: a 429 or 5xx without Retry-After. */
export interface Failure extends Moment {
  readonly fingerprint: string
  /** How long its sender had waited since the failure before; undefined for a first try. */
  readonly gap: DurationMs | undefined
  /** Tries after a failure that waited no longer than the one before. */
  readonly tries: number
}

/** So many tries without a longer wait are no backoff. @source docs/behaviour.md, "no-backoff" */
export const TRIES_WITHOUT_BACKOFF = 3

/** A wait is longer than another by at least a tenth, and by what timers and the way of a request are off. */
const LONGER_BY_SHARE = 0.1
const LONGER_BY_MS: DurationMs = 5

/** What a try came after, and how. */
export interface Try {
  readonly after: Failure
  readonly gap: DurationMs
  readonly tries: number
}

/**
 * Finds the failure that a request is another try of: the one that speaks best
 * for its sender, where several of the same request have failed.
 *
 * A gap is real time or the clock's, whichever is longer: who really waits on a
 * frozen clock waits, too.
 */
export function findTry(failures: readonly Failure[], fingerprint: string, arrival: Arrival): Try | undefined {
  let best: Try | undefined
  for (const failure of failures) {
    if (failure.fingerprint !== fingerprint || !isKnown(failure, arrival)) continue
    const gap = gapSince(failure, arrival)
    const tries = failure.gap === undefined || isLonger(gap, failure.gap) ? 1 : failure.tries + 1
    if (best === undefined || tries < best.tries) best = { after: failure, gap, tries }
  }
  return best
}

export function gapSince(failure: Moment, { at, monotonic }: Moment): DurationMs {
  return Math.max(at - failure.at, monotonic - failure.monotonic)
}

function isLonger(gap: DurationMs, before: DurationMs): boolean {
  return gap - before >= Math.max(LONGER_BY_MS, before * LONGER_BY_SHARE)
}
