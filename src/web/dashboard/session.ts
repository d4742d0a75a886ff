import { batch, effect } from '@preact/signals'
import { EventReader, type ServerEvent } from '../../control/event-reader.js'
import { withQuery } from '../../control/verb-request.js'
import { wordsOf } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { callVerb, enterControlToken, readText, requestControl, servedContract, TokenNeeded } from '../control-api.js'
import { timeText } from '../format.js'
import { EXCHANGES_KEPT, ExchangeRing } from './exchange-rows.js'
import type { PagePlace, Tab } from './page-address.js'
import * as view from './state.js'

/** Faster updates would flicker. For each thousand exchanges on the page. */
const SHOW_INTERVAL_MS = 100
const STATE_PAUSE_MS = 1000
const REPORT_PAUSE_MS = 2000
const SEARCH_PAUSE_MS = 300
/** Interval for changes that are not in the stream. */
const POLL_INTERVAL_MS = 5000
const RECONNECT_MS = 1000
const TOAST_MS = 10_000

const ring = new ExchangeRing()
let started: string | undefined
let toastTimer: ReturnType<typeof setTimeout> | undefined
let isShowing = false
/** The stream tells when there are others. */
let hasNewEvents = true
let connected = new AbortController()

const readStateSoon = throttled(STATE_PAUSE_MS, () => readState())
const readReportsSoon = throttled(REPORT_PAUSE_MS, () => readReports())
const searchSoon = throttled(SEARCH_PAUSE_MS, () => quietly(search()))

export function start(): void {
  setInterval(() => {
    if (document.hidden || view.connection.value !== 'live') return
    hasNewEvents = true
    readSoon()
    searchSoon()
  }, POLL_INTERVAL_MS)
  // A page in the back/forward cache would keep its stream; browsers open only 6 connections per host.
  addEventListener('pagehide', () => connected.abort())
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void stayConnected()
  })
  effect(() => {
    if (view.filter.value !== '' && view.hasOlder.value) searchSoon()
  })
  void stayConnected()
}

/** Says what the user did, which also closes the last notice. @param space for an undo; its id is undefined for a removed space */
export function announce(text: string, space?: string, undoId?: number): void {
  view.announcement.value = text
  view.notice.value = ''
  if (space === undefined) return
  clearTimeout(toastTimer)
  view.toast.value = { text, space, undoId }
  toastTimer = setTimeout(hideToast, TOAST_MS)
}

/** Not while somebody is at it. */
function hideToast(): void {
  if (document.querySelector('.notice:is(:hover, :focus-within)') === null) view.toast.value = undefined
  else toastTimer = setTimeout(hideToast, STATE_PAUSE_MS)
}

let tabBefore: Tab = 'log'
/** A filter that ends with the open exchange, and the one before. */
let passing: { readonly filter: string; readonly before: string } | undefined

/** @param part what the filter leaves out; empty for nothing */
export function filterUntilClosed(filter: string, part = ''): void {
  const before = passing !== undefined && passing.filter === view.filter.value ? passing.before : view.filter.value
  passing = { filter, before }
  view.filteredPart.value = { filter, part }
  setFilter(filter)
}

export function close(): void {
  select(undefined)
  if (passing?.filter === view.filter.value) setFilter(passing.before)
  passing = undefined
}

export function select(exchange: Exchange | undefined): void {
  batch(() => {
    // It may have ended since the list was drawn.
    view.selected.value = exchange && (exchangeById(exchange.id) ?? exchange)
    view.wanted.value = undefined
    if (view.tab.value !== 'exchange') tabBefore = view.tab.value
    view.tab.value = exchange === undefined ? tabBefore : 'exchange'
  })
}

export function step(by: 1 | -1): void {
  const shown = view.shownExchanges.value
  const index = shown.findIndex(({ id }) => id === view.selected.value?.id)
  const next = shown[index === -1 ? 0 : Math.max(0, Math.min(shown.length - 1, index + by))]
  if (next !== undefined) select(next)
}

/** Adds a word to the filter, or removes it. */
export function filterBy(word: string): void {
  const { chips } = view
  chips.value = chips.value.includes(word) ? chips.value.filter((value) => value !== word) : [...chips.value, word]
}

export function setFilter(text: string): void {
  batch(() => {
    view.chips.value = wordsOf(text)
    view.draft.value = ''
  })
}

/** @param section id of the element to scroll to and focus */
export function showTab(tab: Tab, section?: string): void {
  view.tab.value = tab
  if (section !== undefined)
    requestAnimationFrame(() => {
      const place = document.getElementById(section)
      place?.closest('details')?.setAttribute('open', '')
      place?.scrollIntoView({ block: 'nearest' })
      place?.querySelector<HTMLElement>('select, input, button')?.focus({ preventScroll: true })
    })
  // A hidden tab is not updated.
  void readReports()
}

export function showSpace(name: string): void {
  if (name === view.space.value) return
  ring.clear()
  view.turnTo(name)
  void stayConnected()
}

