import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { ConductRule } from '../../conduct/conduct-view.js'
import { RULE_VERDICTS, secondsText } from '../../conduct/verdict-words.js'
import { addressOf } from '../../domain/space-address.js'
import { formatSpan } from '../../domain/time.js'
import { clientName, clientOf } from '../../exchanges/client-name.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import type { LoggedEvent } from '../../exchanges/space-event.js'
import { timeText } from '../format.js'
import { durationAt, scrollToRow, type TimelineRow, timelineOf, visibleRows } from './exchange-rows.js'
import { explainExchange } from './explain-exchange.js'
import { FirstRun } from './first-run.js'
import { exchangeById, hold, select, setFilter } from './session.js'
import * as view from './state.js'
import { dayText, dayTitle, inZone, outcomeOf } from './texts.js'

/** In pixels: from this width on, an exchange takes one line. */
const MIN_WIDE = 620
const ROW_HEIGHT = { wide: 26, narrow: 48 }

export function ExchangeList() {
  const all = view.exchanges.value
  const shown = view.shownExchanges.value
  const rows = timelineOf(shown, view.filter.value === '' ? view.events.value : [], {
    today: view.today.value,
    dayOf: (at) => dayText(Date.parse(at)),
    ...(view.isFolded.value && { factsOf }),
  })

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
    const sizes = new ResizeObserver(([entry]) => {
      if (entry !== undefined) box.value = entry.contentRect
    })
    if (scroller.current !== null) sizes.observe(scroller.current)
    return () => sizes.disconnect()
  }, [])

  // Keeps scroll position and focused row while exchanges are added above.
  const newest = useRef<string>(undefined)
  useLayoutEffect(() => {
    const element = scroller.current
    const added = rows.findIndex(({ key }) => key === newest.current)
    newest.current = rows[0]?.key
    if (element === null || added <= 0) return
    if (element.scrollTop > 0 || element.contains(document.activeElement)) element.scrollTop += added * rowHeight
  })

  function showNewest(): void {
    if (scroller.current !== null) scroller.current.scrollTop = 0
    hold(false)
  }

  function show(index: number): void {
    const element = scroller.current
    const top = element && scrollToRow(index, rowHeight, element.scrollTop, element.clientHeight)
    if (index === -1 || element === null || top == null) return
    element.scrollTop = top
    scrollTop.value = element.scrollTop
  }

  const indexOf = (id: number | undefined) => rows.findIndex((row) => isRowOf(row, id))
  useEffect(() => show(indexOf(view.selected.value?.id)), [view.selected.value?.id])

  // Focuses the row selected by an arrow key, once rendered.
  const isWalking = useRef(false)
  useLayoutEffect(() => {
    if (!isWalking.current) return
    isWalking.current = false
    scroller.current?.querySelector<HTMLElement>(`[data-exchange="${focused.value}"]`)?.focus({ preventScroll: true })
  })

  const currentIndex = indexOf(focused.value ?? view.selected.value?.id)
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
    if (view.tab.value === 'exchange') select(row.exchange)
  }

  const names = visible.map((row) => (row.kind === 'exchange' ? clientName(row.exchange).length : 0))
  return (
    <div
      class={isWide ? 'exchanges wide' : 'exchanges'}
      style={{ '--client': `${Math.min(24, Math.max(8, ...names))}ch` }}
      onPointerEnter={({ pointerType }) => hold(pointerType === 'mouse')}
      onPointerLeave={({ currentTarget }) => hold(currentTarget.contains(document.activeElement))}
      onFocusIn={() => hold(true)}
      onFocusOut={({ currentTarget, relatedTarget }) =>
        hold(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))
      }
    >
      {isWide ? (
        <div class="head" aria-hidden="true">
          {COLUMNS.map((title) => (
            <span key={title}>{title}</span>
          ))}
        </div>
      ) : null}
      {view.newer.value === 0 && scrollTop.value === 0 ? null : (
        <button type="button" class="newer" onClick={showNewest}>
          {view.newer.value === 0 ? 'newest' : `${view.newer} newer`} ↑
        </button>
      )}
      <section
        class="scroller"
        id="log"
        aria-label="Exchanges, newest first"
        ref={scroller}
        onScroll={({ currentTarget }) => (scrollTop.value = currentTarget.scrollTop)}
        onKeyDown={walk}
        onFocusCapture={({ target }) => {
          const id = target instanceof HTMLElement ? target.dataset.exchange : undefined
          if (id !== undefined) focused.value = Number(id)
        }}
      >
        {all.length > 0 && shown.length === 0 ? (
          <p class="bar muted">
            No exchange matches the filter.{' '}
            <button type="button" onClick={() => setFilter('')}>
              Clear filter
            </button>
          </p>
        ) : null}
        {all.length > 0 ? null : view.isLoaded.value ? <FirstRun /> : <p class="bar muted">Loading the log …</p>}
        <ol style={{ paddingTop: `${first * rowHeight}px`, paddingBottom: `${(rows.length - end) * rowHeight}px` }}>
          {visible.map((row, index) =>
            row.kind === 'exchange' ? (
              <ExchangeRow
                key={row.key}
                exchange={row.exchange}
                count={row.ids.length}
                isSelected={isRowOf(row, view.selected.value?.id)}
                isReachable={first + index === reachable}
              />
            ) : (
              <EventRow key={row.key} row={row} />
            ),
          )}
        </ol>
      </section>
    </div>
  )
}

