import { useSignal } from '@preact/signals'
import { memo } from 'preact/compat'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { counted } from '../../domain/numbers.js'
import { formatSpan } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { dayText, outcomeOf, timeText } from '../format.js'
import { addressOf } from '../request-code.js'
import { durationAt, filterBy, select } from '../session.js'
import { events, exchanges, hasUpstream, pageTime, selected, shownExchanges, today, zone } from '../state.js'
import { wordOf } from './exchange-filter.js'
import { scrollToRow, type TimelineRow, timelineOf, visibleRows } from './exchange-rows.js'
import { FirstRun } from './first-run.js'

/** In pixels: from this width on, an exchange takes one line. */
const MIN_WIDE = 620
const ROW_HEIGHT = { wide: 30, narrow: 50 }

export function ExchangeList() {
  const all = exchanges.value
  const shown = shownExchanges.value
  const rows = timelineOf(shown, shown === all ? events.value : [])

  const scroller = useRef<HTMLDivElement>(null)
  const box = useSignal({ width: 0, height: 0 })
  const scrollTop = useSignal(0)
  const focused = useSignal<number | undefined>(undefined)
  const { width, height } = box.value
  const isWide = width >= MIN_WIDE
  const rowHeight = isWide ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow
  const { first, end } = visibleRows(rows.length, rowHeight, scrollTop.value, height)

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const measure = () => {
      box.value = { width: element.clientWidth, height: element.clientHeight }
    }
    const sizes = new ResizeObserver(measure)
    sizes.observe(element)
    measure()
    return () => sizes.disconnect()
  }, [])

  // Keeps scroll position and focused row while exchanges are added above.
  const newest = useRef<string>(undefined)
  useLayoutEffect(() => {
    const element = scroller.current
    const added = newest.current === undefined ? 0 : rows.findIndex((row) => keyOf(row) === newest.current)
    newest.current = rows[0] && keyOf(rows[0])
    if (element === null || added <= 0) return
    if (element.scrollTop > 0 || element.contains(document.activeElement)) element.scrollTop += added * rowHeight
  })

  // Focuses the row selected by an arrow key, once rendered.
  const isWalking = useRef(false)
  useLayoutEffect(() => {
    if (!isWalking.current) return
    isWalking.current = false
    scroller.current?.querySelector<HTMLElement>(`[data-exchange="${focused.value}"]`)?.focus({ preventScroll: true })
  })

  const current = focused.value ?? selected.value?.id
  const currentIndex = rows.findIndex((row) => row.kind === 'exchange' && row.exchange.id === current)
  const reachable =
    currentIndex >= first && currentIndex < end
      ? currentIndex
      : rows.findIndex((row, index) => index >= first && row.kind === 'exchange')

  function walk(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length }[event.key]
    const element = scroller.current
    if (step === undefined || element === null) return
    event.preventDefault()
    const index = nextExchange(rows, reachable, step)
    const row = rows[index]
    if (row?.kind !== 'exchange') return
    const top = scrollToRow(index, rowHeight, element.scrollTop, element.clientHeight)
    if (top !== undefined) {
      element.scrollTop = top
      scrollTop.value = element.scrollTop
    }
    isWalking.current = true
    focused.value = row.exchange.id
  }

  return (
    <div class={isWide ? 'exchanges wide' : 'exchanges'}>
      <p class="count muted">
        {shown.length === all.length ? '' : `${shown.length} of `}
        {counted(all.length, 'exchange')}
      </p>
      <section
        class="scroller"
        aria-label="Exchanges, newest first"
        ref={scroller}
        onScroll={({ currentTarget }) => {
          scrollTop.value = currentTarget.scrollTop
        }}
        onKeyDown={walk}
        onFocusCapture={({ target }) => {
          const id = target instanceof HTMLElement ? target.dataset.exchange : undefined
          if (id !== undefined) focused.value = Number(id)
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
                  isSelected={row.exchange.id === selected.value?.id}
                  isReachable={first + index === reachable}
                />
              ) : (
                <EventRow key={keyOf(row)} row={row} />
              ),
            )}
        </ol>
      </section>
    </div>
  )
}

