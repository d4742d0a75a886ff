import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { formatSpan } from '../../domain/time.js'
import { addressOf, wordOf } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { timeText } from '../format.js'
import { durationAt, filterBy, select } from '../session.js'
import { events, exchanges, pageTime, selected, shownExchanges, sorting, state, tab, today } from '../state.js'
import { type SortColumn, scrollToRow, type TimelineRow, timelineOf, visibleRows } from './exchange-rows.js'
import { explainExchange } from './explain-exchange.js'
import { FirstRun } from './first-run.js'
import { dayText, inZone, outcomeOf } from './texts.js'

/** In pixels: from this width on, an exchange takes one line. */
const MIN_WIDE = 620
const ROW_HEIGHT = { wide: 26, narrow: 48 }

export function ExchangeList() {
  const all = exchanges.value
  const shown = shownExchanges.value
  const { by, isReversed } = sorting.value
  const isTimeline = shown.length === all.length && by === 'time' && !isReversed
  const rows = timelineOf(shown, isTimeline ? events.value : [], by === 'time' && !isReversed)

  const scroller = useRef<HTMLDivElement>(null)
  const box = useSignal({ width: 0, height: 0 })
  const scrollTop = useSignal(0)
  const focused = useSignal<number | undefined>(undefined)
  const { width, height } = box.value
  const isWide = width >= MIN_WIDE
  const rowHeight = isWide ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow
  const { first, end } = visibleRows(rows.length, rowHeight, scrollTop.value, height)
  const visible = rows.slice(first, end)

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

  function show(index: number): void {
    const element = scroller.current
    const top = element && scrollToRow(index, rowHeight, element.scrollTop, element.clientHeight)
    if (element === null || top == null) return
    element.scrollTop = top
    scrollTop.value = element.scrollTop
  }

  const indexOf = (id: number | undefined) => rows.findIndex((row) => row.kind === 'exchange' && row.exchange.id === id)
  useEffect(() => {
    if (selected.value !== undefined) show(indexOf(selected.value.id))
  }, [selected.value?.id])

  // Focuses the row selected by an arrow key, once rendered.
  const isWalking = useRef(false)
  useLayoutEffect(() => {
    if (!isWalking.current) return
    isWalking.current = false
    scroller.current?.querySelector<HTMLElement>(`[data-exchange="${focused.value}"]`)?.focus({ preventScroll: true })
  })

  const currentIndex = indexOf(focused.value ?? selected.value?.id)
  const reachable =
    currentIndex >= first && currentIndex < end
      ? currentIndex
      : rows.findIndex((row, index) => index >= first && row.kind === 'exchange')

  function walk(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const index = nextExchange(rows, reachable, step)
    const row = rows[index]
    if (row?.kind !== 'exchange') return
    show(index)
    isWalking.current = true
    focused.value = row.exchange.id
    if (tab.value === 'exchange') select(row.exchange)
  }

  // In steps, so that most rows need no new bar when a slow exchange comes.
  const longest = Math.max(10, ...visible.map((row) => (row.kind === 'exchange' ? row.exchange.durationMs : 0)))
  const scaleMs = 10 ** Math.ceil(Math.log10(longest))
  return (
    <div class={isWide ? 'exchanges wide' : 'exchanges'}>
      {isWide ? <ListHead /> : null}
      <section
        class="scroller"
        id="log"
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
          {visible.map((row, index) =>
            row.kind === 'exchange' ? (
              <ExchangeRow
                key={row.exchange.id}
                exchange={row.exchange}
                isSelected={row.exchange.id === selected.value?.id}
                isReachable={first + index === reachable}
                scaleMs={scaleMs}
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

const COLUMNS: readonly (readonly [title: string, by: SortColumn | undefined])[] = [
  ['Time', 'time'],
  ['Status', 'status'],
  ['Request', 'request'],
  ['Why', undefined],
  ['Key', 'key'],
  ['Timing', 'timing'],
]

function ListHead() {
  const { by, isReversed } = sorting.value
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a grid everywhere
    <div class="head" role="group" aria-label="Sort by">
      {COLUMNS.map(([title, column]) =>
        column === undefined ? (
          <span key={title}>{title}</span>
        ) : (
          <button
            type="button"
            class="plain"
            key={title}
            aria-pressed={column === by}
            onClick={() => {
              sorting.value = { by: column, isReversed: column === by && !isReversed }
            }}
          >
            {title} {column === by ? (isReversed ? '↑' : '↓') : ''}
          </button>
        ),
      )}
    </div>
  )
}

function EventRow({ row }: { readonly row: Exclude<TimelineRow, { kind: 'exchange' }> }) {
  return (
    <li class="exchange event row">
      {row.kind === 'back' ? null : <span class="at mono">{timeText(Date.parse(row.event.at), true)}</span>}
      <span class="what">
        {row.kind === 'back' ? 'the clock moved back' : inZone(row.event.text, Date.parse(row.event.at))}
      </span>
    </li>
  )
}

function keyOf(row: TimelineRow): string {
  if (row.kind === 'exchange') return `x${row.exchange.id}`
  return row.kind === 'event' ? `e${row.event.afterId} ${row.event.at} ${row.event.text}` : `b${row.afterId}`
}

/** Skips rows of other kinds. May return an index outside of the list. */
function nextExchange(rows: readonly TimelineRow[], from: number, step: number): number {
  const direction = Math.abs(step) === 1 ? step : -Math.sign(step)
  let index = Math.max(0, Math.min(rows.length - 1, from + step))
  while (rows[index] !== undefined && rows[index]?.kind !== 'exchange') index += direction
  return index
}

/** Reads signals, so that it renders again only if one of them or a property has changed. */
function ExchangeRow({
  exchange,
  isSelected,
  isReachable,
  scaleMs,
}: {
  readonly exchange: Exchange
  readonly isSelected: boolean
  /** Reachable by Tab; others by arrow keys. */
  readonly isReachable: boolean
  readonly scaleMs: number
}) {
  const { id, method, reason, fault, key, status, ended } = exchange
  const facts = useComputed(() => {
    const always = state.value?.keys.find((known) => known.key === key)?.always
    return `${always ?? ''} ${state.value?.settings.latency ?? ''}`
  }).value.split(' ')
  const at = Date.parse(exchange.at)
  const day = dayText(at)
  const word = fault !== null ? `fault:${fault}` : reason !== null ? `reason:${reason}` : undefined
  const { cause } = explainExchange(exchange, {
    always: (facts[0] || null) as 'limited' | null,
    latency: facts[1] || null,
  })
  return (
    <li class="exchange">
      <button
        type="button"
        data-exchange={id}
        tabIndex={isReachable ? 0 : -1}
        aria-current={isSelected || undefined}
        onClick={({ target }) => {
          const filterWord = target instanceof HTMLElement && target.closest<HTMLElement>('[data-word]')?.dataset.word
          if (filterWord) filterBy(filterWord)
          else select(exchange)
        }}
      >
        <span class="at mono muted">{day === today.value ? timeText(at, true) : `${day} ${timeText(at)}`}</span>
        <Status exchange={exchange} {...filterCell(ended === null ? 'ended:running' : `status:${status ?? 'none'}`)} />
        <span class="path mono">
          <span class="method" {...filterCell(wordOf('method', method))}>
            {method}
          </span>{' '}
          {addressOf(exchange)}
        </span>
        <span class="reason muted" {...(word === undefined ? {} : filterCell(word))}>
          {cause}
        </span>
        <span class="key muted" {...filterCell(wordOf('key', key))}>
          {key}
        </span>
        <span class={`duration row ${ended === 'left' ? 'error' : 'muted'}`}>
          <TimingBar exchange={exchange} scaleMs={scaleMs} />
          <Duration exchange={exchange} />
        </span>
      </button>
    </li>
  )
}

export function TimingBar({ exchange, scaleMs }: { readonly exchange: Exchange; readonly scaleMs: number }) {
  const { handlingMs, waitingMs, bodyMs } = exchange.timing
  const total = handlingMs + waitingMs + bodyMs
  const [done, begun] = total === 0 ? [0, 100] : [(100 * handlingMs) / total, (100 * (handlingMs + waitingMs)) / total]
  const background = `linear-gradient(90deg, var(--handling) ${done}%, var(--waiting) ${done}% ${begun}%, var(--sending) ${begun}%)`
  return (
    <span class="meter" aria-hidden="true">
      <i style={{ width: `${Math.max(2, (100 * exchange.durationMs) / scaleMs)}%`, background }} />
    </span>
  )
}

/** A click filters the list. For the keyboard, the details of an exchange offer the same. */
function filterCell(word: string): { readonly 'data-word': string; readonly title: string } {
  return { 'data-word': word, title: `Filter by ${word}` }
}

export function Status({ exchange, ...rest }: { readonly exchange: Exchange; readonly title?: string }) {
  const { status, ended } = exchange
  const outcome = outcomeOf(exchange)
  return (
    <span class={`status mono outcome ${ended === null ? '' : outcome}`} {...rest}>
      {ended === null ? '···' : (status ?? (ended === 'left' ? 'left' : 'cut'))}
      {outcome === 'cut' && status !== null ? ' ✂' : ''}
    </span>
  )
}

export function Duration({ exchange }: { readonly exchange: Exchange }) {
  if (exchange.ended !== null) return <>{formatSpan(exchange.durationMs)}</>
  return <>{formatSpan(durationAt(exchange, pageTime.value))} …</>
}
