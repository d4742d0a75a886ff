import { readRetryAfter } from '../domain/retry-after.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'

/** How one attempt ended, as far as the next one depends on it. */
export type AttemptOutcome =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly retryAfter?: string | undefined
      /** The answer's own Date. */
      readonly date?: string | undefined
    }
  /** The connection was dropped before the response was complete. */
  | { readonly kind: 'dropped' }
  /** Nothing answered, or not in time. Retrying at once is pointless. */
  | { readonly kind: 'no-answer' }

export interface RetryRules {
  /** Attempts after the first. */
  readonly retries: number
  /** The longest acceptable wait. */
  readonly maxWait: DurationMs
  /** Also repeats requests that may already have taken effect. */
  readonly unsafe: boolean
}

export type Decision =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly wait: DurationMs }
  /** It could be retried, but not now: `retryAfter` is the wait that the service asks for. */
  | { readonly kind: 'give-up'; readonly because: 'tries-spent' | 'wait-too-long'; readonly retryAfter?: DurationMs }

/** The backoff's first bound and its largest. @source AWS Architecture Blog, "Exponential Backoff And Jitter": full jitter */
const FIRST_BACKOFF_MS: DurationMs = 500
const LONGEST_BACKOFF_MS: DurationMs = 30 * SECOND_MS

const TOO_MANY_REQUESTS = 429
const PASSING_STATUSES: readonly number[] = [502, 503, 504]

/**
 * Decides what follows an attempt.
 *
 * A 429 was refused before anything was done, so any method may be repeated. After
 * a 502, 503, 504 or a dropped connection only GET is, unless the rules say so. The
 * wait is never shorter than Retry-After.
 *
 * @param attempt the attempts so far, whole number >= 1
 * @param now     the local clock, for a date in an answer without Date
 * @param random  in [0, 1)
 * @source docs/cli.md, "Retries"
 */
export function decideRetry(
  { method, attempt, outcome }: { readonly method: string; readonly attempt: number; readonly outcome: AttemptOutcome },
  { retries, maxWait, unsafe }: RetryRules,
  now: EpochMs,
  random: number,
): Decision {
  if (!mayRepeat(method, outcome, unsafe)) return { kind: 'done' }
  const retryAfter = outcome.kind === 'answer' ? readRetryAfter(outcome.retryAfter, outcome.date, now) : undefined
  const told = retryAfter === undefined ? {} : { retryAfter }
  if (attempt > retries) return { kind: 'give-up', because: 'tries-spent', ...told }
  if (retryAfter !== undefined && retryAfter > maxWait) return { kind: 'give-up', because: 'wait-too-long', ...told }
  const bound = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1), maxWait)
  return { kind: 'retry', wait: Math.ceil(Math.max(random * bound, retryAfter ?? 0)) }
}

function mayRepeat(method: string, outcome: AttemptOutcome, unsafe: boolean): boolean {
  const isSafe = method === 'GET' || unsafe
  switch (outcome.kind) {
    case 'answer':
      return outcome.status === TOO_MANY_REQUESTS || (isSafe && PASSING_STATUSES.includes(outcome.status))
    case 'dropped':
      return isSafe
    case 'no-answer':
      return false
  }
}
