import type { Open } from '../contract/open.js'

/** Milliseconds since the Unix epoch, from a space's clock. */
export type EpochMs = number
/** A length of time in milliseconds. */
export type DurationMs = number
/** A length of time as it is written: a whole number with its unit, `500ms`, `30s`, `5m` or `24h`. */
export type DurationText = Open<`${number}${'ms' | 's' | 'm' | 'h'}`>

export const SECOND_MS: DurationMs = 1000
export const MINUTE_MS: DurationMs = 60 * SECOND_MS
export const HOUR_MS: DurationMs = 60 * MINUTE_MS
export const DAY_MS: DurationMs = 24 * HOUR_MS

/** How long a client can be told to wait: a year, so that no date in a header goes beyond four digits. */
export const LONGEST_WAIT_MS: DurationMs = 365 * DAY_MS

const DURATION = /^(\d{1,9})(ms|s|m|h)$/
const UNITS = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS } as const

/**
 * Reads a duration as users write it: a whole number and a unit (`500ms 30s 5m 24h`).
 *
 * @returns milliseconds, or undefined for anything else (signs, spaces, fractions, bare numbers)
 * @source docs/switches.md, "Durations"
 */
export function parseDuration(text: string): DurationMs | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}

/** Writes a duration in its largest whole unit, so that parseDuration reads it back: 90000 is `90s`. */
export function formatDuration(duration: DurationMs): string {
  if (duration === 0) return '0s'
  if (duration % HOUR_MS === 0) return `${duration / HOUR_MS}h`
  if (duration % MINUTE_MS === 0) return `${duration / MINUTE_MS}m`
  if (duration % SECOND_MS === 0) return `${duration / SECOND_MS}s`
  return `${duration}ms`
}

/** How long something took, for people: `12.3 ms`, `480 ms`, `9.2 s`, `2 min 5 s`. */
export function formatSpan(milliseconds: number): string {
  if (milliseconds < 100) return `${milliseconds.toFixed(1)} ms`
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 99_950) return `${(milliseconds / SECOND_MS).toFixed(1)} s`
  const seconds = Math.round(milliseconds / SECOND_MS)
  const rest = seconds % 60
  return `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${rest} s`}`
}

/** Whole seconds, rounded up, so that no header sends a client back too early. */
export function ceilSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / SECOND_MS)
}

/** An IMF-fixdate, as in Date and Retry-After, rounded down to the second. @source RFC 9110, section 5.6.7 */
export function httpDate(at: EpochMs): string {
  return new Date(at).toUTCString()
}
