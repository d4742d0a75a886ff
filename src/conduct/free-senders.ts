import { type DurationMs, SECOND_MS } from '../domain/time.js'

/**
 * Senders of one key that were answered and may go on at once, as far as the
 * service can tell: each answer sets one free, each request takes one up.
 *
 * A key does not say who sends. Without this, one of several workers that goes
 * on would be taken for another one that was told to wait.
 */
export interface FreeSenders {
  /** A ring of the monotonic instants at which their answers went out, oldest first. */
  readonly answered: Float64Array
  first: number
  count: number
}

/** As many as a ban overlooks: a client with fewer than 10 requests under way. @source docs/behaviour.md, "when a key is banned" */
const MOST_SENDERS = 9

/** Who sends nothing for so long is not thought of as still being there. */
const GONE_AFTER_MS: DurationMs = SECOND_MS

export function noSenders(): FreeSenders {
  return { answered: new Float64Array(MOST_SENDERS), first: 0, count: 0 }
}

/** Notes that an answer went out which asked for no wait. */
export function setFree(senders: FreeSenders, monotonic: number): void {
  senders.answered[(senders.first + senders.count) % MOST_SENDERS] = monotonic
  if (senders.count < MOST_SENDERS) senders.count++
  else senders.first = (senders.first + 1) % MOST_SENDERS
}

/**
 * Takes one up for a request.
 *
 * @param heardUntil who was answered later cannot be its sender
 * @returns whether there was one
 */
export function takeUp(senders: FreeSenders, monotonic: number, heardUntil: number): boolean {
  while (senders.count > 0) {
    const answered = senders.answered[senders.first] ?? 0
    const isGone = monotonic - answered >= GONE_AFTER_MS
    if (!isGone && answered > heardUntil) return false
    senders.first = (senders.first + 1) % MOST_SENDERS
    senders.count--
    if (!isGone) return true
  }
  return false
}
