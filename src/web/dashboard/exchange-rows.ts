import type { Exchange } from '../../exchanges/exchange-record.js'
import type { LoggedEvent } from '../../exchanges/space-event.js'

export const EXCHANGES_KEPT = 1000

/** When the page received an open exchange. */
const RECEIVED_AT = new WeakMap<Exchange, number>()

/** Milliseconds. @param now by the page's monotonic clock */
export function durationAt(exchange: Exchange, now: number): number {
  return exchange.durationMs + Math.max(0, now - (RECEIVED_AT.get(exchange) ?? now))
}

export class ExchangeRing {
  #limit: number
  readonly #byId = new Map<number, Exchange>()
  highestId = 0

  constructor(limit = EXCHANGES_KEPT) {
    this.#limit = limit
  }

  /** Whether its id is of another exchange here: the log was cleared, or is another one. */
  contradicts({ id, receivedAt }: Exchange): boolean {
    return (this.#byId.get(id)?.receivedAt ?? receivedAt) !== receivedAt
  }

  /** @returns whether it was not known so */
  add(exchange: Exchange): boolean {
    const known = this.#byId.get(exchange.id)
    if (known !== undefined && (exchange.ended === null || known.durationMs === exchange.durationMs)) return false
    if (exchange.ended === null) RECEIVED_AT.set(exchange, performance.now())
    this.#byId.set(exchange.id, exchange)
    this.highestId = Math.max(this.highestId, exchange.id)
    const [oldest] = this.#byId.keys()
    if (this.#byId.size > this.#limit && oldest !== undefined) this.#byId.delete(oldest)
    return true
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

  get(id: number): Exchange | undefined {
    return this.#byId.get(id)
  }

  newestFirst(): readonly Exchange[] {
    return [...this.#byId.values()].reverse()
  }
}

/** `exchange`: the newest of some equal ones of a client. `back`: of the clock, without an event that explains it. */
export type TimelineRow = { readonly key: string } & (
  | { readonly kind: 'exchange'; readonly exchange: Exchange; readonly ids: readonly number[] }
  | { readonly kind: 'day'; readonly day: string }
  | { readonly kind: 'event'; readonly event: LoggedEvent }
  | { readonly kind: 'back' }
)

/** Smaller steps may be exchanges that overtook each other. */
const BACK_MS = 1000
const SETS_CLOCK = /^(?:clock\..*|reset|undo|snapshots\.restore|scenario\.apply|overrides\.clear)$/

export function setsClock(verb: string): boolean {
  return SETS_CLOCK.test(verb)
}

interface TimelineForm {
  /** Needs no row. */
  readonly today?: string
  /** The day of an instant, in the zone of the page. Days get a row where they change. */
  dayOf?(at: string): string
  /** Those of a client share a row while it stays the same. Default: none. */
  factsOf?(exchange: Exchange): { readonly client: string; readonly facts: string }
}

/** @param exchanges newest first */
export function timelineOf(
  exchanges: readonly Exchange[],
  events: readonly LoggedEvent[],
  { today, dayOf, factsOf }: TimelineForm = {},
): readonly TimelineRow[] {
  const rows: TimelineRow[] = []
  let next = 0
  let newer: Exchange | undefined
  let shownDay = today
  // The last row of each client since something else happened.
  const open = new Map<string, { readonly facts: string; readonly index: number }>()
  function push(row: TimelineRow): void {
    rows.push(row)
    open.clear()
  }
  function showDay(at: string, beforeId: number): void {
    const day = dayOf?.(at)
    if (day !== undefined && day !== shownDay) push({ kind: 'day', day, key: `day ${beforeId}` })
    shownDay = day
  }
  function showEvent(event: LoggedEvent): void {
    showDay(event.at, event.afterId + 0.5)
    push({ kind: 'event', event, key: `${event.afterId} ${event.at} ${event.text}` })
  }
  for (const exchange of exchanges) {
    let hasMoved = false
    for (let event = events[next]; event !== undefined && event.afterId >= exchange.id; event = events[++next]) {
      showEvent(event)
      hasMoved ||= setsClock(event.verb)
    }
    if (newer !== undefined && !hasMoved && Date.parse(exchange.at) - Date.parse(newer.at) > BACK_MS)
      push({ kind: 'back', key: `back ${exchange.id}` })
    newer = exchange
    showDay(exchange.at, exchange.id)
    const { client = '', facts = '' } = factsOf?.(exchange) ?? {}
    const same = open.get(client)
    const row = same?.facts === facts ? rows[same.index] : undefined
    if (row?.kind === 'exchange' && same !== undefined && factsOf !== undefined)
      rows[same.index] = { ...row, ids: [...row.ids, exchange.id] }
    else {
      open.set(client, { facts, index: rows.length })
      rows.push({ kind: 'exchange', exchange, ids: [exchange.id], key: String(exchange.id) })
    }
  }
  for (const event of events.slice(next)) showEvent(event)
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
