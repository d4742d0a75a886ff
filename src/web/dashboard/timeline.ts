import type { Exchange } from '../../exchanges/exchange-view.js'
import type { SpaceEvent } from '../../exchanges/space-event.js'

/** Something that happened between exchanges, and after which of them. */
export interface TimelineEvent extends SpaceEvent {
  readonly afterId: number
  /** Tells it from others. */
  readonly number: number
}

/** A row of the list. */
export type TimelineRow =
  | { readonly kind: 'exchange'; readonly exchange: Exchange }
  | { readonly kind: 'event'; readonly event: TimelineEvent }
  /** The clock shows less than for the exchange before, and nobody has said why. */
  | { readonly kind: 'back'; readonly afterId: number }

/** A clock that went back by less may be exchanges that overtook each other. */
const BACK_MS = 1000

/**
 * Exchanges with what happened between them.
 *
 * @param exchanges newest first
 * @param events    newest first
 */
export function timelineOf(exchanges: readonly Exchange[], events: readonly TimelineEvent[]): readonly TimelineRow[] {
  if (events.length === 0 && !exchanges.some((exchange, index) => goesBack(exchanges[index + 1], exchange)))
    return exchanges.map((exchange) => ({ kind: 'exchange', exchange }))
  const rows: TimelineRow[] = []
  let next = 0
  exchanges.forEach((exchange, index) => {
    const before = next
    for (let event = events[next]; event !== undefined && event.afterId >= exchange.id; event = events[++next])
      rows.push({ kind: 'event', event })
    const newer = exchanges[index - 1]
    const isTold = events.slice(before, next).some(({ verb }) => verb.startsWith('clock.') || RETURNS.has(verb))
    if (newer !== undefined && !isTold && goesBack(exchange, newer)) rows.push({ kind: 'back', afterId: exchange.id })
    rows.push({ kind: 'exchange', exchange })
  })
  for (const event of events.slice(next)) rows.push({ kind: 'event', event })
  return rows
}

/** Verbs that may set the clock back besides its own. */
const RETURNS: ReadonlySet<string> = new Set([
  'reset',
  'undo',
  'snapshots.restore',
  'scenario.apply',
  'deviations.clear',
])

function goesBack(older: Exchange | undefined, newer: Exchange): boolean {
  return older !== undefined && Date.parse(older.at) - Date.parse(newer.at) > BACK_MS
}
