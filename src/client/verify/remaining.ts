import type { EngineRequest, EngineResponse } from '../../contract/engine.js'
import { readHttpDate, SECOND_MS } from '../../domain/time.js'
import { readLimits } from '../../drift/headers.js'

/** The rate limits of one response to the key. Times are seconds since the Unix epoch. */
export interface CountedResponse {
  readonly operation: string
  readonly request: EngineRequest
  readonly limit: number
  readonly remaining: number
  readonly reset: number
  readonly date: number
}

/** Two requests this close to the end of a window may be in different ones. */
const STEADY_SECONDS = 2

export function readCounted(
  operation: string,
  request: EngineRequest,
  { headers }: EngineResponse,
): CountedResponse | undefined {
  const { limit, remaining, reset } = readLimits(headers)
  const date = (readHttpDate(headers.date) ?? Number.NaN) / SECOND_MS
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  return { operation, request, limit, remaining, reset, date }
}

/** Remaining may fall by more than one: others may use the key. @source docs/specification.md, "Rate limit headers" */
export function findUncounted(
  all: readonly CountedResponse[],
): (CountedResponse & { readonly detail: string }) | undefined {
  // By limit and reset: the headers show the minute's window or the day's.
  const last = new Map<string, CountedResponse>()
  for (const counted of all) {
    const { limit, remaining, reset, date } = counted
    const before = last.get(`${limit} ${reset}`)
    if (before !== undefined && remaining >= before.remaining && !(reset - date < STEADY_SECONDS)) {
      const detail = `X-RateLimit-Remaining is ${remaining} after ${before.remaining}, in the same window: the request was not counted`
      return { ...counted, detail }
    }
    last.set(`${limit} ${reset}`, counted)
  }
  return undefined
}
