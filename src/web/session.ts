import { batch } from '@preact/signals'
import type { OptionalInput, VerbInput, VerbName, VerbOutput } from '../control/verb-map.js'
import type { StormView } from '../control/views.js'
import { parseDuration } from '../domain/time.js'
import type { Exchange } from '../exchanges/exchange-view.js'
import { callVerb, followEvents, keepControlToken, servedContract, TokenNeeded } from './control-api.js'
import { toggleWord } from './dashboard/exchange-filter.js'
import { EXCHANGES_KEPT, ExchangeRing, type TimelineEvent } from './dashboard/exchange-rows.js'
import type { PagePlace, Tab } from './dashboard/page-address.js'
import { TrafficTally } from './dashboard/traffic-tally.js'
import { messageOf } from './format.js'
import { operationsIn } from './request-code.js'
import * as view from './state.js'

/** Faster updates would flicker. */
const SHOW_INTERVAL_MS = 100
const STATE_PAUSE_MS = 500
const REPORT_PAUSE_MS = 1500
/** Interval for changes that are not in the stream. */
const POLL_INTERVAL_MS = 5000
const RECONNECT_MS = 1000
const TOAST_MS = 10_000
const EVENTS_KEPT = 200

const UNDOABLE: ReadonlySet<VerbName> = new Set<VerbName>([
  'reset',
  'requests.clear',
  'snapshots.restore',
  'scenario.apply',
  'overrides.clear',
  'pets.remove',
  'keys.remove',
])

/** Also covers exchanges that have left the list. */
export const tally = new TrafficTally()
const ring = new ExchangeRing()
/** By the space's clock. */
let stormEnd: number | undefined
let eventNumber = 0
let toastTimer: ReturnType<typeof setTimeout> | undefined
let isShowing = false
let connected = new AbortController()

const readStateSoon = throttled(STATE_PAUSE_MS, readState)
const readReportsSoon = throttled(REPORT_PAUSE_MS, readReports)

/** Follows the sandbox until the page is closed. */
export function start(): void {
  setInterval(() => {
    if (!document.hidden && view.connection.value === 'live') readSoon()
  }, POLL_INTERVAL_MS)
  // A page in the back/forward cache would keep its stream; browsers open only 6 connections per host.
  addEventListener('pagehide', () => connected.abort())
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void stayConnected()
  })
  void stayConnected()
}

/** Calls a verb on the current space. Rejects if the sandbox refuses. @param done announcement on success */
export async function call<Name extends VerbName>(
  verb: Name,
  input: VerbInput<Name>,
  done?: string,
): Promise<VerbOutput<Name>> {
  const space = view.space.value
  const output = await lockIfAsked(callVerb(verb, space, ...([input] as OptionalInput<Name>)))
  if (verb === 'reset' || verb === 'requests.clear') forgetExchanges()
  await Promise.all([readState(), readReports()])
  const undo = view.state.value?.undo
  if (done !== undefined)
    announce(done, UNDOABLE.has(verb) ? space : undefined, undo?.verb === verb ? undo.id : undefined)
  return output
}

/** @param undoIn space of a change that can be undone */
export function announce(text: string, undoIn?: string, undoId?: number): void {
  view.announcement.value = text
  if (undoIn === undefined) return
  clearTimeout(toastTimer)
  view.toast.value = { text, space: undoIn, undoId }
  toastTimer = setTimeout(() => {
    view.toast.value = undefined
  }, TOAST_MS)
}

export function undo(): Promise<void> {
  const { toast } = view
  const undone = toast.value
  toast.value = undefined
  return showFailure(async () => {
    if (undone === undefined) return
    const { space, undoId: id } = undone
    await lockIfAsked(callVerb('undo', space, id === undefined ? {} : { id }))
    announce('Undone.')
    if (space === view.space.value) void stayConnected()
    else showSpace(space)
  })
}

export async function replay(id: number, change: Omit<VerbInput<'requests.replay'>, 'id'> = {}): Promise<void> {
  const again = await call('requests.replay', { id, ...change }, 'Request sent again.')
  if (again.space !== view.space.value) return
  take(again)
  select(again)
}

export function select(exchange: Exchange | undefined): void {
  batch(() => {
    // It may have ended since the list was drawn.
    view.selected.value = exchange && (exchangeById(exchange.id) ?? exchange)
    view.wanted.value = undefined
  })
}

