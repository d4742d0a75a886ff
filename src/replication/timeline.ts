import type { Machine } from '../core/machine.js'
import type { EpochMs } from '../domain/time.js'
import type { EntryId } from './command-log.js'
import { Group } from './group.js'
import { OpenExchanges } from './open-exchanges.js'

/** A machine with the group that it belongs to, at an entry of the log. */
export interface Timeline {
  readonly group: Group
  readonly open: OpenExchanges
  readonly heard: Heard
  machine: Machine | undefined
  position: number
  applied: EntryId | undefined
  /** When the last entry was taken by the log. */
  now: EpochMs
  /** Why what the log holds cannot be told from it: an entry that this release does not understand. */
  unread: string | undefined
}

/** Knows which answers have reached their readers, by positions. */
export interface Heard {
  readonly upTo: number
  sent(position: number, now: number, isAtEnd: boolean): void
}

/** At the beginning of the log. */
export function newTimeline(openHeard: () => Heard): Timeline {
  return {
    group: new Group(),
    open: new OpenExchanges(),
    heard: openHeard(),
    machine: undefined,
    position: 0,
    applied: undefined,
    now: 0,
    unread: undefined,
  }
}

/** Whoever follows what happens in spaces that are gone is told that there will be no more. */
export function closeLogs(machine: Machine | undefined): void {
  if (machine === undefined) return
  for (const name of ['', ...machine.spaces.names()]) machine.spaces.get(name)?.log.close()
}
