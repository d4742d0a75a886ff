import type { Change } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'

/** The machine's clocks. A space's own clock is computed from the first. */
export interface SystemClock {
  /** Milliseconds since the Unix epoch. */
  wall(): EpochMs
  /** Milliseconds from an arbitrary start, never going back: for measuring how long something took. */
  monotonic(): number
}

/** Durable home of one space. */
export interface Store {
  /**
   * Resolves when the change survives the process; changes are written in the order given.
   * Rejects when it could not be written (StoreFull where there is no room); then nothing of it is in the store.
   */
  append(change: Change): Promise<void>
}
