import type { OptionalInput, VerbInput, VerbName, VerbOutput } from '../../control/verb-map.js'
import type { StormView } from '../../control/views.js'
import { parseDuration } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import type { SpaceEvent } from '../../exchanges/space-event.js'
import { keepControlToken } from '../control-token.js'
import { callVerb, followExchanges, operationsServed, TokenNeeded } from './api.js'
import type { Zone } from './clock-text.js'
import { type DashboardState, keepSame, newState, olderIfSame, turnTo } from './dashboard-state.js'
import { filterExchanges, toggleWord } from './exchange-filter.js'
import { EXCHANGES_KEPT, ExchangeRing } from './exchange-ring.js'
import { keepZone } from './kept-zone.js'
import { hearClock } from './local-clock.js'
import { type PagePlace, type Tab, writePlace } from './page-address.js'
import { Observable } from './store.js'
import { Throttle } from './throttle.js'
import type { TimelineEvent } from './timeline.js'
import { TrafficTally } from './traffic-tally.js'

/** Exchanges are shown so often at most; more would only flicker. */
const SHOW_EVERY_MS = 100
/** State, and what else exchanges change, is read so often at most while they come. */
const STATE_PAUSE_MS = 500
const REPORT_PAUSE_MS = 1500
/** Others may control the same sandbox, which no stream reports. */
const LOOK_AGAIN_MS = 5000
const TRY_AGAIN_MS = 1000
/** How long something can be undone by a click. */
const TOAST_MS = 10_000
/** Events kept between the exchanges that are. */
const EVENTS_KEPT = 200

/** Verbs after which the page offers to take them back. */
const UNDOABLE: ReadonlySet<VerbName> = new Set<VerbName>([
  'reset',
  'requests.clear',
  'snapshots.restore',
  'scenario.apply',
  'deviations.clear',
  'pets.remove',
  'keys.remove',
])

/** The page's connection to its sandbox: reads, follows, reconnects, and calls verbs. */
export class Session {
  readonly store: Observable<DashboardState>
  readonly exchanges = new ExchangeRing()
  readonly tally = new TrafficTally()
  /** What has happened between exchanges since the page follows, newest first. */
  events: readonly TimelineEvent[] = []
  #eventNumber = 0
  /** When the storm that blows is over by itself, by the space's clock. */
  #stormEnd: number | undefined
  #toastTimer: ReturnType<typeof setTimeout> | undefined
  #connected = new AbortController()
  #showing: ReturnType<typeof setTimeout> | undefined
  readonly #state = new Throttle(STATE_PAUSE_MS, () => this.#quietly(() => this.#readState()))
  readonly #reports = new Throttle(REPORT_PAUSE_MS, () => this.#quietly(() => this.#readReports()))

  constructor(place: PagePlace) {
    this.store = new Observable(newState(place))
  }

  /** Starts, and runs as long as the page lives. */
  start(): void {
    setInterval(() => {
      if (document.hidden || this.store.get().connection !== 'live') return
      this.#state.ask()
      this.#reports.ask()
    }, LOOK_AGAIN_MS)
    void this.#stayConnected()
  }

  /** Calls a verb on the shown space and shows the result. Rejects if the sandbox refuses. */
  async call<Name extends VerbName>(verb: Name, input: VerbInput<Name>, done?: string): Promise<VerbOutput<Name>> {
    const { space } = this.store.get()
    const answer = await this.#lockedIfAsked(() => callVerb(verb, space, ...([input] as OptionalInput<Name>)))
    if (verb === 'reset' || verb === 'requests.clear') this.#forgetExchanges()
    await this.#quietly(() => Promise.all([this.#readState(), this.#readReports()]))
    if (done !== undefined) this.#tell(done, UNDOABLE.has(verb) ? space : undefined)
    return answer
  }

