import type { OptionalInput, VerbInput, VerbName, VerbOutput } from '../../control/verb-map.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { keepControlToken } from '../control-token.js'
import { callVerb, followExchanges, operationIds, TokenNeeded } from './api.js'
import { type DashboardState, keepSame, newState, olderIfSame, turnTo } from './dashboard-state.js'
import { EXCHANGES_KEPT, ExchangeRing } from './exchange-ring.js'
import { hearClock } from './local-clock.js'
import { type PagePlace, writePlace } from './page-address.js'
import { Observable } from './store.js'
import { Throttle } from './throttle.js'
import { TrafficTally } from './traffic-tally.js'

/** Exchanges are shown so often at most; more would only flicker. */
const SHOW_EVERY_MS = 100
/** State, and what else exchanges change, is read so often at most while they come. */
const STATE_PAUSE_MS = 500
const REPORT_PAUSE_MS = 1500
/** Others may control the same sandbox, which no stream reports. */
const LOOK_AGAIN_MS = 5000
const TRY_AGAIN_MS = 1000

/** The page's connection to its sandbox: reads, follows, reconnects, and calls verbs. */
export class Session {
  readonly store: Observable<DashboardState>
  readonly exchanges = new ExchangeRing()
  readonly tally = new TrafficTally()
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
    if (done !== undefined) this.announce(done)
    return answer
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
  goTo({ space, filter }: PagePlace): void {
    this.filter(filter)
    this.showSpace(space)
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
    this.announce(`The space ${name} is removed.`)
  }

  announce(announcement: string): void {
    this.store.set({ announcement })
  }

  dismissNotice(): void {
    this.store.set({ notice: '' })
  }

  select(exchange: Exchange | undefined): void {
    this.store.set({ selected: exchange })
  }

  filter(filter: DashboardState['filter']): void {
    this.store.set({ filter })
    this.#writePlace()
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
      operationIds(),
      this.#readState(),
      this.#readReports(),
    ])
    if (signal.aborted) return
    this.#forgetExchanges()
    for (const exchange of exchanges) this.#take(exchange)
    this.store.set({ connection: 'live', scenarios, operations })
    for await (const events of stream) {
      if (signal.aborted) return
      for (const { event, data } of events) {
        if (event === 'began' || event === 'ended') this.#take(JSON.parse(data))
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
    if (taken === 'ended' && this.store.get().selected?.id === exchange.id) this.store.set({ selected: exchange })
    this.#showSoon()
  }

  #forgetExchanges(): void {
    this.exchanges.clear()
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
    this.store.set({ state: keepSame(this.store.get().state, state), clock: hearClock(clock, performance.now()) })
  }

  async #readReports(): Promise<void> {
    const { space, petsWanted } = this.store.get()
    const [pets, spaces, snapshots, conduct] = await Promise.all([
      callVerb('pets.list', space, { limit: petsWanted }),
      callVerb('spaces.list', space),
      callVerb('snapshots.list', space),
      callVerb('conduct', space),
    ])
    const before = this.store.get()
    if (before.space !== space) return
    this.store.set({
      pets: olderIfSame(before.pets, pets),
      spaces: olderIfSame(before.spaces, spaces),
      snapshots: olderIfSame(
        before.snapshots,
        snapshots.map(({ name }) => name),
      ),
      conduct: keepSame(before.conduct, conduct),
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
    history.replaceState(null, '', pathname + search + writePlace(this.store.get()))
  }
}
