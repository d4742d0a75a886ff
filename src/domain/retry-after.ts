import { type DurationMs, type EpochMs, SECOND_MS } from './time.js'

/**
 * Reads Retry-After: whole seconds, or an HTTP-date, which counts from the answer's own
 * Date, so that neither clock has to be right.
 *
 * @param now what a date counts from in an answer without Date
 * @returns how long to wait, undefined for what is neither
 * @source RFC 9110, section 10.2.3
 */
export function readRetryAfter(
  value: string | undefined,
  date: string | undefined,
  now: EpochMs | undefined,
): DurationMs | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value) * SECOND_MS
  const until = readHttpDate(value)
  const from = readHttpDate(date) ?? now
  return until === undefined || from === undefined ? undefined : Math.max(0, until - from)
}

/** @returns undefined for strings that Date.parse accepts but HTTP does not */
export function readHttpDate(text: string | undefined): EpochMs | undefined {
  if (text === undefined || !/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(at) ? undefined : at
}