export function goTo({ space, filter, exchange, tab }: PagePlace): void {
  setFilter(filter)
  view.tab.value = tab
  showSpace(space)
  view.wanted.value = exchange
  selectWanted()
}

export function exchangeById(id: number): Exchange | undefined {
  return ring.get(id) ?? view.found.value.exchanges.find((exchange) => exchange.id === id)
}

/** Adds a page of older exchanges. */
export async function loadOlder(): Promise<void> {
  const space = view.space.value
  const before = view.exchanges.value.at(-1)?.id ?? 0
  const older = await lockIfAsked(callVerb('requests.list', space, { before, limit: EXCHANGES_KEPT }))
  if (space !== view.space.value) return
  ring.addOlder(older)
  showSoon()
}

/** Asks the sandbox for exchanges that the page does not have. */
async function search(): Promise<void> {
  const space = view.space.value
  const filter = view.filter.value
  if (filter === '' || !view.hasOlder.value) return
  const exchanges = await callVerb('requests.list', space, { filter, limit: EXCHANGES_KEPT })
  if (space === view.space.value) view.found.value = { filter, exchanges: exchanges.toReversed() }
}

export function enterToken(token: string): void {
  enterControlToken(token)
  view.connection.value = 'connecting'
  void stayConnected()
}

/** Reads what the page shows of a resource; a change of the search or the resource begins at its first records. */
export function showRecords(limit: number = view.RECORDS_PER_PAGE): Promise<void> {
  view.recordLimit.value = limit
  return readReports()
}

export function hold(isHeld: boolean): void {
  if (view.isHeld.value === isHeld) return
  view.isHeld.value = isHeld
  showSoon()
}

function selectWanted(): void {
  const { value: id } = view.wanted
  if (id === undefined) return
  const found = ring.get(id)
  const tab = view.tab.value
  if (found !== undefined) {
    select(found)
    view.tab.value = tab
  } else if (view.connection.value === 'live') {
    view.notice.value = `The log does not have exchange ${id}.`
    select(undefined)
  }
}

export async function stayConnected(): Promise<void> {
  connected.abort()
  connected = new AbortController()
  const { signal } = connected
  while (!signal.aborted) {
    try {
      await connect(signal)
    } catch (error) {
      if (error instanceof TokenNeeded && !signal.aborted) {
        view.connection.value = 'locked'
        return
      }
    }
    if (!signal.aborted) await waitForSandbox(signal)
  }
}

async function connect(signal: AbortSignal): Promise<void> {
  const space = view.space.value
  const stream = followEvents(space, signal)
  const first = await stream.next()
  hasNewEvents = true
  const [at, recent, scenarios, contract] = await Promise.all([
    sandboxStart().catch(() => started),
    callVerb('requests.list', space, { limit: EXCHANGES_KEPT }),
    callVerb('scenario.list', space),
    servedContract(),
    readState().then(readReports),
  ])
  if (signal.aborted) return
  const isOther = (recent.at(-1)?.id ?? 0) < ring.highestId || recent.some((exchange) => ring.contradicts(exchange))
  if (isOther) leaveExchange()
  forgetExchanges()
  // Another replica started at another time, and has the same log.
  const hasRestarted = isOther || view.state.value?.process.isReplica !== true
  if (started !== undefined && at !== undefined && started !== at && hasRestarted) {
    view.notice.value = `The sandbox restarted at ${timeText(Date.parse(at))}, real time. Log, clock, quotas, bans and switches are as at a start.`
    view.announcement.value = ''
  }
  started = at
  for (const exchange of recent) take(exchange)
  batch(() => {
    view.isLoaded.value = true
    view.connection.value = 'live'
    view.scenarios.value = scenarios
    view.contract.value = contract
    selectWanted()
  })
  for (let batchOf = first; !signal.aborted && batchOf.done !== true; batchOf = await stream.next()) {
    for (const { event, data } of batchOf.value) {
      if (event === 'began' || event === 'ended') take(JSON.parse(data))
      else hasNewEvents = true
      if (event === 'dropped') view.missed.value += Number(JSON.parse(data).count)
    }
    if (batchOf.value.length > 0) readSoon()
  }
}

/** When the sandbox started: ISO 8601, UTC. Differs after a restart. */
async function sandboxStart(): Promise<string> {
  return Object(JSON.parse(await readText(await requestControl('/health')))).startedAt
}

/**
 * Events of a space. The first batch arrives once the sandbox listens, so later events are complete. Uses fetch,
 * because EventSource cannot send a token.
 */
async function* followEvents(space: string, signal: AbortSignal): AsyncGenerator<readonly ServerEvent[]> {
  const query = new URLSearchParams({ brief: 'true', ...(space !== '' && { space }) })
  const { body } = await requestControl(withQuery('/requests/stream', query), { signal })
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  const events = new EventReader()
  for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read())
    yield events.read(chunk.value)
}

