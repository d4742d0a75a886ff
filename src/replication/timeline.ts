import type { Machine } from '../core/machine.js'
import type { EndedExchange, ExchangeRef } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'
import type { EntryId } from './command-log.js'
import { Group } from './group.js'

/** The state of machine and group after an entry of the log. */
export interface Timeline {
  readonly group: Group
  readonly open: OpenExchanges
  readonly delivered: DeliveryTracker
  machine: Machine | undefined
  position: number
  applied: EntryId | undefined
  now: EpochMs
  /** Why the state is unknown: this release cannot apply an entry. */
  unreadable: string | undefined
}

/** Tracks which responses have certainly been delivered, by position. */
export interface DeliveryTracker {
  readonly deliveredUpTo: number
  sent(position: number, now: number): void
}

export function newTimeline(openDeliveryTracker: () => DeliveryTracker): Timeline {
  return {
    group: new Group(),
    open: new OpenExchanges(),
    delivered: openDeliveryTracker(),
    machine: undefined,
    position: 0,
    applied: undefined,
    now: 0,
    unreadable: undefined,
  }
}

export function closeLogs(machine: Machine | undefined): void {
  if (machine === undefined) return
  for (const name of ['', ...machine.spaces.names()]) machine.spaces.get(name)?.log.close()
}

interface OpenExchange {
  readonly replica: string
  readonly exchange: ExchangeRef
  readonly at: EpochMs
}

export type SavedOpenExchanges = readonly OpenExchange[]

/** Exchanges whose end was not reported yet by the replica that received them. They end with that replica. */
export class OpenExchanges {
  readonly #byPosition = new Map<number, OpenExchange>()

  start(replica: string, exchange: ExchangeRef, at: EpochMs): void {
    const { space, id, position } = exchange
    this.#byPosition.set(position, { replica, exchange: { space, id, position }, at })
  }

  /** @returns the ends that are reported for the first time */
  end(replica: string, ends: readonly EndedExchange[]): readonly EndedExchange[] {
    return ends.filter(
      ({ position }) => this.#byPosition.get(position)?.replica === replica && this.#byPosition.delete(position),
    )
  }

  abandon(replica: string, now: EpochMs): readonly EndedExchange[] {
    const own = this.save().filter((open) => open.replica === replica)
    for (const { exchange } of own) this.#byPosition.delete(exchange.position)
    return own.map(({ exchange, at }) => {
      return { ...exchange, how: 'unknown', durationMs: now - at, waitingMs: 0, bodyMs: 0, connection: 0 }
    })
  }

  clear(): void {
    this.#byPosition.clear()
  }

  save(): SavedOpenExchanges {
    return [...this.#byPosition.values()]
  }

  load(saved: SavedOpenExchanges): void {
    for (const open of saved) this.#byPosition.set(open.exchange.position, open)
  }
}
