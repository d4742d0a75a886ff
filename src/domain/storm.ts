import { type DurationMs, type EpochMs, SECOND_MS } from './time.js'

/** A period of 429s that are not caused by quotas. */
export interface Storm {
  /** Share of requests refused, 0 to 1. */
  readonly rate: number
  /** Length of a period. Default: until stopped. */
  readonly for?: DurationMs
  /** Interval between the starts of periods. Default: a single period. */
  readonly every?: DurationMs
  /** Value of Retry-After. Default: 1 s. */
  readonly retryAfter?: DurationMs
}

export interface RunningStorm extends Storm {
  readonly startedAt: EpochMs
  /** Requests to the space before it started. */
  readonly afterRequests: number
}

/** @source docs/behaviour.md, "the form of Retry-After" */
export const STORM_RETRY_AFTER_MS: DurationMs = SECOND_MS

/** A storm that starts in the future (after the clock was set back) is over. */
export function isStormActive(storm: Omit<RunningStorm, 'afterRequests'>, now: EpochMs): boolean {
  const elapsed = now - storm.startedAt
  if (elapsed < 0) return false
  if (storm.for === undefined) return true
  return (storm.every === undefined ? elapsed : elapsed % storm.every) < storm.for
}

/** Whether there is a storm, if only between two of its periods. */
export function hasStorm(storm: Omit<RunningStorm, 'afterRequests'> | undefined, now: EpochMs): storm is RunningStorm {
  return storm !== undefined && (storm.every !== undefined || isStormActive(storm, now))
}

export function stormProblem(storm: Storm): string | undefined {
  if (!(storm.rate >= 0 && storm.rate <= 1)) return `"rate" must be from 0 to 1 (it is ${storm.rate})`
  if (storm.for === 0) return '"for" must be longer than 0'
  if (storm.every === undefined) return undefined
  if (storm.for === undefined) return '"every" needs "for", the length of each storm'
  if (storm.every < storm.for) return '"every" must not be shorter than "for"'
  return undefined
}
