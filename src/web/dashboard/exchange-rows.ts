import type { Exchange } from '../../exchanges/exchange-record.js'
import type { LoggedEvent } from '../../exchanges/space-event.js'

export const EXCHANGES_KEPT = 1000

export class ExchangeRing {
  #limit: number
  readonly #byId = new Map<number, Exchange>()
  highestId = 0

  constructor(limit = EXCHANGES_KEPT) {
    this.#limit = limit
  }

  /** @returns `ended` for a known exchange that has ended, `restarted` if ids restarted after the log was cleared */
  add(exchange: Exchange): 'new' | 'ended' | 'known' | 'restarted' {
    const known = this.#byId.get(exchange.id)
    const isSame = known?.at === exchange.at && known.path === exchange.path && known.key === exchange.key
    const hasEnded = isSame && known.ended === null && exchange.ended !== null
    if (isSame && !hasEnded && (exchange.ended === null || known.durationMs === exchange.durationMs)) return 'known'
    const isRestart = known !== undefined && !hasEnded
    if (isRestart) this.clear()
    this.#byId.set(exchange.id, exchange)
    this.highestId = Math.max(this.highestId, exchange.id)
    const [oldest] = this.#byId.keys()
    if (this.#byId.size > this.#limit && oldest !== undefined) this.#byId.delete(oldest)
    if (hasEnded) return 'ended'
    return isRestart ? 'restarted' : 'new'
  }

  /** Also makes room for them. @param older oldest first */
  addOlder(older: readonly Exchange[]): void {
    const known = [...this.#byId.values()]
    this.#byId.clear()
    this.#limit += older.length
    for (const exchange of [...older, ...known]) this.#byId.set(exchange.id, exchange)
  }

  clear(): void {
    this.#byId.clear()
    this.highestId = 0
  }

  get isFull(): boolean {
    return this.#byId.size >= this.#limit
  }

  get(id: number): Exchange | undefined {
    return this.#byId.get(id)
  }

  newestFirst(): readonly Exchange[] {
    return [...this.#byId.values()].reverse()
  }
}

export type TimelineRow =
  /** The newest of `count` equal exchanges, the oldest of which is `oldestId`. */
  | { readonly kind: 'exchange'; readonly exchange: Exchange; readonly count: number; readonly oldestId: number }
  | { readonly kind: 'day'; readonly day: string; readonly beforeId: number }
  | { readonly kind: 'event'; readonly event: LoggedEvent }
  /** The clock went back without an event that explains it. */
  | { readonly kind: 'back'; readonly afterId: number }

/** Smaller steps may be exchanges that overtook each other. */
const BACK_MS = 1000
const SETS_CLOCK = /^(?:clock\..*|reset|undo|snapshots\.restore|scenario\.apply|overrides\.clear)$/

interface TimelineForm {
  /** Needs no row. */
  readonly today?: string
  /** The day of an instant, in the zone of the page. Days get a row where they change. */
  dayOf?(at: string): string
  /** Exchanges that can share a row. Default: none. */
  isEqual?(one: Exchange, other: Exchange): boolean
}

/** @param exchanges newest first */
export function timelineOf(
  exchanges: readonly Exchange[],
  events: readonly LoggedEvent[],
  { today, dayOf, isEqual }: TimelineForm = {},
): readonly TimelineRow[] {
  const rows: TimelineRow[] = []
  let next = 0
  let newer: Exchange | undefined
  let shownDay = today
  for (const exchange of exchanges) {
    let setsClock = false
    const last = rows.at(-1)
    const hasEvent = (events[next]?.afterId ?? -1) >= exchange.id
    if (newer !== undefined && last?.kind === 'exchange' && !hasEvent && isEqual?.(newer, exchange)) {
      rows[rows.length - 1] = { ...last, count: last.count + 1, oldestId: exchange.id }
      newer = exchange
      continue
    }
    for (let event = events[next]; event !== undefined && event.afterId >= exchange.id; event = events[++next]) {
      rows.push({ kind: 'event', event })
      setsClock ||= SETS_CLOCK.test(event.verb)
    }
    if (newer !== undefined && !setsClock && Date.parse(exchange.at) - Date.parse(newer.at) > BACK_MS)
      rows.push({ kind: 'back', afterId: exchange.id })
    const day = dayOf?.(exchange.at)
    if (day !== undefined && day !== shownDay) rows.push({ kind: 'day', day, beforeId: exchange.id })
    shownDay = day
    rows.push({ kind: 'exchange', exchange, count: 1, oldestId: exchange.id })
    newer = exchange
  }
  for (const event of events.slice(next)) rows.push({ kind: 'event', event })
  return rows
}

/** Rows rendered above and below the visible ones. */
const BEYOND = 6

/** Rows to render: from `first` up to, but not including, `end`. */
export function visibleRows(
  count: number,
  rowHeight: number,
  scrollTop: number,
  height: number,
): { readonly first: number; readonly end: number } {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight) - BEYOND))
  return { first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + BEYOND) }
}

/** Undefined if the row is visible. */
export function scrollToRow(index: number, rowHeight: number, scrollTop: number, height: number): number | undefined {
  const top = index * rowHeight
  if (top < scrollTop) return top
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : undefined
}
