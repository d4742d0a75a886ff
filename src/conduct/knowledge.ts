import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'

/** When an answer went out: by the space's clock, and in monotonic milliseconds. */
export interface Moment {
  readonly at: EpochMs
  readonly monotonic: number
}

/** When a request came, and what its sender had heard by then. */
export interface Arrival extends Moment {
  /** Answers that went out until this monotonic instant had reached the sender. */
  readonly heardUntil: number
}

/** By then whoever is to hear of an answer has heard of it, in real time; and by a clock that may have been moved. */
const KNOWN_AFTER_MS: DurationMs = 100
const KNOWN_AFTER_BY_CLOCK_MS: DurationMs = SECOND_MS

/**
 * Whether the sender of a request could know of an answer: it had heard of it,
 * or so much time had passed that it must have.
 */
export function isKnown(answer: Moment, { at, monotonic, heardUntil }: Arrival): boolean {
  return (
    answer.monotonic <= heardUntil ||
    monotonic - answer.monotonic >= KNOWN_AFTER_MS ||
    at - answer.at >= KNOWN_AFTER_BY_CLOCK_MS
  )
}