function EventRow({ row }: { readonly row: Exclude<TimelineRow, { kind: 'exchange' }> }) {
  return (
    <li class="exchange event">
      {row.kind === 'back' ? null : <span class="at">{timeText(Date.parse(row.event.at), true, zone.value)}</span>}
      <span class="what">{row.kind === 'back' ? 'the clock moved back' : row.event.text}</span>
    </li>
  )
}

function keyOf(row: TimelineRow): string {
  if (row.kind === 'exchange') return `x${row.exchange.id}`
  return row.kind === 'event' ? `e${row.event.number}` : `b${row.afterId}`
}

/** Skips rows of other kinds. May return an index outside of the list. */
function nextExchange(rows: readonly TimelineRow[], from: number, step: number): number {
  const direction = Math.abs(step) === 1 ? step : -Math.sign(step)
  let index = Math.max(0, Math.min(rows.length - 1, from + step))
  while (rows[index] !== undefined && rows[index]?.kind !== 'exchange') index += direction
  return index
}

const ExchangeRow = memo(function ExchangeRow({
  exchange,
  isSelected,
  isReachable,
}: {
  readonly exchange: Exchange
  readonly isSelected: boolean
  /** Reachable by Tab; others by arrow keys. */
  readonly isReachable: boolean
}) {
  const { id, method, reason, fault, key, status, ended, drift } = exchange
  const at = Date.parse(exchange.at)
  const day = dayText(at, zone.value)
  const cause = fault !== null ? `fault:${fault}` : reason !== null ? `reason:${reason}` : undefined
  const isLocal = ended !== null && hasUpstream.value
  return (
    <li class="exchange">
      <button
        type="button"
        data-exchange={id}
        tabIndex={isReachable ? 0 : -1}
        aria-current={isSelected}
        onClick={({ target }) => {
          const word = target instanceof HTMLElement && target.closest<HTMLElement>('[data-word]')?.dataset.word
          if (word) filterBy(word)
          else select(exchange)
        }}
      >
        <span class="at">
          {day === today.value ? timeText(at, true, zone.value) : `${day} ${timeText(at, false, zone.value)}`}
        </span>
        <span class="method" {...filterCell(wordOf('method', method))}>
          {method}
        </span>
        <span class="path">{addressOf(exchange)}</span>
        <Status exchange={exchange} {...filterCell(ended === null ? 'ended:running' : `status:${status ?? 'none'}`)} />
        <span class="reason" {...(cause === undefined ? {} : filterCell(cause))}>
          {drift === undefined ? null : <span class="tag violation">drift</span>}{' '}
          {fault ?? reason ?? (isLocal ? 'local' : '')}
        </span>
        <span class="key" {...filterCell(wordOf('key', key))}>
          {key}
        </span>
        <span class={ended === 'left' ? 'duration left' : 'duration'}>
          <Duration exchange={exchange} />
        </span>
      </button>
    </li>
  )
})

/** A click filters the list. For the keyboard, the details of an exchange offer the same. */
function filterCell(word: string): { readonly 'data-word': string; readonly title: string } {
  return { 'data-word': word, title: `Filter by ${word}` }
}

export function Status({ exchange, ...rest }: { readonly exchange: Exchange; readonly title?: string }) {
  const { status, ended } = exchange
  return (
    <span class={`status ${ended === null ? 'running' : outcomeOf(exchange)}`} {...rest}>
      {ended === null ? '···' : (status ?? (ended === 'left' ? 'left' : 'cut'))}
    </span>
  )
}

export function Duration({ exchange }: { readonly exchange: Exchange }) {
  if (exchange.ended !== null) return <>{formatSpan(exchange.durationMs)}</>
  return <>{formatSpan(durationAt(exchange, pageTime.value))} …</>
}