/** Whether a row shows an exchange, alone or with equal ones. */
function isRowOf(row: TimelineRow, id: number | undefined): boolean {
  return row.kind === 'exchange' && id !== undefined && row.ids.includes(id)
}

function factsOf(exchange: Exchange) {
  const { id, method, status, reason, rule, ended, disobeyed, request } = exchange
  const parts = [method, addressOf(exchange), status, reason, rule, ended ?? id, disobeyed?.rule, request.body]
  return { client: clientOf(exchange), facts: parts.join('\n') }
}

const COLUMNS = ['Time', 'Status', '×', 'Request', 'Why', 'Client', 'Duration']

/** An undo names the change as the row of that does. */
function wordsOf(event: LoggedEvent): string {
  const before = view.events.value.slice(view.events.value.indexOf(event) + 1)
  const undone = before.find(({ verb }) => event.text.startsWith(`Undone: ${verb.replace('.', ' ')}.`))
  const rest = event.text.replace(/^.*?\. ?/, '')
  return event.verb === 'undo' && undone !== undefined ? `Undone: ${undone.text} ${rest}` : event.text
}

function EventRow({ row }: { readonly row: Exclude<TimelineRow, { kind: 'exchange' }> }) {
  if (row.kind !== 'event')
    return <li class="exchange event row">{row.kind === 'day' ? dayTitle(row.day) : 'The clock moved back.'}</li>
  const at = Date.parse(row.event.at)
  return (
    <li class="exchange event row">
      <span class="at mono">{timeText(at, true)}</span>
      <span class="what">{inZone(wordsOf(row.event), at)}</span>
    </li>
  )
}

/** Skips rows of other kinds. May return an index outside of the list. */
function nextExchange(rows: readonly TimelineRow[], from: number, step: number): number {
  const direction = Math.abs(step) === 1 ? step : -Math.sign(step)
  let index = Math.max(0, Math.min(rows.length - 1, from + step))
  while (rows[index] !== undefined && rows[index]?.kind !== 'exchange') index += direction
  return index
}

interface RowProps {
  readonly exchange: Exchange
  readonly count: number
  readonly isSelected: boolean
  /** Reachable by Tab; others by arrow keys. */
  readonly isReachable: boolean
}

/** Reads signals, so that it renders again only if one of them or a property has changed. */
function ExchangeRow({ exchange, count, isSelected, isReachable }: RowProps) {
  const { id, method, key, ended } = exchange
  const always = useComputed(() => view.state.value?.keys.find((known) => known.key === key)?.always).value
  const latency = useComputed(() => view.state.value?.settings.latency).value
  const { cause } = explainExchange(exchange, { always, latency, bans: view.bans.value })
  const why = [cause, ignoredText(exchange)].filter(Boolean).join('; ')
  return (
    <li class="exchange">
      <button
        type="button"
        data-exchange={id}
        tabIndex={isReachable ? 0 : -1}
        aria-current={isSelected || undefined}
        onClick={() => select(exchange)}
      >
        <span class="at mono muted" title={`Received at ${exchange.receivedAt}, real time`}>
          {timeText(Date.parse(exchange.at), true)}
        </span>
        <Status exchange={exchange} />
        <b class="count outcome limited">{count === 1 ? '' : `×${count}`}</b>
        <span class="path mono">
          <span class="method">{method}</span> {addressOf(exchange)}
        </span>
        <span class="reason muted" title={why}>
          {why}
        </span>
        <span class="client muted">{clientName(exchange)}</span>
        <span class={`duration ${ended === 'left' ? 'error' : 'muted'}`}>
          <Duration exchange={exchange} />
        </span>
      </button>
    </li>
  )
}

/** How a request ignored an earlier response. */
function ignoredText(exchange: Exchange): string {
  const { disobeyed, key } = exchange
  if (disobeyed === undefined) return ''
  const told = exchangeById(disobeyed.exchange)
  if (told !== undefined && clientOf(told) !== clientOf(exchange)) return `while ${key} had to wait`
  const wait = told?.response.headers['retry-after']
  return wait === undefined ? RULE_VERDICTS[disobeyed.rule as ConductRule] : `in its wait of ${secondsText(wait)}`
}

export function Status({ exchange }: { readonly exchange: Exchange }) {
  const { status, ended } = exchange
  const outcome = outcomeOf(exchange)
  return (
    <span class={`status mono outcome ${ended === null ? '' : outcome}`}>
      {ended === null ? '···' : (status ?? (ended === 'left' ? 'left' : 'cut'))}
      {outcome === 'cut' && status !== null ? ' ✂' : ''}
    </span>
  )
}

export function Duration({ exchange }: { readonly exchange: Exchange }) {
  if (exchange.ended !== null) return <>{formatSpan(exchange.durationMs)}</>
  return <>{formatSpan(durationAt(exchange, view.pageTime.value))} …</>
}
