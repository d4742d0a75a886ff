import { ConductLedger, type SavedConduct } from '../conduct/conduct-ledger.js'
import type { Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'
import { type BanRecord, banFor, keptBanRecord, NO_BAN_RECORD } from '../domain/ban.js'
import type { Account } from '../domain/callers.js'
import { type ClockState, clockAt, REAL_TIME, readClock } from '../domain/clock.js'
import { type ArmedFault, armFault, type FaultRule, keptFaults, revivedFaults, takeFault } from '../domain/faults.js'
import { type ApiKey, DEFAULT_KEY, labelOf, PLAN_NAMES, type PlanName, startPlan } from '../domain/keys.js'
import { followingPetId } from '../domain/pet-ids.js'
import type { Pet } from '../domain/pets.js'
import type { Limits, QuotaUsage } from '../domain/quota.js'
import type { Settings } from '../domain/settings.js'
import { SNAPSHOT_VERSION, type Snapshot } from '../domain/snapshot.js'
import type { SpaceStart } from '../domain/space-start.js'
import type { Change, SpaceState } from '../domain/state.js'
import type { RunningStorm, Storm } from '../domain/storm.js'
import type { DurationMs, EpochMs } from '../domain/time.js'
import { DriftLedger, type SavedDrift } from '../drift/ledger.js'
import { ExchangeLog, type SavedLog } from '../exchanges/exchange-log.js'
import { Accounts } from './accounts.js'
import { memoryNeeded } from './memory-needed.js'
import { PetCatalogue, type PetsOfSpace } from './pet-catalogue.js'
import { PlanBook, planLimits } from './plan-book.js'
import type { Store } from './ports.js'
import { openStreams, type RandomStreams, statesOf, streamsAt } from './random-streams.js'
import { accountsIn, plansIn } from './snapshot.js'
import type { SpaceContext } from './space-context.js'

/** What a key has in a space, as plain data. */
export interface KeyHolding extends Account {
  /** The one that it was moved to, if it was. */
  readonly plan: PlanName | null
}

/** A space as plain data. */
export interface SavedSpace extends Pick<Snapshot, 'settings' | 'storm' | 'faults' | 'dice'> {
  readonly name: string
  readonly state: Omit<SpaceState, 'keys'>
  readonly clock: ClockState
  readonly startClock: ClockState
  /** By key. */
  readonly plans: readonly (readonly [string, PlanName])[]
  readonly accounts: readonly ({ readonly kind: 'key' | 'stranger'; readonly name: string } & Account)[]
  readonly heldBytes: number
  readonly log: SavedLog
  readonly conduct: SavedConduct
  readonly drift: SavedDrift
  readonly snapshots: readonly (readonly [string, Snapshot])[]
}

/** What decides the answers of a space and is no data, as plain data. */
export interface Switches extends Pick<SavedSpace, 'settings' | 'clock' | 'storm' | 'faults' | 'plans'> {
  /** By key. */
  readonly bans: readonly (readonly [string, BanRecord])[]
}

/** The places of a space where its state is, for the space itself. */
type Own<T> = { -readonly [Field in keyof T]: T[Field] }

/**
 * One isolated space: everything that a request can see or change.
 *
 * It changes by its named transitions only. Each keeps what must hold after it
 * (a clock that goes back forgets what is undone), and gives what must outlive the
 * process to the store first. The order of the service's rules is in gates.ts.
 */
export class Space {
  readonly name: string
  readonly shared: SpaceContext
  readonly #store: Store | undefined
  readonly log: ExchangeLog
  /** The state that a reset returns to. */
  #seed: SpaceState
  #conduct: ConductLedger
  #drift = new DriftLedger()
  #accounts = new Accounts()
  #settings: Settings
  #clock: ClockState = REAL_TIME
  /** What the clock was set to when it began: moved is what is not there any more. */
  #startClock: ClockState = REAL_TIME
  #storm: RunningStorm | undefined
  #faults: readonly ArmedFault[] = []
  /** Plans that keys were moved to in this space. */
  readonly #plans: PlanBook
  #randomStreams: RandomStreams
  #pets: PetCatalogue
  #nextPetId: Int64
  /** The orders, and their JSON. */
  #orders: readonly unknown[]
  #ordersText: string
  /** Those that are not kept outside. */
  readonly #snapshots = new Map<string, Snapshot>()
  /** What it holds of the memory beyond its seed, while nothing is stored. */
  #heldBytes = 0

  /**
   * @param name  empty for the default space
   * @param seed  the state it starts from, and that a reset returns to
   * @param state what was stored, if anything was
   * @param store where changes are kept; in memory only without one
   * @param wall  what the wall clock says
   */
  constructor(
    name: string,
    shared: SpaceContext,
    wall: EpochMs,
    seed: SpaceState,
    state: SpaceState = seed,
    store?: Store,
  ) {
    this.name = name
    this.#seed = seed
    this.shared = shared
    this.#store = store
    this.log = new ExchangeLog(shared.logLimit, shared.logBudget)
    if (shared.onExchange !== undefined) this.log.follow({ onEnded: shared.onExchange, end() {} })
    this.#plans = new PlanBook(shared.contract)
    this.#conduct = this.#openConduct()
    this.#settings = shared.start.settings
    this.#randomStreams = openStreams(this.shared.seed, this.name)
    this.#pets = new PetCatalogue(state.pets)
    this.#nextPetId = state.nextPetId
    this.#orders = state.orders
    this.#ordersText = stringifyJson(state.orders)
    this.#begin(wall)
  }

  // What it is.

  /** Every key that is valid. */
  get keys(): ReadonlyMap<string, ApiKey> {
    return this.shared.keys.valid
  }

  get anyKey(): boolean {
    return this.shared.anyKey
  }

  get conduct(): ConductLedger {
    return this.#conduct
  }

  /** How what the real service behind the sandbox answers drifts from the contract. */
  get drift(): DriftLedger {
    return this.#drift
  }

  /** How many senders may share a key for the same request at a time. A named space is one client's unless it says otherwise. */
  get senders(): number {
    return this.#settings.senders ?? (this.name === '' ? this.shared.senders : 1)
  }

  get accounts(): Accounts {
    return this.#accounts
  }

  get settings(): Settings {
    return this.#settings
  }

  get clock(): ClockState {
    return this.#clock
  }

  get startClock(): ClockState {
    return this.#startClock
  }

  get storm(): RunningStorm | undefined {
    return this.#storm
  }

  get faults(): readonly Readonly<ArmedFault>[] {
    return this.#faults
  }

  get pets(): PetsOfSpace {
    return this.#pets
  }

  get orders(): readonly unknown[] {
    return this.#orders
  }

  get ordersText(): string {
    return this.#ordersText
  }

  get seed(): SpaceState {
    return this.#seed
  }

  /** Named snapshots of a space that is in memory only; beside a store there is a place of their own for them. */
  get snapshots(): ReadonlyMap<string, Snapshot> {
    return this.#snapshots
  }

  /** The plans that keys were moved to in this space, by key. The plan of the key `sandbox` is a setting. */
  get plans(): ReadonlyMap<string, PlanName> {
    return this.#plans.moved
  }

  /** What the space's clock shows. */
  now(wall: EpochMs): EpochMs {
    return readClock(this.#clock, wall)
  }

  /** What outlives the process. */
  state(): SpaceState {
    return {
      nextPetId: this.#nextPetId,
      pets: this.#pets.pets(),
      orders: this.#orders,
      keys: this.storedKeys(),
    }
  }

  /** The keys that outlive the process, each on its plan in this space, or on another one of `plans`. */
  storedKeys(plans: ReadonlyMap<string, PlanName> = this.plans): readonly ApiKey[] {
    return [...this.shared.keys.stored.values()].map((apiKey) => {
      const plan = plans.get(apiKey.key)
      return plan === undefined ? apiKey : { ...apiKey, plan }
    })
  }

  planOf(apiKey: ApiKey): PlanName {
    return this.#plans.planOf(apiKey, this.#settings)
  }

  /** Called for every request. */
  limitsOf(apiKey: ApiKey): Limits {
    return this.#plans.limitsOf(apiKey, this.#settings)
  }

  /** Limits of a plan; for "custom", the sandbox's own choice. */
  planLimits(plan: PlanName): Limits {
    return planLimits(this.shared.contract, plan)
  }

  /** A key by its label, or by itself. */
  findKey(name: string): ApiKey | undefined {
    return this.keys.get(name) ?? [...this.keys.values()].find((apiKey) => labelOf(apiKey) === name)
  }

  /** How a key is shown; undefined where there is none. */
  labelOfKey(key: string): string | undefined {
    const apiKey = this.keys.get(key)
    return apiKey && labelOf(apiKey)
  }

  // Its pets.

  /**
   * Adds a new pet, with the next id.
   *
   * @param make makes the pet of its id; it may throw
   * @throws StoreFull
   */
  addPet(make: (id: Int64) => Pet): Pet {
    const before = this.#nextPetId
    let id = before
    while (this.#pets.has(id)) id = followingPetId(id)
    const pet = make(id)
    this.#keep({ kind: 'pet', pet }, () => {
      this.#pets.remove(id)
      this.#nextPetId = before
    })
    this.#nextPetId = followingPetId(id)
    this.#pets.put(pet)
    return pet
  }

  /** Changes a pet that is there. @throws StoreFull */
  changePet(pet: Pet): void {
    const before = this.#pets.get(pet.id)
    if (before === undefined) throw new RangeError(`There is no pet ${pet.id}.`)
    this.#keep({ kind: 'pet', pet }, () => this.#pets.put(before))
    this.#pets.put(pet)
  }

  /** Removes a pet that is there; its id is not given again. */
  removePet(id: Int64): void {
    let putBack = () => {}
    this.#keep({ kind: 'pet-removed', id }, () => putBack())
    putBack = this.#pets.remove(id)
  }

  /** Puts back a pet that was removed. @param rank how many stood before it */
  returnPet(pet: Pet, rank: number): void {
    const pets = this.#pets.pets().toSpliced(rank, 0, pet)
    const before = this.#pets
    this.#keep({ kind: 'replaced', state: { ...this.state(), pets } }, () => {
      this.#pets = before
    })
    this.#pets = new PetCatalogue(pets)
  }

  // Its clock, switches and chance.

  /**
   * Sets the clock. If it goes back, whatever began in the time that is undone is
   * over, and does not return when the clock reaches that time again.
   *
   * @source docs/behaviour.md, "The clock"
   */
  setClock(clock: ClockState, wall: EpochMs): void {
    const before = this.now(wall)
    this.#clock = clock
    const now = this.now(wall)
    if (now >= before) return
    this.#accounts.forgetFuture(now)
    this.#conduct.forgetFuture(now)
    if (this.#storm !== undefined && this.#storm.startedAt > now) this.#storm = undefined
  }

  changeSettings(settings: Settings): void {
    this.#settings = settings
  }

  startStorm(storm: Storm, now: EpochMs): RunningStorm {
    this.#storm = { ...storm, startedAt: now }
    return this.#storm
  }

  stopStorm(): void {
    this.#storm = undefined
  }

  setFaults(rules: readonly FaultRule[]): void {
    this.#faults = rules.map(armFault)
  }

  addFault(rule: FaultRule): void {
    this.#faults = [...this.#faults, armFault(rule)]
  }

  /** Draws the fault that hits an operation, if any does, and counts it. */
  takeFault(operation: string): FaultRule | undefined {
    return takeFault(this.#faults, operation, () => this.#randomStreams.faults.next())
  }

  /** Draws whether a storm of a rate refuses a request. */
  isInStorm(rate: number): boolean {
    return this.#randomStreams.storm.next() < rate
  }

  /** Draws how long an answer is held back, in milliseconds. */
  drawDelay(): number {
    const { latency } = this.#settings
    if (latency === undefined) return 0
    return latency.min + Math.floor(this.#randomStreams.latency.next() * (latency.max - latency.min + 1))
  }

  // Its keys, their quotas and bans.

  chargeQuota(account: Account, usage: QuotaUsage): void {
    const own: Own<Account> = account
    own.usage = usage
  }

  setBans(account: Account, bans: BanRecord): void {
    const own: Own<Account> = account
    own.bans = bans
  }

  /** Bans a key from an instant on. */
  banKey(key: string, duration: DurationMs, now: EpochMs): void {
    this.setBans(this.#accounts.ofKey(key), banFor(duration, now))
  }

  unbanKey(key: string): void {
    this.setBans(this.#accounts.ofKey(key), NO_BAN_RECORD)
  }

  /** Moves a key to another plan. @throws StoreFull */
  movePlan(apiKey: ApiKey, plan: PlanName): void {
    if (apiKey.key === DEFAULT_KEY) {
      // The plan of the key `sandbox` is a setting, so that a reset restores it.
      this.changeSettings({ ...this.#settings, plan })
      return
    }
    const before = this.plans
    if (this.shared.keys.stored.has(apiKey.key))
      this.#keep({ kind: 'key', key: { ...apiKey, plan } }, () => {
        this.#plans.moved = before
      })
    this.#plans.moved = new Map(before).set(apiKey.key, plan)
  }

  /** Opens the windows of keys as if this many requests had been charged at an instant; other windows stay. */
  useUp(used: SpaceStart['used'], openedAt: EpochMs): void {
    for (const [name, { perMinute, perDay }] of Object.entries(used)) {
      const account = this.#accounts.ofKey(this.findKey(name)?.key ?? name)
      this.chargeQuota(account, {
        ...account.usage,
        ...(perMinute === undefined ? {} : { minute: { openedAt, used: perMinute } }),
        ...(perDay === undefined ? {} : { day: { openedAt, used: perDay } }),
      })
    }
  }

  /** Bans keys, by label or key, from an instant on. */
  banKeys(bans: SpaceStart['bans'], now: EpochMs): void {
    for (const [name, duration] of Object.entries(bans)) this.banKey(this.findKey(name)?.key ?? name, duration, now)
  }

  /** Gives a change of the sandbox's keys to the store; the default space keeps them for all. @throws StoreFull */
  keepKeys(change: Change & { readonly kind: 'key' | 'key-removed' }, undo: () => void): void {
    this.#keep(change, undo)
  }

  /** What a key has here. */
  holdingOf(key: string): KeyHolding {
    const { usage, bans } = this.#accounts.view(key)
    return { usage, bans, plan: this.plans.get(key) ?? null }
  }

  /** Gives a key what it had. */
  giveBack(key: string, { usage, bans, plan }: KeyHolding): void {
    this.#accounts.set('key', key, { usage, bans })
    if (plan !== null) this.#plans.moved = new Map(this.plans).set(key, plan)
  }

  /** Forgets plan, usage and ban of a key that it turns out never was one. */
  disown(key: string): void {
    this.#accounts.forget(key)
    this.#plans.forget([key])
  }

  /** Forgets plan, usage and bans of keys that are none any more. @returns takes it back */
  forgetKeys(gone: readonly string[]): () => void {
    const accounts = this.#accounts
    const plans = this.plans
    const left = accounts.without(gone)
    this.#accounts = left
    this.#plans.forget(gone)
    const leftPlans = this.plans
    return () => {
      // A space that was reset or restored since has its own.
      if (this.#accounts === left) {
        for (const { kind, name, account } of left.entries()) accounts.set(kind, name, account)
        this.#accounts = accounts
      }
      if (this.plans === leftPlans) this.#plans.moved = plans
    }
  }

  // All of it.

  /**
   * Back to the start: fixtures, settings, plans, quotas, bans, storm, faults, clock, chance, log, conduct.
   *
   * @param undo takes back what else is done with it, first of all
   */
  restart(wall: EpochMs, undo: () => void = () => {}): void {
    const back = this.#memento()
    let unclear = () => {}
    this.#keep({ kind: 'replaced', state: this.#seed }, () => {
      undo()
      back()
      unclear()
    })
    this.shared.onForget(this)
    this.#replaceState(this.#seed)
    this.#plans.moved = new Map()
    this.#settings = this.shared.start.settings
    this.#randomStreams = openStreams(this.shared.seed, this.name)
    this.#accounts = new Accounts()
    this.#conduct = this.#openConduct()
    this.#drift = new DriftLedger()
    unclear = this.log.clear()
    this.#begin(wall)
  }

  /** What a reset returns to from now on. */
  reseed(seed: SpaceState): void {
    this.#seed = seed
  }

  /**
   * Restores what a snapshot holds, including the clock.
   *
   * Keys belong to the sandbox: one added since is still there, one removed is not. Their plans and bans are restored.
   *
   * @source docs/state.md, "Snapshots"
   */
  restore(snapshot: Snapshot, wall: EpochMs): void {
    const find = (name: string) => this.findKey(name)?.key
    const plans = plansIn(snapshot, find)
    const state = { ...snapshot.state, keys: this.storedKeys(plans) }
    this.#keep({ kind: 'replaced', state }, this.#memento())
    this.#replaceState(state)
    this.#plans.moved = plans
    this.#settings = snapshot.settings
    // First, or what the clock makes forget were taken from the accounts that an undo brings back.
    this.#accounts = accountsIn(snapshot, find, wall)
    this.setClock(clockAt(snapshot.clock.now, snapshot.clock.frozen, wall), wall)
    this.#storm = snapshot.storm ?? undefined
    this.#faults = revivedFaults(snapshot.faults)
    this.#randomStreams = streamsAt(snapshot.dice)
  }

  /**
   * Back to what it was before a reset, or before it was removed: all of it. What has come since keeps its place in the
   * log behind what was there before.
   *
   * @param undo takes back what else is done with it, first of all
   */
  bringBack(saved: SavedSpace, undo: () => void = () => {}): void {
    const back = this.#memento()
    const state = { ...saved.state, keys: this.storedKeys(new Map(saved.plans)) }
    this.#keep({ kind: 'replaced', state }, () => {
      undo()
      back()
    })
    if (saved.conduct.requests > 0) this.shared.onRecall()
    this.shared.onForget(this)
    this.#take({ ...saved, heldBytes: this.#heldBytes })
    this.log.bringBack(saved.log)
    for (const [name, snapshot] of saved.snapshots) if (!this.#snapshots.has(name)) this.#snapshots.set(name, snapshot)
  }

  /** Its switches as they are. */
  switches(): Switches {
    const { settings, clock, storm, faults, plans } = this
    const keys = [...this.#accounts.entries()].filter(({ kind }) => kind === 'key')
    return {
      settings,
      clock,
      storm: storm ?? null,
      faults: keptFaults(faults),
      plans: [...plans],
      bans: keys.map(({ name, account: { bans } }) => [name, bans] as const),
    }
  }

  /** Sets all switches as they were. Pets, quotas and log stay as they are. @throws StoreFull */
  turnBack({ settings, clock, storm, faults, plans, bans }: Switches, wall: EpochMs): void {
    const before = new Map(plans)
    for (const apiKey of this.keys.values()) {
      const plan = before.get(apiKey.key) ?? startPlan(apiKey)
      if (apiKey.key !== DEFAULT_KEY && this.planOf(apiKey) !== plan) this.movePlan(apiKey, plan)
    }
    this.setClock(clock, wall)
    this.#settings = settings
    this.#storm = storm ?? undefined
    this.#faults = revivedFaults(faults)
    for (const [key, record] of bans) if (this.keys.has(key)) this.setBans(this.#accounts.ofKey(key), record)
  }

  /** Everything that decides its next answers. Of a key that may be a secret it holds only the label. */
  snapshot(wall: EpochMs): Snapshot {
    const now = this.now(wall)
    return {
      version: SNAPSHOT_VERSION,
      state: this.state(),
      settings: this.#settings,
      clock: { now, frozen: this.#clock.kind === 'frozen' },
      storm: this.#storm ?? null,
      faults: keptFaults(this.#faults),
      plans: [...this.plans].flatMap(([key, plan]) => {
        const name = this.labelOfKey(key)
        return name === undefined ? [] : [{ name, plan }]
      }),
      accounts: [...this.#accounts.entries()].flatMap(({ kind, name, account: { usage, bans } }) => {
        const shown = kind === 'key' ? this.labelOfKey(name) : name
        return shown === undefined ? [] : [{ kind, name: shown, usage, bans: keptBanRecord(bans, now, wall) }]
      }),
      dice: statesOf(this.#randomStreams),
    }
  }

  saveSnapshot(name: string, wall: EpochMs): void {
    this.#snapshots.set(name, this.snapshot(wall))
  }

  /** @returns whether there was one */
  removeSnapshot(name: string): boolean {
    return this.#snapshots.delete(name)
  }

  /** All of it as plain data, for a checkpoint. Unlike a snapshot it has the keys themselves, log and conduct. */
  save(): SavedSpace {
    return {
      name: this.name,
      state: { nextPetId: this.#nextPetId, pets: this.#pets.pets(), orders: this.#orders },
      settings: this.#settings,
      clock: this.#clock,
      startClock: this.#startClock,
      storm: this.#storm ?? null,
      faults: keptFaults(this.#faults),
      plans: [...this.plans],
      accounts: [...this.#accounts.entries()].map(({ kind, name, account: { usage, bans } }) => ({
        kind,
        name,
        usage,
        bans,
      })),
      dice: statesOf(this.#randomStreams),
      heldBytes: this.#heldBytes,
      log: this.log.save(),
      conduct: this.#conduct.save(),
      drift: this.#drift.save(),
      snapshots: [...this.#snapshots],
    }
  }

  /** Goes on from what another space of the same name has saved; only for a new one. */
  load(saved: SavedSpace): void {
    this.#take(saved)
    this.log.load(saved.log)
    this.#snapshots.clear()
    for (const [name, snapshot] of saved.snapshots) this.#snapshots.set(name, snapshot)
  }

  /** Takes all but log and snapshots from what was saved. */
  #take(saved: SavedSpace): void {
    this.#replaceState({ ...saved.state, keys: [] })
    this.#plans.moved = new Map(saved.plans)
    this.#settings = saved.settings
    this.#clock = saved.clock
    this.#startClock = saved.startClock
    this.#storm = saved.storm ?? undefined
    this.#faults = revivedFaults(saved.faults)
    this.#accounts = new Accounts()
    for (const { kind, name, usage, bans } of saved.accounts) this.#accounts.set(kind, name, { usage, bans })
    this.#randomStreams = streamsAt(saved.dice)
    this.#heldBytes = saved.heldBytes
    this.#conduct = this.#openConduct()
    this.#conduct.restore(saved.conduct)
    this.#drift.restore(saved.drift)
  }

  /** The space is gone: what it held is free. */
  close(): void {
    this.log.close()
    this.shared.memoryRoom.book(-this.#heldBytes)
    this.#heldBytes = 0
  }

  /**
   * Gives a change to the store before it is made; or, where nothing is stored, books the memory that it takes.
   *
   * @throws StoreFull where there is no room for it
   */
  #keep(change: Change, undo: () => void): void {
    if (this.#store !== undefined) {
      this.#store.take(change, undo)
      return
    }
    const bytes = memoryNeeded(change, {
      pets: this.#pets,
      seed: this.#seed,
      keys: this.shared.keys.stored,
      hasKeys: this.name === '',
      heldBytes: this.#heldBytes,
    })
    this.shared.memoryRoom.book(bytes)
    this.#heldBytes += bytes
  }

  #replaceState(state: SpaceState): void {
    this.#pets = new PetCatalogue(state.pets)
    this.#nextPetId = state.nextPetId
    this.#orders = state.orders
    this.#ordersText = stringifyJson(state.orders)
  }

  /** Remembers everything but the log. @returns brings it back */
  #memento(): () => void {
    const pets = this.#pets
    const nextPetId = this.#nextPetId
    const orders = this.#orders
    const ordersText = this.#ordersText
    const plans = this.plans
    const settings = this.#settings
    const clock = this.#clock
    const startClock = this.#startClock
    const storm = this.#storm
    const faults = this.#faults
    const accounts = this.#accounts
    const conduct = this.#conduct
    const drift = this.#drift
    const randomStreams = this.#randomStreams
    return () => {
      this.#pets = pets
      this.#nextPetId = nextPetId
      this.#orders = orders
      this.#ordersText = ordersText
      this.#plans.moved = plans
      this.#settings = settings
      this.#clock = clock
      this.#startClock = startClock
      this.#storm = storm
      this.#faults = faults
      this.#accounts = accounts
      this.#conduct = conduct
      this.#drift = drift
      this.#randomStreams = randomStreams
    }
  }

  /**
   * Remembers all that a verb may change, but log and conduct; nothing where nothing is stored.
   *
   * @param undo takes back what else the verb does, first of all
   * @returns says that the verb is done: if changes of the same turn cannot be kept, it is taken back with them
   */
  remembering(undo: () => void): () => void {
    const store = this.#store
    if (store === undefined) return () => {}
    const back = this.#memento()
    const changedAccounts = this.#accounts.remembering()
    return () => {
      const backAccounts = changedAccounts()
      store.takeAlong(() => {
        // What has put others in their place takes that back by itself, with what they have been charged since.
        const accounts = this.#accounts
        undo()
        back()
        this.#accounts = accounts
        backAccounts()
      })
    }
  }

  #openConduct(): ConductLedger {
    return new ConductLedger(
      PLAN_NAMES.map((plan) => this.planLimits(plan)),
      this.shared.hide,
    )
  }

  /** Puts in force what starts differently than before. Clock, quotas and bans go on: they start anew with the next reset. */
  startAs(before: SpaceStart, start: SpaceStart, wall: EpochMs): void {
    const differs = (name: 'settings' | 'storm' | 'faults') =>
      stringifyJson(before[name] ?? null) !== stringifyJson(start[name] ?? null)
    if (differs('settings')) this.#settings = start.settings
    if (differs('storm')) this.#storm = start.storm && { ...start.storm, startedAt: this.now(wall) }
    if (differs('faults')) this.setFaults(start.faults)
  }

  #begin(wall: EpochMs): void {
    const { start } = this.shared
    this.#clock = start.now === undefined ? REAL_TIME : clockAt(start.now, start.freeze, wall)
    this.#startClock = this.#clock
    const now = this.now(wall)
    this.#storm = start.storm && { ...start.storm, startedAt: now }
    this.#faults = start.faults.map(armFault)
    this.useUp(start.used, now)
    this.banKeys(start.bans, now)
  }
}
