import type { EngineAnswer, EngineRequest } from '../../contract/engine.js'
import { readHttpDate } from '../../domain/retry-after.js'
import { SECOND_MS } from '../../domain/time.js'
import { readLimits } from '../../drift/rate-limits.js'

interface Counted {
  readonly operation: string
  readonly request: EngineRequest
  readonly limit: number
  readonly remaining: number
  /** Seconds since the Unix epoch. */
  readonly reset: number
  /** Seconds since the Unix epoch, by the answer's own Date. */
  readonly date: number
}

/** An answer that left as much as the one before it in the same window. */
export interface Uncounted {
  readonly operation: string
  readonly request: EngineRequest
  readonly detail: string
  /** Every answer of the run left all that there is, as where limits are turned off. */
  readonly isFull: boolean
}

/** Where a window is about to end, two requests may be on either side of it. */
const STEADY_SECONDS = 2

/**
 * Follows what the answers to one key have left: within a window each request leaves less.
 * Other clients of the key may use it, too, so that it may fall by more than one.
 *
 * @source docs/specification.md, "Rate limit headers"
 */
export class Remaining {
  /** By limit and reset: a minute's window may be shown, or a day's. */
  readonly #last = new Map<string, Counted>()
  #uncounted: Omit<Uncounted, 'isFull'> | undefined
  #isFull = true
  #latest: Counted | undefined

  /** Hears an answer to the key that was no refusal. */
  hear(operation: string, request: EngineRequest, { headers }: EngineAnswer): void {
    const { limit, remaining, reset } = readLimits(headers)
    const date = (readHttpDate(headers.date) ?? Number.NaN) / SECOND_MS
    if (limit === undefined || remaining === undefined || reset === undefined) return
    const counted = { operation, request, limit, remaining, reset, date }
    if (remaining < limit) this.#isFull = false
    const window = `${limit} ${reset}`
    const before = this.#last.get(window)
    if (before !== undefined && remaining >= before.remaining && !(reset - date < STEADY_SECONDS)) {
      const detail = `X-RateLimit-Remaining is ${remaining} after ${before.remaining}, in the same window: the request was not counted`
      this.#uncounted ??= { operation, request, detail }
    }
    this.#last.set(window, counted)
    this.#latest = counted
  }

  /** The first request that was not counted, if there is one. */
  uncounted(): Uncounted | undefined {
    return this.#uncounted && { ...this.#uncounted, isFull: this.#isFull }
  }

  /** Whether a later answer shows that a window has gone on since: then limits are not turned off, and yet not counted. */
  isSameWindow({ headers }: EngineAnswer): boolean {
    const { limit, reset } = readLimits(headers)
    const date = (readHttpDate(headers.date) ?? Number.NaN) / SECOND_MS
    const latest = this.#latest
    return latest !== undefined && date > latest.date && limit === latest.limit && reset === latest.reset
  }
}
