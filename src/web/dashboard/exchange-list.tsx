import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { dayText, timeText, type Zone } from './clock-text.js'
import { filterExchanges } from './exchange-filter.js'
import { ExchangeRow } from './exchange-row.js'
import { FirstRun } from './first-run.js'
import { useDashboard, useSession } from './session-context.js'
import { type TimelineRow, timelineOf } from './timeline.js'
import { useSpaceTime } from './use-space-time.js'
import { scrollToRow, visibleRows } from './visible-rows.js'

/** Below this width an exchange takes two lines. */
const WIDE_FROM = 620
const ROW_HEIGHT = { wide: 30, narrow: 50 }

/** The exchanges, newest first. Only rows in sight are rendered. */
export function ExchangeList() {
  const session = useSession()
  useDashboard(({ revision }) => revision)
  const filter = useDashboard(({ filter }) => filter)
  const selected = useDashboard(({ selected }) => selected)
  const all = session.exchanges.newestFirst()
  const shown = filterExchanges(all, filter)
  const zone = useDashboard(({ zone }) => zone)
  const isInFront = useDashboard(({ state }) => state?.upstream != null)
  const today = dayText(useSpaceTime() ?? 0, zone)
  // What happened in between stands where everything stands.
  const rows: readonly TimelineRow[] = timelineOf(shown, shown === all ? session.events : [])

  const scroller = useRef<HTMLDivElement>(null)
  const { width, height } = useBox(scroller)
  const [scrollTop, setScrollTop] = useState(0)
  const [focused, setFocused] = useState<number>()
  const isWide = width >= WIDE_FROM
  const rowHeight = isWide ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow
  const { first, end } = visibleRows(rows.length, rowHeight, scrollTop, height)

  useStandStill(scroller, rows, rowHeight)
  // The focused row may be gone by now, so whether to move the focus was decided earlier.
  const isWalking = useRef(false)
  useLayoutEffect(() => {
    if (!isWalking.current) return
    isWalking.current = false
    scroller.current?.querySelector<HTMLElement>(`[data-exchange="${focused}"]`)?.focus({ preventScroll: true })
  })

  const open = useCallback((exchange: Exchange) => session.select(exchange), [session])
  const narrow = useCallback((word: string) => session.toggleWord(word), [session])
  const wanted = focused ?? selected?.id
  const reachable = rows.findIndex((row) => idOf(row) === wanted && wanted !== undefined)
  const firstExchange = rows.findIndex((row, index) => index >= first && row.kind === 'exchange')
  const inSight = reachable >= first && reachable < end ? reachable : firstExchange

  function walk(event: KeyboardEvent) {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      Home: -rows.length,
      End: rows.length,
    }
    const step = steps[event.key]
    const box = scroller.current
    if (step === undefined || box === null) return
    event.preventDefault()
    const index = nextExchange(rows, inSight, step)
    if (index === undefined) return
    const top = scrollToRow(index, rowHeight, box.scrollTop, box.clientHeight)
    if (top !== undefined) {
      box.scrollTop = top
      setScrollTop(box.scrollTop)
    }
    isWalking.current = true
    setFocused(idOf(rows[index]))
  }

  return (
    <div class={isWide ? 'exchanges wide' : 'exchanges'}>
      <p class="count muted">
        {shown.length === all.length ? '' : `${shown.length} of `}
        {all.length === 1 ? '1 exchange' : `${all.length} exchanges`}
      </p>
      <section
        class="scroller"
        aria-label="Exchanges, newest first"
        ref={scroller}
        onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
        onKeyDown={walk}
        onFocusCapture={({ target }) => {
          if (target instanceof HTMLElement && target.dataset.exchange !== undefined)
            setFocused(Number(target.dataset.exchange))
        }}
      >
        {all.length > 0 && shown.length === 0 ? <p class="empty">No exchange matches the filter.</p> : null}
        {all.length === 0 ? <FirstRun /> : null}
        <ol style={{ paddingTop: `${first * rowHeight}px`, paddingBottom: `${(rows.length - end) * rowHeight}px` }}>
          {rows
            .slice(first, end)
            .map((row, index) =>
              row.kind === 'exchange' ? (
                <ExchangeRow
                  key={row.exchange.id}
                  exchange={row.exchange}
                  isSelected={row.exchange.id === selected?.id}
                  isReachable={first + index === inSight}
                  isInFront={isInFront}
                  zone={zone}
                  today={today}
                  open={open}
                  narrow={narrow}
                />
              ) : (
                <EventRow
                  key={row.kind === 'event' ? `e${row.event.number}` : `b${row.afterId}`}
                  row={row}
                  zone={zone}
                />
              ),
            )}
        </ol>
      </section>
    </div>
  )
}

/** How large an element is, as it changes. */
function useBox(element: { readonly current: HTMLElement | null }): {
  readonly width: number
  readonly height: number
} {
  const [box, setBox] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = () => setBox({ width: current.clientWidth, height: current.clientHeight })
    const sizes = new ResizeObserver(measure)
    sizes.observe(current)
    measure()
    return () => sizes.disconnect()
  }, [element])
  return box
}

/** Keeps the scroll position, or the row with keyboard focus, while new exchanges come in above. */
function useStandStill(
  scroller: { readonly current: HTMLDivElement | null },
  rows: readonly TimelineRow[],
  rowHeight: number,
): void {
  const newest = useRef<string>(undefined)
  useLayoutEffect(() => {
    const box = scroller.current
    const added = newest.current === undefined ? 0 : rows.findIndex((row) => keyOf(row) === newest.current)
    newest.current = rows[0] && keyOf(rows[0])
    if (box === null || added <= 0) return
    if (box.scrollTop > 0 || box.contains(document.activeElement)) box.scrollTop += added * rowHeight
  })
}

/** Something that happened between two exchanges. */
function EventRow({ row, zone }: { readonly row: Exclude<TimelineRow, { kind: 'exchange' }>; readonly zone: Zone }) {
  if (row.kind === 'back')
    return (
      <li class="exchange event">
        <span class="what">the clock went back</span>
      </li>
    )
  const { at, text } = row.event
  return (
    <li class="exchange event">
      <span class="at">{timeText(Date.parse(at), true, zone)}</span>
      <span class="what">{text}</span>
    </li>
  )
}

function idOf(row: TimelineRow | undefined): number | undefined {
  return row?.kind === 'exchange' ? row.exchange.id : undefined
}

function keyOf(row: TimelineRow): string {
  if (row.kind === 'exchange') return `x${row.exchange.id}`
  return row.kind === 'event' ? `e${row.event.number}` : `b${row.afterId}`
}

/** Where a step leads that stops at exchanges only. */
function nextExchange(rows: readonly TimelineRow[], from: number, step: number): number | undefined {
  const way = Math.sign(step)
  let index = Math.max(0, Math.min(rows.length - 1, from + step))
  while (rows[index] !== undefined && rows[index]?.kind !== 'exchange') index += Math.abs(step) === 1 ? way : -way
  return rows[index] === undefined ? undefined : index
}
