import { type DurationMs, type EpochMs, readRetryAfter, SECOND_MS } from '../domain/time.js'
import type { Environment } from '../system/this-process.js'
import { type ClientRequest, openExchange, type ServiceResponse } from './exchange.js'
import type { ResponseLimits } from './limits.js'
import { isDropped, NoResponseError } from './no-response.js'

export interface ClientMachine {
  /** Rejects as soon as the signal is aborted. */
  sleep(duration: DurationMs, signal: AbortSignal): Promise<void>
  now(): EpochMs
  random(): number
}

export interface RetryWait {
  readonly wait: DurationMs
  readonly attempt: number
  readonly attempts: number
  /** `429 Too Many Requests` */
  readonly because: string
  readonly response?: ServiceResponse
}

/** The limits are for each attempt. */
export interface SendOptions extends RetryRules, ResponseLimits {
  readonly env: Environment
  readonly signal: AbortSignal
  onWait(wait: RetryWait): void
  onResponse?(response: ServiceResponse): void
}

export interface SendResult {
  readonly response: ServiceResponse
  readonly attempts: number
  readonly retryAt?: { readonly in: DurationMs; readonly at: EpochMs }
  readonly waitTooLong: boolean
}

/** Retries, and reads the whole last response. @throws NoResponseError; the signal's reason once it is aborted */
export async function send(request: ClientRequest, options: SendOptions, machine: ClientMachine): Promise<SendResult> {
  const exchange = await openExchange(request.url, options.env)
  try {
    for (let attempt = 1; ; attempt++) {
      const tried = await exchange
        .send(request, attempt === 1 ? options : { ...options, spent: 0 }, options.signal)
        .catch((error: unknown) => {
          if (error instanceof NoResponseError) return error
          throw error
        })
      const now = machine.now()
      const outcome = outcomeOf(tried)
      const decision = decideRetry({ method: request.method, attempt, outcome }, options, now, machine.random())
      const { wait, retryAfter, isTooLong = false } = decision
      const response = tried instanceof NoResponseError ? undefined : tried
      if (response !== undefined) options.onResponse?.(response)
      if (wait === undefined) {
        if (tried instanceof NoResponseError) throw Object.assign(tried, { attempts: attempt })
        const retryAt = retryAfter === undefined ? {} : { retryAt: { in: retryAfter, at: now + retryAfter } }
        return { response: tried, attempts: attempt, waitTooLong: isTooLong, ...retryAt }
      }
      const because = tried instanceof NoResponseError ? tried.short : `${tried.status} ${tried.statusText}`.trim()
      options.onWait({
        wait,
        attempt: attempt + 1,
        attempts: options.retries + 1,
        because,
        ...(response && { response }),
      })
      await machine.sleep(wait, options.signal)
    }
  } finally {
    await exchange.close()
  }
}

function outcomeOf(tried: ServiceResponse | NoResponseError): AttemptOutcome {
  if (tried instanceof NoResponseError) return { kind: isDropped(tried.cause) ? 'dropped' : 'no-response' }
  const [retryAfter, date] = [findHeader(tried, 'retry-after'), findHeader(tried, 'date')]
  return { kind: 'response', status: tried.status, retryAfter, date }
}

export function findHeader({ headers }: Pick<ServiceResponse, 'headers'>, name: string): string | undefined {
  return headers.find(([one]) => one === name)?.[1]
}

export function toSeconds(duration: DurationMs): number {
  return Math.ceil(duration / SECOND_MS)
}

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

interface Decision {
  /** Undefined: no retry. */
  readonly wait?: DurationMs
  /** The wait that the service asks for; only without a retry. */
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
  if (!isLimited && !isTransient) return {}
  const isAllowed = attempt <= retries && (isLimited || method === 'GET' || unsafe)
  const retryAfter = outcome.kind === 'response' ? readRetryAfter(outcome.retryAfter, outcome.date, now) : undefined
  const isTooLong = isAllowed && retryAfter !== undefined && retryAfter > maxWait
  if (!isAllowed || isTooLong) return retryAfter === undefined ? {} : { retryAfter, isTooLong }
  const bound = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1), maxWait)
  return { wait: Math.ceil(Math.max(random * bound, retryAfter ?? 0)) }
}