/** Waits before reconnecting. Shows the default space if the current one is gone. */
async function waitForSandbox(signal: AbortSignal): Promise<void> {
  const space = view.space.value
  const spaces = await callVerb('spaces.list', '').catch(() => undefined)
  if (signal.aborted) return
  if (spaces === undefined) view.connection.value = 'lost'
  else if (space !== '' && !spaces.some(({ name }) => name === space)) {
    const isUnknown = view.connection.value === 'connecting'
    showSpace('')
    view.notice.value = `${isUnknown ? `Unknown space "${space}".` : `The space "${space}" has been removed.`} Showing the default space.`
    return
  }
  await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
}

export function take(exchange: Exchange): void {
  if (ring.contradicts(exchange)) {
    dropLog()
    return
  }
  if (!ring.add(exchange)) return
  const open = view.selected.value
  if (open?.id === exchange.id && open.ended === null) view.selected.value = exchange
  showSoon()
}

/** Its exchanges are gone: none stays open. Reads the new ones, of which some may have come and been dropped. */
export function dropLog(): void {
  forgetExchanges()
  leaveExchange()
  void stayConnected()
}

function leaveExchange(): void {
  if (view.selected.value !== undefined) select(undefined)
  view.editing.value = undefined
}

function forgetExchanges(): void {
  ring.clear()
  batch(() => {
    view.exchanges.value = []
    view.found.value = { filter: '', exchanges: [] }
  })
  showSoon()
}

function showSoon(): void {
  if (isShowing) return
  isShowing = true
  const pause = SHOW_INTERVAL_MS * Math.ceil(view.exchanges.value.length / EXCHANGES_KEPT)
  setTimeout(() => requestAnimationFrame(show), pause)
}

function show(): void {
  isShowing = false
  const all = ring.newestFirst()
  const newest = view.exchanges.value[0]?.id
  const isStill = newest !== undefined && view.isHeld.value
  const shown = isStill ? all.filter(({ id }) => id <= newest) : all
  batch(() => {
    view.exchanges.value = shown
    view.newer.value = all.length - shown.length
  })
}

function readSoon(): void {
  readStateSoon()
  readReportsSoon()
}

/** Ignores failures: reads are repeated, and the connection shows failures. */
async function quietly(read: Promise<void>): Promise<void> {
  await lockIfAsked(read).catch(() => undefined)
}

export const readState = () => quietly(loadState())
export const readReports = () => quietly(loadReports())

/** Of reads that overlap, none shows what is older than what another has shown. */
function inOrder(): () => () => boolean {
  let [started, shown] = [0, 0]
  return () => {
    const own = ++started
    return () => {
      if (own < shown) return false
      shown = own
      return true
    }
  }
}

const startState = inOrder()
const startReports = inOrder()

async function loadState(): Promise<void> {
  const space = view.space.value
  const isNewest = startState()
  const seen = ring.highestId
  const isAsked = hasNewEvents
  hasNewEvents = false
  const reading = [callVerb('state', space), isAsked ? callVerb('events', space) : undefined] as const
  const [{ clock, ...state }, events] = await Promise.all(reading).catch((error) => {
    hasNewEvents ||= isAsked
    throw error
  })
  if (view.space.value !== space) return
  if (!isNewest()) {
    hasNewEvents ||= isAsked
    return
  }
  // Fewer than before: the log was cleared.
  if (state.counts.requests < seen) dropLog()
  const now = Date.parse(clock.now)
  batch(() => {
    view.lastContact.value = performance.now()
    view.setIfChanged(view.state, state)
    view.setIfChanged(view.logged, events)
    view.clock.value = { now, frozen: clock.frozen, readAt: performance.now() }
  })
}

async function loadReports(): Promise<void> {
  const space = view.space.value
  const isNewest = startReports()
  const showsData = view.tab.value === 'data'
  const resources = showsData ? await callVerb('resources.list', space) : undefined
  const { name: resource } = resources?.find(({ name }) => name === view.resource.value) ?? resources?.[0] ?? {}
  const search = view.recordSearch.value.trim()
  const selection = { limit: view.recordLimit.value, ...(search !== '' && { search }) }
  const [records, spaces, snapshots, conduct] = await Promise.all([
    resource === undefined ? undefined : callVerb('records.list', space, { resource, ...selection }),
    callVerb('spaces.list', space),
    showsData ? callVerb('snapshots.list', space) : undefined,
    callVerb('conduct', space),
  ])
  if (view.space.value !== space || !isNewest()) return
  batch(() => {
    view.setIfChanged(view.resources, resources)
    if (search === view.recordSearch.value.trim()) view.setIfChanged(view.records, records)
    view.setIfChanged(view.spaces, spaces)
    view.setIfChanged(view.snapshots, snapshots)
    view.setIfChanged(view.conduct, conduct)
  })
}

export async function lockIfAsked<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (error instanceof TokenNeeded) {
      connected.abort()
      view.connection.value = 'locked'
    }
    throw error
  }
}

/** Runs an action immediately, or after a pause since its last run. @param pauseMs from end to start */
function throttled(pauseMs: number, act: () => Promise<void>): () => void {
  let isBusy = false
  let isAsked = false
  return async () => {
    isAsked = true
    if (isBusy) return
    isBusy = true
    while (isAsked) {
      isAsked = false
      await act()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    isBusy = false
  }
}
