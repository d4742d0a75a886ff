import type { Contract } from '../contract/contract.js'
/** Milliseconds since the Unix epoch, by a space's clock. */
export type EpochMs = number
export type DurationMs = number
export type DurationText = `${number}${'ms' | 's' | 'm' | 'h'}`

export const SECOND_MS: DurationMs = 1000
export const MINUTE_MS: DurationMs = 60 * SECOND_MS
export const HOUR_MS: DurationMs = 60 * MINUTE_MS
export const DAY_MS: DurationMs = 24 * HOUR_MS

/** Years in HTTP dates have four digits. */
export const LAST_INSTANT: EpochMs = Date.parse('9999-12-31T23:59:59.999Z')

/** Maximum of Retry-After. */
export const LONGEST_WAIT_MS: DurationMs = 365 * DAY_MS

const DURATION = /^(\d{1,9})(ms|s|m|h)$/
const UNITS = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS } as const

/** `500ms`, `30s`, `5m`, `24h`; undefined for other text. @source docs/switches.md, "Durations" */
export function parseDuration(text: string): DurationMs | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}

/** In the largest whole unit: 90000 is `90s`. */
export function formatDuration(duration: DurationMs): DurationText {
  if (duration === 0) return '0s'
  if (duration % HOUR_MS === 0) return `${duration / HOUR_MS}h`
  if (duration % MINUTE_MS === 0) return `${duration / MINUTE_MS}m`
  if (duration % SECOND_MS === 0) return `${duration / SECOND_MS}s`
  return `${duration}ms`
}

const OFFSET = /^([+-])(?=\d)(?:(\d{1,7})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?(?:(\d{1,12})ms)?$/
const OFFSET_UNITS = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'm'],
  [SECOND_MS, 's'],
  [1, 'ms'],
] as const

/** `+90d`, `-1h30m`; undefined for other text. */
export function parseOffset(text: string): DurationMs | undefined {
  const match = OFFSET.exec(text)
  if (match === null) return undefined
  const [, sign, ...counts] = match
  const length = OFFSET_UNITS.reduce((sum, [unit], index) => sum + Number(counts[index] ?? 0) * unit, 0)
  return sign === '-' ? -length : length
}

/** The inverse of parseOffset: 5400000 is `+1h30m`. */
export function formatOffset(offset: DurationMs): string {
  let rest = Math.abs(offset)
  const parts = OFFSET_UNITS.map(([length, unit]) => {
    const count = Math.floor(rest / length)
    rest -= count * length
    return count === 0 ? '' : `${count}${unit}`
  })
  return `${offset < 0 ? '-' : '+'}${parts.join('') || '0s'}`
}

/** `1.2 ms`, `33 ms`, `480 ms`, `9.2 s`, `58 s`, `2 min 5 s`. */
export function formatSpan(milliseconds: number): string {
  if (milliseconds < 10) return `${Number(milliseconds.toFixed(1))} ms`
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 99_950) return `${Number((milliseconds / SECOND_MS).toFixed(1))} s`
  const seconds = Math.round(milliseconds / SECOND_MS)
  const rest = seconds % 60
  return `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${rest} s`}`
}

/** Rounded up, so that headers never make clients retry too early. */
export function ceilSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / SECOND_MS)
}

/** IMF-fixdate, rounded down to the second. @source RFC 9110, section 5.6.7 */
export function httpDate(at: EpochMs): string {
  return new Date(Math.min(at, LAST_INSTANT)).toUTCString()
}

/**
 * Reads Retry-After: seconds, or an HTTP-date relative to the Date header (or to `now`), which tolerates wrong clocks.
 * Undefined for other text. @source RFC 9110, section 10.2.3
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

/** @returns undefined for text that Date.parse accepts but HTTP does not */
export function readHttpDate(text: string | undefined): EpochMs | undefined {
  if (text === undefined || !/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(at) ? undefined : at
}

/** Running clocks have an offset from the wall clock. */
export type ClockState =
  | { readonly kind: 'running'; readonly ahead: DurationMs }
  | { readonly kind: 'frozen'; readonly at: EpochMs }

export const REAL_TIME: ClockState = { kind: 'running', ahead: 0 }

/** A running clock stops at the last instant. */
export function readClock(clock: ClockState, wall: EpochMs): EpochMs {
  return clock.kind === 'frozen' ? clock.at : Math.min(wall + clock.ahead, LAST_INSTANT)
}

/** An offset is from real time, or from the first removal of an operation of the contract. */
export type ClockStart = EpochMs | { readonly ahead: DurationMs; readonly from?: 'sunset' }

export function startInstant(start: ClockStart, wall: EpochMs, contract: Pick<Contract, 'operations'>): EpochMs {
  if (typeof start === 'number') return start
  const from = start.from === 'sunset' ? firstSunset(contract) : wall
  return Math.min(Math.max(from + start.ahead, 0), LAST_INSTANT)
}

/** Infinity if the contract removes no operation. */
function firstSunset({ operations }: Pick<Contract, 'operations'>): EpochMs {
  return Math.min(...operations.map(({ sunsetAt = Number.POSITIVE_INFINITY }) => sunsetAt))
}

/** @returns a sentence if the start is relative to a removal, and the contract removes no operation */
export function clockStartProblem(start: ClockStart | undefined, contract: Pick<Contract, 'operations'>) {
  if (typeof start !== 'object' || start.from === undefined || firstSunset(contract) < LAST_INSTANT) return undefined
  return 'The clock cannot start before a removal: no operation of the contract has x-deprecated-sunset.'
}

export function clockAt(now: EpochMs, frozen: boolean, wall: EpochMs): ClockState {
  return frozen ? { kind: 'frozen', at: now } : { kind: 'running', ahead: now - wall }
}

export interface ClockChange {
  readonly now?: EpochMs
  readonly frozen?: boolean
}

/** Returns the new clock, or a sentence with the problem: time only goes forward. */
export function changeClock(clock: ClockState, change: ClockChange, wall: EpochMs): ClockState | string {
  const before = readClock(clock, wall)
  const now = change.now ?? before
  if (now < before) {
    return `The clock only goes forward: ${iso(now)} is before ${iso(before)}, the time now. To return to real time, reset the clock.`
  }
  if (now > LAST_INSTANT) return `The clock cannot go past ${iso(LAST_INSTANT)}.`
  return clockAt(now, change.frozen ?? clock.kind === 'frozen', wall)
}

function iso(at: EpochMs): string {
  return new Date(at).toISOString()
}

const END_OF_YEAR_9999 = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** ISO 8601, UTC. A ban or window may end after the last year of four digits, which is shown instead. */
export function isoText(at: EpochMs): string {
  return new Date(Math.min(at, END_OF_YEAR_9999)).toISOString()
}
