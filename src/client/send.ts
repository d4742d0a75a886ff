import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import type { Environment } from '../system/environment.js'
import type { AnswerLimits } from './bounded-body.js'
import { type ClientRequest, openExchange, type ServiceAnswer } from './exchange.js'
import { isDropped, NoAnswerError } from './no-answer.js'
import { type AttemptOutcome, type Decision, decideRetry, type RetryRules } from './retry-policy.js'

/** Clock, randomness and waiting. */
export interface ClientMachine {
  /** Rejects as soon as the signal is aborted. */
  sleep(duration: DurationMs, signal: AbortSignal): Promise<void>
  now(): EpochMs
  /** In [0, 1). */
  random(): number
}

/** A wait before another attempt. */
export interface RetryWait {
  readonly wait: DurationMs
  /** The attempt that follows, and how many there can be. */
  readonly attempt: number
  readonly attempts: number
  /** What was wrong: `429 Too Many Requests`. */
  readonly because: string
  /** The refused answer, if there was one. */
  readonly answer?: ServiceAnswer
}

/** The limits are for each attempt. */
export interface SendOptions extends RetryRules, AnswerLimits {
  readonly env: Environment
  /** Aborts the present attempt or wait. */
  readonly signal: AbortSignal
  onWait(wait: RetryWait): void
  onAnswer?(answer: ServiceAnswer): void
}

/** The outcome after the last attempt. */
export interface Sent {
  readonly answer: ServiceAnswer
  readonly attempts: number
  /** How long the service asks the client to wait, if it does, and until when. */
  readonly comeBack?: { readonly in: DurationMs; readonly at: EpochMs }
  /** The service asked for a longer wait than is acceptable. */
  readonly waitTooLong: boolean
}

/**
 * Sends a request, retries if need be, and reads the whole last response, whatever its status.
 *
 * @throws NoAnswerError if no answer came, and the signal's reason once it is aborted
 */
export async function send(request: ClientRequest, options: SendOptions, machine: ClientMachine): Promise<Sent> {
  const exchange = await openExchange(request.url, options.env)
  try {
    for (let attempt = 1; ; attempt++) {
      const tried = await exchange.send(request, options, options.signal, attempt).catch((error: unknown) => {
        if (error instanceof NoAnswerError) return error
        throw error
      })
      const outcome = outcomeOf(tried)
      const now = machine.now()
      const decision = decideRetry({ method: request.method, attempt, outcome }, options, now, machine.random())
      if (!(tried instanceof NoAnswerError)) options.onAnswer?.(tried)
      if (decision.kind !== 'retry') {
        if (tried instanceof NoAnswerError) throw tried
        return ended(tried, attempt, decision, now)
      }
      const because = tried instanceof NoAnswerError ? tried.short : `${tried.status} ${tried.statusText}`.trim()
      options.onWait({
        wait: decision.wait,
        attempt: attempt + 1,
        attempts: options.retries + 1,
        because,
        ...(tried instanceof NoAnswerError ? {} : { answer: tried }),
      })
      await machine.sleep(decision.wait, options.signal)
    }
  } finally {
    await exchange.close()
  }
}

function outcomeOf(tried: ServiceAnswer | NoAnswerError): AttemptOutcome {
  if (tried instanceof NoAnswerError) return { kind: isDropped(tried.cause) ? 'dropped' : 'no-answer' }
  return {
    kind: 'answer',
    status: tried.status,
    retryAfter: headerOf(tried, 'retry-after'),
    date: headerOf(tried, 'date'),
  }
}

function ended(answer: ServiceAnswer, attempts: number, decision: Decision, now: EpochMs): Sent {
  const wait = decision.kind === 'give-up' ? decision.retryAfter : undefined
  const waitTooLong = decision.kind === 'give-up' && decision.because === 'wait-too-long'
  if (wait === undefined) return { answer, attempts, waitTooLong }
  return { answer, attempts, waitTooLong, comeBack: { in: wait, at: now + wait } }
}

export function headerOf({ headers }: Pick<ServiceAnswer, 'headers'>, name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1]
}

/** Whole seconds, rounded up, for people. */
export function secondsOf(duration: DurationMs): number {
  return Math.ceil(duration / SECOND_MS)
}