  /** Takes back what the toast is about. */
  async undo(): Promise<void> {
    const { toast } = this.store.get()
    if (toast === undefined) return
    this.#dropToast()
    try {
      await this.#lockedIfAsked(() => callVerb('undo', toast.space))
      this.announce('It is as before.')
      // All of it may have changed.
      if (toast.space === this.store.get().space) void this.#stayConnected()
      else this.showSpace(toast.space)
    } catch (error) {
      this.store.set({ notice: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Sends the request of an exchange again, and shows the new one. */
  async replay(id: number, change: Omit<VerbInput<'requests.replay'>, 'id'> = {}): Promise<void> {
    const again = await this.call('requests.replay', { id, ...change }, 'The request was sent again.')
    if (again.space !== this.store.get().space) return
    this.#take(again)
    this.select(again)
  }

  /** Opens the next exchange of the list, or the one before; the first if none is open. */
  step(by: 1 | -1): void {
    const { filter, selected } = this.store.get()
    const shown = filterExchanges(this.exchanges.newestFirst(), filter)
    const at = shown.findIndex(({ id }) => id === selected?.id)
    const next = shown[at === -1 ? 0 : Math.max(0, Math.min(shown.length - 1, at + by))]
    if (next !== undefined) this.select(next)
  }

  /** Opens a form in which the request of an exchange can be changed before it is sent again. */
  edit(editing: Exchange | undefined): void {
    this.store.set({ editing })
  }

  /** Opens the form for a fault of an operation. */
  makeFail(operation: string): void {
    this.store.set({ faultDraft: { operation, times: this.store.get().faultDraft.times + 1 } })
    this.showTab('break', 'faults')
  }

  /** @param section to go to in it */
  showTab(tab: Tab, section?: string): void {
    this.store.set({ tab })
    this.#writePlace()
    if (section !== undefined)
      requestAnimationFrame(() => {
        const place = document.getElementById(section)
        place?.scrollIntoView({ block: 'nearest' })
        place?.querySelector<HTMLElement>('select, input, button')?.focus({ preventScroll: true })
      })
    // What was not in sight was not read; now it is waited for.
    void this.#quietly(() => this.#readReports())
  }

  showZone(zone: Zone): void {
    keepZone(zone)
    this.store.set({ zone })
  }

  showSpace(space: string): void {
    if (space !== this.store.get().space) this.#turnTo(space)
  }

  /** Opens a space if it is not there, and shows it. */
  async openSpace(space: string): Promise<void> {
    try {
      // Any change opens it, also one of nothing.
      await this.#lockedIfAsked(() => callVerb('settings.change', space))
      this.showSpace(space)
    } catch (error) {
      this.store.set({ notice: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Goes where the page's address says. */
  goTo({ space, filter, exchange, tab }: PagePlace): void {
    this.filter(filter)
    this.store.set({ tab })
    this.showSpace(space)
    this.store.set({ wanted: exchange })
    this.#openWanted()
  }

  /** Keeps a token that was entered, and tries with it. */
  enterToken(token: string): void {
    keepControlToken(token)
    this.store.set({ connection: 'connecting' })
    void this.#stayConnected()
  }

  async removeSpace(name: string): Promise<void> {
    await this.#lockedIfAsked(() => callVerb('spaces.remove', '', { name }))
    if (name === this.store.get().space) this.#turnTo('')
    else await this.#quietly(() => this.#readReports())
    this.#tell(`The space ${name} is removed.`, name)
  }

  announce(announcement: string): void {
    this.store.set({ announcement })
  }

  dismissNotice(): void {
    this.store.set({ notice: '' })
  }

  select(exchange: Exchange | undefined): void {
    this.store.set({ selected: exchange, wanted: undefined })
    this.#writePlace()
  }

  /** Opens the exchange that the address names, if it is there. */
  #openWanted(): void {
    const { wanted } = this.store.get()
    if (wanted === undefined) return
    const selected = this.exchanges.get(wanted)
    if (selected !== undefined) this.store.set({ selected, wanted: undefined })
  }

  #tell(text: string, undoIn: string | undefined): void {
    this.announce(text)
    if (undoIn === undefined) return
    clearTimeout(this.#toastTimer)
    this.store.set({ toast: { text, space: undoIn } })
    this.#toastTimer = setTimeout(() => this.#dropToast(), TOAST_MS)
  }

  #dropToast(): void {
    clearTimeout(this.#toastTimer)
    this.store.set({ toast: undefined })
  }

  filter(filter: DashboardState['filter']): void {
    this.store.set({ filter })
    this.#writePlace()
  }

  /** Adds a word to the filter, or takes it away if it is there. */
  toggleWord(word: string): void {
    const { filter } = this.store.get()
    this.filter({ ...filter, text: toggleWord(filter.text, word) })
  }

  async showMorePets(petsWanted: number): Promise<void> {
    this.store.set({ petsWanted })
    await this.#quietly(() => this.#readReports())
  }

  #turnTo(space: string, notice = ''): void {
    this.#forgetExchanges()
    this.store.set({ ...turnTo(space), notice })
    this.#writePlace()
    void this.#stayConnected()
  }

  async #stayConnected(): Promise<void> {
    this.#connected.abort()
    this.#connected = new AbortController()
    const { signal } = this.#connected
    while (!signal.aborted) {
      try {
        await this.#connect(signal)
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof TokenNeeded) {
          this.store.set({ connection: 'locked' })
          return
        }
      }
      if (signal.aborted) return
      await this.#lose(signal)
    }
  }

  /** Follows a space until the stream ends. */
  async #connect(signal: AbortSignal): Promise<void> {
    const { space } = this.store.get()
    const stream = await followExchanges(space, signal)
    const [exchanges, scenarios, operations] = await Promise.all([
      callVerb('requests.list', space, { limit: EXCHANGES_KEPT }),
      callVerb('scenario.list', space),
      operationsServed(),
      // What is reported depends on what there is.
      this.#readState().then(() => this.#readReports()),
    ])
    if (signal.aborted) return
    this.#forgetExchanges()
    for (const exchange of exchanges) this.#take(exchange)
    this.store.set({ connection: 'live', scenarios, operations })
    this.#openWanted()
    for await (const events of stream) {
      if (signal.aborted) return
      for (const { event, data } of events) {
        if (event === 'began' || event === 'ended') this.#take(JSON.parse(data))
        else if (event === 'verb') this.#takeEvent(JSON.parse(data))
        else if (event === 'dropped')
          this.store.set({ missed: this.store.get().missed + Number(JSON.parse(data).count) })
      }
      if (events.length > 0) {
        this.#state.ask()
        this.#reports.ask()
      }
    }
  }

  /** The stream has ended: the sandbox went away, or the space did. */
  async #lose(signal: AbortSignal): Promise<void> {
    const { space, connection } = this.store.get()
    const spaces = space === '' ? undefined : await callVerb('spaces.list', '').catch(() => undefined)
    if (signal.aborted) return
    if (spaces !== undefined && !spaces.some(({ name }) => name === space)) {
      const why =
        connection === 'connecting' ? `There is no space "${space}".` : `The space "${space}" has been removed.`
      this.#turnTo('', `${why} This is the default one.`)
      return
    }
    this.store.set({ connection: 'lost' })
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
  }

  #take(exchange: Exchange): void {
    const taken = this.exchanges.add(exchange)
    if (taken === 'known') return
    if (taken === 'restarted') this.tally.clear()
    if (exchange.ended !== null) this.tally.add(exchange)
    else RECEIVED_AT.set(exchange, performance.now())
    if (taken === 'ended' && this.store.get().selected?.id === exchange.id) this.store.set({ selected: exchange })
    this.#showSoon()
  }

  /** A storm that ends by itself is no verb of anybody's. */
  #lookAtStorm(storm: StormView | null, now: number): void {
    const end = storm === null || storm.every !== null ? undefined : endOf(storm)
    const ended = this.#stormEnd
    this.#stormEnd = end !== undefined && end > now ? end : undefined
    if (ended !== undefined && ended === end && this.#stormEnd === undefined) this.#takeEnd(end)
  }

  /** The end of a storm, which is noticed later, stands where it was. */
  #takeEnd(end: number): void {
    const at = new Date(end).toISOString()
    const afterId = this.exchanges.newestFirst().find((exchange) => Date.parse(exchange.at) <= end)?.id ?? 0
    const isEarlier = (event: TimelineEvent) =>
      event.afterId < afterId || (event.afterId === afterId && Date.parse(event.at) <= end)
    const index = this.events.findIndex(isEarlier)
    const told = { at, verb: 'storm.over', text: 'the storm is over', afterId, number: this.#eventNumber++ }
    this.#place(told, index === -1 ? this.events.length : index)
  }

  #place(event: TimelineEvent, index: number): void {
    this.events = this.events.toSpliced(index, 0, event).slice(0, EVENTS_KEPT)
    this.#showSoon()
  }

