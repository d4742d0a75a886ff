import type { Ending, HandlerResult } from '../domain/messages.js'
import type { DurationMs } from '../domain/time.js'
import type { Arrival } from './judged-request.js'
import { isServed, orderOf, type Sent } from './waits.js'

/** A request that was sent again after its client had received a refusal. */
export interface Repeat {
  readonly exchange: number
  /** 1 for the first time. */
  readonly times: number
  /** From the end of the refusal, real time. */
  readonly waitMs: DurationMs
}

interface Refusal {
  readonly fingerprint: string
  readonly times: number
}

/**
 * Finds repeated requests, with any key. Each of several parallel requests may be repeated after its own refusal. Grows
 * without a limit: only for `conform`.
 */
export class Repeats {
  readonly found: Repeat[] = []
  /** By position of the request. */
  readonly #underWay = new Map<number, Refusal>()
  /** Not repeated yet; the first to end first. */
  readonly #received: (Refusal & Sent)[] = []

  judge(arrival: Arrival, result: HandlerResult, fingerprint: string, exchange: number, position: number): void {
    const index = this.#received.findIndex(
      (value) => value.fingerprint === fingerprint && orderOf(value, arrival) === 'after',
    )
    const [before] = index === -1 ? [] : this.#received.splice(index, 1)
    const times = before === undefined ? 0 : before.times + 1
    if (before !== undefined) this.found.push({ exchange, times, waitMs: arrival.wall - before.wall })
    if (!isServed(result) || result.status >= 400) this.#underWay.set(position, { fingerprint, times })
  }

  ended(ending: Ending): void {
    const refusal = this.#underWay.get(ending.position)
    this.#underWay.delete(ending.position)
    if (refusal !== undefined && (ending.how === 'sent' || ending.how === 'cut'))
      this.#received.push({ ...ending, ...refusal })
  }
}