export function step(by: 1 | -1): void {
  const shown = view.shownExchanges.value
  const index = shown.findIndex(({ id }) => id === view.selected.value?.id)
  const next = shown[index === -1 ? 0 : Math.max(0, Math.min(shown.length - 1, index + by))]
  if (next !== undefined) select(next)
}

export function filterBy(word: string): void {
  const { text, outcome } = view.filter.value
  view.filter.value = { text: toggleWord(text, word), outcome }
}

export function makeFail(operation: string): void {
  view.faultDraft.value = { operation, number: view.faultDraft.value.number + 1 }
  showTab('break', 'faults')
}

/** @param section id of the element to scroll to and focus */
export function showTab(tab: Tab, section?: string): void {
  view.tab.value = tab
  if (section !== undefined)
    requestAnimationFrame(() => {
      const place = document.getElementById(section)
      place?.scrollIntoView({ block: 'nearest' })
      place?.querySelector<HTMLElement>('select, input, button')?.focus({ preventScroll: true })
    })
  // A hidden tab is not updated.
  void readReports()
}

export function showSpace(name: string): void {
  if (name === view.space.value) return
  tally.clear()
  ring.clear()
  view.turnTo(name)
  void stayConnected()
}

export function openSpace(name: string): Promise<void> {
  return showFailure(async () => {
    // Any change opens a space, even an empty one.
    await lockIfAsked(callVerb('settings.change', name))
    showSpace(name)
  })
}

export async function removeSpace(name: string): Promise<void> {
  await lockIfAsked(callVerb('spaces.remove', '', { name }))
  if (name === view.space.value) showSpace('')
  else await readReports()
  announce(`The space ${name} is removed.`, name)
}

export function goTo({ space, filter, exchange, tab }: PagePlace): void {
  view.filter.value = filter
  view.tab.value = tab
  showSpace(space)
  view.wanted.value = exchange
  selectWanted()
}

export function exchangeById(id: number): Exchange | undefined {
  return ring.get(id)
}

export function enterToken(token: string): void {
  keepControlToken(token)
  view.connection.value = 'connecting'
  void stayConnected()
}

export async function showMorePets(): Promise<void> {
  view.petLimit.value += view.PETS_PER_PAGE
  await readReports()
}

async function showFailure(act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    view.notice.value = messageOf(error)
  }
}

function selectWanted(): void {
  const found = view.wanted.value === undefined ? undefined : ring.get(view.wanted.value)
  if (found !== undefined) select(found)
}

async function stayConnected(): Promise<void> {
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
  const [recent, scenarios, contract] = await Promise.all([
    callVerb('requests.list', space, { limit: EXCHANGES_KEPT }),
    callVerb('scenario.list', space),
    servedContract(),
    readState().then(readReports),
  ])
  if (signal.aborted) return
  forgetExchanges()
  for (const exchange of recent) take(exchange)
  batch(() => {
    view.connection.value = 'live'
    view.scenarios.value = scenarios
    view.operations.value = operationsIn(contract)
    selectWanted()
  })
  for (let batchOf = first; !signal.aborted && batchOf.done !== true; batchOf = await stream.next()) {
    for (const { event, data } of batchOf.value) {
      if (event === 'began' || event === 'ended') take(JSON.parse(data))
      else if (event === 'verb') addEvent({ ...JSON.parse(data), afterId: ring.highestId })
      else if (event === 'dropped') view.missed.value += Number(JSON.parse(data).count)
    }
    if (batchOf.value.length > 0) readSoon()
  }
}

/** Waits before reconnecting. Shows the default space if the current one is gone. */
async function waitForSandbox(signal: AbortSignal): Promise<void> {
  const space = view.space.value
  const spaces = space === '' ? undefined : await callVerb('spaces.list', '').catch(() => undefined)
  if (signal.aborted) return
  if (spaces !== undefined && !spaces.some(({ name }) => name === space)) {
    const isUnknown = view.connection.value === 'connecting'
    showSpace('')
    view.notice.value = `${isUnknown ? `Unknown space "${space}".` : `The space "${space}" has been removed.`} Showing the default space.`
    return
  }
  view.connection.value = 'lost'
  await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
}

