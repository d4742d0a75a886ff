import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import type { Header } from './headers.js'
import { isDropped, NoAnswerError } from './no-answer.js'
import { proxies } from './proxies.js'
import { type Decision, decideRetry, type Outcome, type RetryRules } from './retry-policy.js'

export interface ClientRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly Header[]
  readonly body: Uint8Array | undefined
}

export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly Header[]
  readonly body: Buffer
}

/** The machine, as far as waiting needs it. */
export interface ClientMachine {
  /** Rejects as soon as the signal is aborted. */
  sleep(duration: DurationMs, signal: AbortSignal): Promise<void>
  now(): EpochMs
  /** In [0, 1). */
  random(): number
}

/** A wait before another attempt. */
export interface Wait {
  readonly wait: DurationMs
  /** The attempt that follows, and how many there can be. */
  readonly attempt: number
  readonly attempts: number
  /** What was wrong: `429 Too Many Requests`. */
  readonly because: string
}

export interface SendOptions extends RetryRules {
  /** For each attempt. */
  readonly timeout: DurationMs
  readonly env: Readonly<Record<string, string | undefined>>
  /** Ends an attempt, and a wait, at once. */
  readonly signal: AbortSignal
  onWait(wait: Wait): void
  onAnswer?(answer: Answer): void
}

/** How it ended when nothing more is tried. */
export interface Sent {
  readonly answer: Answer
  readonly attempts: number
  /** What the service asks to wait, where it does, and when that is over. */
  readonly comeBack?: { readonly in: DurationMs; readonly at: EpochMs }
  /** The service asked for a longer wait than is waited. */
  readonly waitTooLong: boolean
}

/**
 * Sends a request, again if need be, and reads the last answer whole, whatever its status.
 *
 * @throws NoAnswerError if no answer came, and the signal's reason once it is aborted
 */
export async function send(request: ClientRequest, options: SendOptions, machine: ClientMachine): Promise<Sent> {
  const { EnvHttpProxyAgent, request: exchange } = await import('undici')
  // The signal ends an attempt exactly; undici's own timers are coarse.
  const dispatcher = new EnvHttpProxyAgent({ ...proxies(options.env), headersTimeout: 0, bodyTimeout: 0 })

  async function attemptOnce(): Promise<Answer> {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeout)])
    const { method, url, headers, body } = request
    const response = await exchange(url, {
      dispatcher,
      signal,
      method: method as 'GET',
      headers: headers.flat(),
      ...(body === undefined ? {} : { body }),
    })
    // Not given to the body by undici itself once the headers are there.
    const bytes = Buffer.from(await response.body.arrayBuffer())
    return {
      status: response.statusCode,
      statusText: response.statusText,
      headers: headerList(response.headers),
      body: bytes,
    }
  }

  try {
    for (let attempt = 1; ; attempt++) {
      const tried = await attemptOnce().catch((error: unknown) => {
        options.signal.throwIfAborted()
        return NoAnswerError.from(error, request.url, options.timeout, attempt)
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
      options.onWait({ wait: decision.wait, attempt: attempt + 1, attempts: options.retries + 1, because })
      await machine.sleep(decision.wait, options.signal)
    }
  } finally {
    // An open connection would keep the process.
    await dispatcher.destroy()
  }
}

function outcomeOf(tried: Answer | NoAnswerError): Outcome {
  if (tried instanceof NoAnswerError) return { kind: isDropped(tried.cause) ? 'dropped' : 'no-answer' }
  return {
    kind: 'answer',
    status: tried.status,
    retryAfter: headerOf(tried, 'retry-after'),
    date: headerOf(tried, 'date'),
  }
}

function ended(answer: Answer, attempts: number, decision: Decision, now: EpochMs): Sent {
  const wait = decision.kind === 'give-up' ? decision.retryAfter : undefined
  const waitTooLong = decision.kind === 'give-up' && decision.because === 'wait-too-long'
  if (wait === undefined) return { answer, attempts, waitTooLong }
  return { answer, attempts, waitTooLong, comeBack: { in: wait, at: now + wait } }
}

export function headerOf({ headers }: Pick<Answer, 'headers'>, name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1]
}

function headerList(headers: Readonly<Record<string, string | string[] | undefined>>): readonly Header[] {
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): Header => [name, one]))
}

/** Whole seconds as people say them. */
export function secondsOf(duration: DurationMs): number {
  return Math.ceil(duration / SECOND_MS)
}
