import type { ClockView } from '../../control/views.js'

/** What a space's clock showed, and when the page heard of it; from then on the page counts by itself. */
export interface LocalClock {
  /** Milliseconds since the epoch. */
  readonly shown: number
  readonly frozen: boolean
  /** By the page's own monotonic clock, in milliseconds. */
  readonly heardAt: number
}

export function hearClock({ now, frozen }: ClockView, heardAt: number): LocalClock {
  return { shown: Date.parse(now), frozen, heardAt }
}

/** @param at the page's monotonic clock */
export function readLocalClock({ shown, frozen, heardAt }: LocalClock, at: number): number {
  return frozen ? shown : shown + (at - heardAt)
}
