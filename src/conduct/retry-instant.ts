import { LAST_INSTANT } from '../domain/clock.js'
import type { HandlerResult } from '../domain/messages.js'
import { readRetryAfter } from '../domain/retry-after.js'
import type { EpochMs } from '../domain/time.js'

/** When a response told its client to come back; undefined if it did not. */
export function retryInstant({ headers = [], retryAt }: HandlerResult, now: EpochMs): EpochMs | undefined {
  const index = headers.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === 'retry-after')
  if (index === -1) return undefined
  if (retryAt !== undefined) return retryAt
  // Only an answer of a fuller contract has no instant of its own.
  const wait = readRetryAfter(String(headers[index + 1]), undefined, now)
  return wait === undefined ? undefined : Math.min(now + wait, LAST_INSTANT)
}
