import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { filterExchanges } from './exchange-filter.js'
import { ExchangeRow } from './exchange-row.js'
import { useDashboard, useSession } from './session-context.js'
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

  const scroller = useRef<HTMLDivElement>(null)
  const { width, height } = useBox(scroller)
  const [scrollTop, setScrollTop] = useState(0)
  const [focused, setFocused] = useState<number>()
  const isWide = width >= WIDE_FROM
  const rowHeight = isWide ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow
  const { first, end } = visibleRows(shown.length, rowHeight, scrollTop, height)

  useStandStill(scroller, shown, rowHeight)
  // The focused row may be gone by now, so whether to move the focus was decided earlier.
  const isWalking = useRef(false)
  useLayoutEffect(() => {
    if (!isWalking.current) return
    isWalking.current = false
    scroller.current?.querySelector<HTMLElement>(`[data-exchange="${focused}"]`)?.focus({ preventScroll: true })
  })

  const open = useCallback((exchange: Exchange) => session.select(exchange), [session])
  const reachable = shown.findIndex(({ id }) => id === (focused ?? selected?.id))
  const inSight = reachable >= first && reachable < end ? reachable : first

  function walk(event: KeyboardEvent) {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      Home: -shown.length,
      End: shown.length,
    }
    const step = steps[event.key]
    const box = scroller.current
    if (step === undefined || box === null) return
    event.preventDefault()
    const index = Math.max(0, Math.min(shown.length - 1, inSight + step))
    const top = scrollToRow(index, rowHeight, box.scrollTop, box.clientHeight)
    if (top !== undefined) {
      box.scrollTop = top
      setScrollTop(box.scrollTop)
    }
    isWalking.current = true
    setFocused(shown[index]?.id)
  }

  return (
    <div class={isWide ? 'exchanges wide' : 'exchanges'}>
      <p class="count muted">
        {shown.length === all.length ? `${all.length} exchanges` : `${shown.length} of ${all.length} exchanges`}
      </p>
      <section
        class="scroller"
        aria-label="Exchanges, newest first"
        ref={scroller}
        onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
        onKeyDown={walk}
        onFocusCapture={({ target }) => {
          if (target instanceof HTMLElement) setFocused(Number(target.dataset.exchange))
        }}
      >
        {shown.length === 0 ? (
          <Empty isFiltered={all.length > 0} />
        ) : (
          <ol style={{ paddingTop: `${first * rowHeight}px`, paddingBottom: `${(shown.length - end) * rowHeight}px` }}>
            {shown.slice(first, end).map((exchange, index) => (
              <ExchangeRow
                key={exchange.id}
                exchange={exchange}
                isSelected={exchange === selected}
                isReachable={first + index === inSight}
                open={open}
              />
            ))}
          </ol>
        )}
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
  shown: readonly Exchange[],
  rowHeight: number,
): void {
  const newest = useRef<number>(undefined)
  useLayoutEffect(() => {
    const box = scroller.current
    const added = newest.current === undefined ? 0 : shown.findIndex(({ id }) => id === newest.current)
    newest.current = shown[0]?.id
    if (box === null || added <= 0) return
    if (box.scrollTop > 0 || box.contains(document.activeElement)) box.scrollTop += added * rowHeight
  })
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }) {
  const basePath = useDashboard(({ state }) => state?.basePath ?? '')
  const space = useDashboard(({ space }) => space)
  if (isFiltered) return <p class="empty">No exchange matches the filter.</p>
  const key = space === '' ? 'sandbox' : `sandbox~${space}`
  return (
    <div class="empty">
      <p>No requests yet. Send one:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <pre tabIndex={0}>{`curl -H 'Authorization: Bearer ${key}' ${location.origin}${basePath}/pets`}</pre>
    </div>
  )
}
