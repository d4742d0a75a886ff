import type { EpochMs } from './time.js'

/**
 * What became of an answer: it was handed to the client's system whole, it was
 * cut (by a fault, or by the sandbox), or the client left before. Unknown is what became of
 * one whose replica is gone, or came too late to tell its client.
 */
export type AnswerEnd = 'sent' | 'cut' | 'left' | 'unknown'

/** The end of an answer. What it told its client begins here, not where it was decided. */
export interface Ending {
  /** The ordinal of the request that it answers. */
  readonly position: number
  readonly how: AnswerEnd
  /** From the space's clock. */
  readonly at: EpochMs
  /** Real time. */
  readonly wall: EpochMs
  /** The ordinal of this end. Ordinals are the sandbox's, of whatever happens in it, and strictly grow. */
  readonly endedAt: number
  /** The ordinal of the connection that carried it; 0 in process. */
  readonly connection: number
}
