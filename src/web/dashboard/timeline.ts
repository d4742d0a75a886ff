import type { SpaceEvent } from '../../exchanges/exchange-log.js'
import type { Exchange } from '../../exchanges/exchange-view.js'

export interface TimelineEvent extends SpaceEvent {
  readonly afterId: number
  readonly number: number
}

export type TimelineRow =
  | { readonly kind: 'exchange'; readonly exchange: Exchange }
  | { readonly kind: 'event'; readonly event: TimelineEvent }
  /** The clock went back without an event that explains it. */
  | { readonly kind: 'back'; readonly afterId: number }

/** Smaller steps may be exchanges that overtook each other. */
const BACK_MS = 1000
const SETS_CLOCK = /^(?:clock\..*|reset|undo|snapshots\.restore|scenario\.apply|overrides\.clear)$/

/** Merges exchanges and events; both newest first. */
export function timelineOf(exchanges: readonly Exchange[], events: readonly TimelineEvent[]): readonly TimelineRow[] {
  const rows: TimelineRow[] = []
  let next = 0
  let newer: Exchange | undefined
  for (const exchange of exchanges) {
    let setsClock = false
    for (let event = events[next]; event !== undefined && event.afterId >= exchange.id; event = events[++next]) {
      rows.push({ kind: 'event', event })
      setsClock ||= SETS_CLOCK.test(event.verb)
    }
    if (newer !== undefined && !setsClock && Date.parse(exchange.at) - Date.parse(newer.at) > BACK_MS)
      rows.push({ kind: 'back', afterId: exchange.id })
    rows.push({ kind: 'exchange', exchange })
    newer = exchange
  }
  for (const event of events.slice(next)) rows.push({ kind: 'event', event })
  return rows
}
