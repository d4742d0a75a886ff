import type { DurationMs, EpochMs } from './time.js'

/** A space's clock: it runs at an offset from the wall clock, or is frozen. */
export type ClockState =
  | { readonly kind: 'running'; readonly ahead: DurationMs }
  | { readonly kind: 'frozen'; readonly at: EpochMs }

/** Real time. */
export const REAL_TIME: ClockState = { kind: 'running', ahead: 0 }

/** Reads a clock, given what the wall clock says. */
export function readClock(clock: ClockState, wall: EpochMs): EpochMs {
  return clock.kind === 'frozen' ? clock.at : wall + clock.ahead
}

/** A clock that shows `now` at the wall clock's `wall`. */
export function clockAt(now: EpochMs, frozen: boolean, wall: EpochMs): ClockState {
  return frozen ? { kind: 'frozen', at: now } : { kind: 'running', ahead: now - wall }
}

/** A change to a clock: the instant to show, and whether to freeze it there. */
export interface ClockChange {
  readonly now?: EpochMs
  readonly frozen?: boolean
}

/** The latest instant that a clock may show, so that headers can always express it. */
export const LAST_INSTANT: EpochMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Moves, freezes or resumes a clock; omitted parts stay as they are.
 *
 * @returns the new clock, or a sentence on why not: time only goes forward
 */
export function changeClock(clock: ClockState, change: ClockChange, wall: EpochMs): ClockState | string {
  const before = readClock(clock, wall)
  const now = change.now ?? before
  if (now < before) {
    return `the clock only goes forward: it is ${iso(before)}, and ${iso(now)} lies before it. DELETE /clock returns to real time, POST /reset to the start`
  }
  if (now > LAST_INSTANT) return `the clock cannot go past ${iso(LAST_INSTANT)}`
  return clockAt(now, change.frozen ?? clock.kind === 'frozen', wall)
}

function iso(at: EpochMs): string {
  return new Date(at).toISOString()
}
