import { type EpochMs, SECOND_MS } from '../domain/time.js'
import type { Answer } from './message.js'

/** When an answer told its client to come back; undefined where it said nothing of it. */
export function retryInstant({ headers = [], retryAt }: Answer, now: EpochMs): EpochMs | undefined {
  const index = headers.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === 'retry-after')
  if (index === -1) return undefined
  return retryAt ?? readRetryAfter(String(headers[index + 1]), now)
}

/** As an answer of a fuller contract has it: seconds or a date. @source RFC 9110, 10.2.3 */
function readRetryAfter(text: string, now: EpochMs): EpochMs | undefined {
  if (/^\d{1,9}$/.test(text)) return now + Number(text) * SECOND_MS
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : date
}
