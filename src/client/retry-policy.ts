import { type DurationMs, type EpochMs, readRetryAfter, SECOND_MS } from '../domain/time.js'

export type AttemptOutcome =
  | {
      readonly kind: 'response'
      readonly status: number
      readonly retryAfter?: string | undefined
      readonly date?: string | undefined
    }
  | { readonly kind: 'dropped' }
  /** No response, or not in time: an immediate retry is pointless. */
  | { readonly kind: 'no-response' }

export interface RetryRules {
  readonly retries: number
  readonly maxWait: DurationMs
  /** Also retries requests that may already have taken effect. */
  readonly unsafe: boolean
}

export interface Decision {
  /** Undefined: no retry. */
  readonly wait?: DurationMs
  /** The wait that the service asks for; only where a retry was given up. */
  readonly retryAfter?: DurationMs
  /** It was given up because Retry-After is longer than `maxWait`. */
  readonly isTooLong?: boolean
}

/** First and longest bound of the backoff. @source AWS Architecture Blog, "Exponential Backoff And Jitter": full jitter */
const FIRST_BACKOFF_MS: DurationMs = 500
const MAX_BACKOFF_MS: DurationMs = 30 * SECOND_MS

/**
 * A 429 has no effect, so any method is retried. After a 502, 503, 504 or a dropped connection only GET is, unless the
 * rules allow others. The wait is never shorter than Retry-After.
 *
 * @param attempt attempts so far, >= 1
 * @param now     for a Retry-After date in a response without Date
 * @param random  in [0, 1)
 * @source docs/cli.md, "Retries"
 */
export function decideRetry(
  { method, attempt, outcome }: { readonly method: string; readonly attempt: number; readonly outcome: AttemptOutcome },
  { retries, maxWait, unsafe }: RetryRules,
  now: EpochMs,
  random: number,
): Decision {
  const isLimited = outcome.kind === 'response' && outcome.status === 429
  const isTransient =
    outcome.kind === 'dropped' || (outcome.kind === 'response' && [502, 503, 504].includes(outcome.status))
  if (!isLimited && !(isTransient && (method === 'GET' || unsafe))) return {}
  const retryAfter = outcome.kind === 'response' ? readRetryAfter(outcome.retryAfter, outcome.date, now) : undefined
  const isTooLong = attempt <= retries && retryAfter !== undefined && retryAfter > maxWait
  if (attempt > retries || isTooLong) return retryAfter === undefined ? {} : { retryAfter, isTooLong }
  const bound = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1), maxWait)
  return { wait: Math.ceil(Math.max(random * bound, retryAfter ?? 0)) }
}
