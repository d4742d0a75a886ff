import { type DurationMs, type EpochMs, SECOND_MS } from './time.js'

/** A stretch of 429s that no quota explains. */
export interface Storm {
  /** Share of requests refused, 0 to 1. */
  readonly rate: number
  /** Length of one stretch; without it the storm goes on until it is stopped. */
  readonly for?: DurationMs
  /** A stretch begins every so often; without it there is one. */
  readonly every?: DurationMs
  /** What Retry-After says, 1 s if not given. */
  readonly retryAfter?: DurationMs
}

export interface RunningStorm extends Storm {
  readonly startedAt: EpochMs
}

/** Retry-After in a storm. @source docs/behaviour.md, "the form of Retry-After" */
export const STORM_RETRY_AFTER_MS: DurationMs = SECOND_MS

/** Whether a storm blows at an instant. One started in the future (the clock went back to real time) is over. */
export function blows(storm: RunningStorm, now: EpochMs): boolean {
  const elapsed = now - storm.startedAt
  if (elapsed < 0) return false
  if (storm.for === undefined) return true
  return (storm.every === undefined ? elapsed : elapsed % storm.every) < storm.for
}

/** Says what is wrong with a storm's numbers as a whole, or undefined. */
export function stormProblem(storm: Storm): string | undefined {
  if (!(storm.rate >= 0 && storm.rate <= 1)) return `rate must be from 0 to 1 (it is ${storm.rate})`
  if (storm.for === 0) return 'for must be longer than 0'
  if (storm.every === undefined) return undefined
  if (storm.for === undefined) return 'every needs for: how long does each stretch last?'
  if (storm.every < storm.for) return 'every must not be shorter than for'
  return undefined
}