  #takeEvent(event: SpaceEvent): void {
    const { at, verb, text } = event
    const told: TimelineEvent = { at, verb, text, afterId: this.exchanges.highestId, number: this.#eventNumber++ }
    this.#place(told, 0)
  }

  #forgetExchanges(): void {
    this.exchanges.clear()
    this.events = []
    this.tally.clear()
    this.#showSoon()
  }

  /** Many exchanges are shown at once, in a frame of their own. */
  #showSoon(): void {
    if (this.#showing !== undefined) return
    this.#showing = setTimeout(() => {
      requestAnimationFrame(() => {
        this.#showing = undefined
        this.store.set({ revision: this.store.get().revision + 1 })
      })
    }, SHOW_EVERY_MS)
  }

  async #readState(): Promise<void> {
    const { space } = this.store.get()
    const seen = this.exchanges.highestId
    const { clock, ...state } = await callVerb('state', space)
    if (this.store.get().space !== space) return
    // Fewer than were seen before it was asked: somebody has cleared the log.
    if (state.counts.requests < seen) this.#forgetExchanges()
    this.#lookAtStorm(state.storm, Date.parse(clock.now))
    this.store.set({ state: keepSame(this.store.get().state, state), clock: hearClock(clock, performance.now()) })
  }

  async #readReports(): Promise<void> {
    const { space, petsWanted, tab, state } = this.store.get()
    const isData = tab === 'data'
    const [pets, spaces, snapshots, replicas, conduct, drift] = await Promise.all([
      // What is not in sight is not read.
      isData ? callVerb('pets.list', space, { limit: petsWanted }) : undefined,
      callVerb('spaces.list', space),
      isData ? callVerb('snapshots.list', space) : [],
      isData ? callVerb('replicas', '') : undefined,
      callVerb('conduct', space),
      state?.upstream ? callVerb('drift', space) : undefined,
    ])
    const before = this.store.get()
    if (before.space !== space) return
    this.store.set({
      pets: pets === undefined ? before.pets : olderIfSame(before.pets, pets),
      spaces: olderIfSame(before.spaces, spaces),
      replicas: replicas === undefined ? before.replicas : olderIfSame(before.replicas, replicas),
      snapshots: isData
        ? olderIfSame(
            before.snapshots,
            snapshots.map(({ name }) => name),
          )
        : before.snapshots,
      conduct: keepSame(before.conduct, conduct),
      drift: drift === undefined ? undefined : keepSame(before.drift, drift),
    })
  }

  /** Ignores errors: reads are repeated, and a failure shows in the connection. */
  async #quietly(read: () => Promise<unknown>): Promise<void> {
    await this.#lockedIfAsked(read).catch(() => undefined)
  }

  async #lockedIfAsked<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      if (error instanceof TokenNeeded) {
        this.#connected.abort()
        this.store.set({ connection: 'locked' })
      }
      throw error
    }
  }

  #writePlace(): void {
    const { pathname, search } = location
    const { space, filter, selected, wanted, tab } = this.store.get()
    const place = writePlace({ space, filter, exchange: selected?.id ?? wanted, tab })
    history.replaceState(null, '', pathname + search + place)
  }
}

function endOf({ startedAt, for: length }: StormView): number | undefined {
  const lasts = length === null ? undefined : parseDuration(length)
  return lasts === undefined ? undefined : Date.parse(startedAt) + lasts
}

/** When the page heard of an exchange under way, so that it can tell how long it has been. */
const RECEIVED_AT = new WeakMap<Exchange, number>()

/** How long an exchange has taken by now, in milliseconds. */
export function durationNow(exchange: Exchange): number {
  const { ended, durationMs } = exchange
  if (ended !== null) return durationMs
  const now = performance.now()
  return durationMs + now - (RECEIVED_AT.get(exchange) ?? now)
}