function take(exchange: Exchange): void {
  const taken = ring.add(exchange)
  if (taken === 'known') return
  if (taken === 'restarted') tally.clear()
  if (exchange.ended !== null) tally.add(exchange)
  else RECEIVED_AT.set(exchange, performance.now())
  if (taken === 'ended' && view.selected.value?.id === exchange.id) view.selected.value = exchange
  showSoon()
}

function addEvent(event: Omit<TimelineEvent, 'number'>, index = 0): void {
  const added = { ...event, number: eventNumber++ }
  view.events.value = view.events.value.toSpliced(index, 0, added).slice(0, EVENTS_KEPT)
}

function forgetExchanges(): void {
  ring.clear()
  tally.clear()
  view.events.value = []
  showSoon()
}

function showSoon(): void {
  if (isShowing) return
  isShowing = true
  setTimeout(() => {
    requestAnimationFrame(() => {
      isShowing = false
      view.exchanges.value = ring.newestFirst()
    })
  }, SHOW_INTERVAL_MS)
}

function readSoon(): void {
  readStateSoon()
  readReportsSoon()
}

/** Ignores failures: reads are repeated, and the connection shows failures. */
async function quietly(read: Promise<void>): Promise<void> {
  await lockIfAsked(read).catch(() => undefined)
}

function readState(): Promise<void> {
  return quietly(
    (async () => {
      const space = view.space.value
      const seen = ring.highestId
      const { clock, ...state } = await callVerb('state', space)
      if (view.space.value !== space) return
      // Fewer than before: the log was cleared.
      if (state.counts.requests < seen) forgetExchanges()
      const now = Date.parse(clock.now)
      endStorm(state.storm, now)
      batch(() => {
        view.setIfChanged(view.state, state)
        view.clock.value = { now, frozen: clock.frozen, readAt: performance.now() }
      })
    })(),
  )
}

function readReports(): Promise<void> {
  return quietly(
    (async () => {
      const space = view.space.value
      const showsData = view.tab.value === 'data'
      const [pets, spaces, snapshots, replicas, conduct, drift] = await Promise.all([
        showsData ? callVerb('pets.list', space, { limit: view.petLimit.value }) : undefined,
        callVerb('spaces.list', space),
        showsData ? callVerb('snapshots.list', space) : undefined,
        showsData ? callVerb('replicas', '') : undefined,
        callVerb('conduct', space),
        view.state.value?.upstream ? callVerb('drift', space) : undefined,
      ])
      if (view.space.value !== space) return
      batch(() => {
        if (pets !== undefined) view.setIfChanged(view.pets, pets)
        view.setIfChanged(view.spaces, spaces)
        if (snapshots !== undefined)
          view.setIfChanged(
            view.snapshots,
            snapshots.map(({ name }) => name),
          )
        if (replicas !== undefined) view.setIfChanged(view.replicas, replicas)
        view.setIfChanged(view.conduct, conduct)
        view.setIfChanged(view.drift, drift)
      })
    })(),
  )
}

async function lockIfAsked<T>(request: Promise<T>): Promise<T> {
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

/** A storm that expires has no event: adds one where it ended. */
function endStorm(storm: StormView | null, now: number): void {
  const length = storm?.every === null && storm.for !== null ? parseDuration(storm.for) : undefined
  const end = storm === null || length === undefined ? undefined : Date.parse(storm.startedAt) + length
  if (end !== undefined && end === stormEnd && end <= now) {
    const afterId = ring.newestFirst().find((exchange) => Date.parse(exchange.at) <= end)?.id ?? 0
    const index = view.events.value.findIndex(
      (event) => event.afterId < afterId || (event.afterId === afterId && Date.parse(event.at) <= end),
    )
    const event = { at: new Date(end).toISOString(), verb: 'storm.over', text: 'the storm is over', afterId }
    addEvent(event, index === -1 ? EVENTS_KEPT : index)
  }
  stormEnd = end !== undefined && end > now ? end : undefined
}

/** When the page received an open exchange. */
const RECEIVED_AT = new WeakMap<Exchange, number>()

/** Milliseconds. @param now by the page's monotonic clock */
export function durationAt(exchange: Exchange, now: number): number {
  return exchange.durationMs + Math.max(0, now - (RECEIVED_AT.get(exchange) ?? now))
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
