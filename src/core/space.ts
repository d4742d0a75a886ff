import { ConductLedger } from '../conduct/conduct-ledger.js'
import type { Contract } from '../contract/contract.js'
import type { ContractEngine } from '../contract/engine.js'
import type { Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'
import { banFor } from '../domain/ban.js'
import type { Account } from '../domain/callers.js'
import { type ClockState, clockAt, REAL_TIME, readClock } from '../domain/clock.js'
import { type ArmedFault, armFault } from '../domain/faults.js'
import { type ApiKey, DEFAULT_KEY, labelOf, PLAN_NAMES, type PlanName } from '../domain/keys.js'
import { followingPetId } from '../domain/pet-ids.js'
import { petText } from '../domain/pet-text.js'
import { CUSTOM_LIMITS, type Limits } from '../domain/quota.js'
import { type RandomStream, randomStream } from '../domain/random.js'
import type { ListOrder, Settings } from '../domain/settings.js'
import type { SpaceStart } from '../domain/space-start.js'
import type { Change, SpaceState } from '../domain/state.js'
import type { RunningStorm } from '../domain/storm.js'
import type { EpochMs } from '../domain/time.js'
import { ExchangeLog, type LogBudget } from '../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import type { SystemClock } from '../system/system-clock.js'
import { Accounts } from './accounts.js'
import type { Keyring } from './keyring.js'
import type { MemoryRoom } from './memory-room.js'
import { PetCatalogue } from './pet-catalogue.js'
import type { Store } from './ports.js'

/** What all spaces of a sandbox share. */
export interface SpaceContext {
  readonly contract: Contract
  /** Path under which the service is, `/v1`. */
  readonly basePath: string
  readonly systemClock: SystemClock
  /** How every space starts, and what a reset returns it to. */
  readonly start: SpaceStart
  readonly keys: Keyring
  /** Hides the keys that have a label in whatever is kept of a request; undefined where there are none. */
  readonly hide: ((text: string) => string) | undefined
  readonly anyKey: boolean
  readonly seed: number
  readonly order: ListOrder
  /** Whether made-up responses say why. */
  readonly reason: boolean
  readonly cors: '*' | readonly string[]
  readonly logLimit: number
  readonly logBudget: LogBudget
  readonly memoryRoom: MemoryRoom
  /** Check our own responses against the contract. */
  readonly strict: boolean
  readonly engine: ContractEngine
  warn(message: string): void
  onExchange(record: ExchangeRecord): void
  /** A space is about to forget what happened in it. */
  onForget(space: Space): void
}

/** A random stream for each purpose, so that changing one switch does not shift the draws of others. */
interface RandomStreams {
  readonly storm: RandomStream
  readonly faults: RandomStream
  readonly latency: RandomStream
}

/**
 * One isolated space: everything that a request can see or change.
 *
 * It holds state and answers questions about it; the order of the service's
 * rules is in gates.ts.
 */
export class Space {
  readonly name: string
  readonly shared: SpaceContext
  readonly store: Store | undefined
  readonly accounts = new Accounts()
  readonly log: ExchangeLog
  readonly conduct: ConductLedger
  settings: Settings
  clock: ClockState = REAL_TIME
  storm: RunningStorm | undefined
  faults: readonly ArmedFault[] = []
  /** The state that a reset returns to. */
  readonly seed: SpaceState
  /** Plans that keys were moved to in this space. */
  #plans: ReadonlyMap<string, PlanName> = new Map()
  randomStreams: RandomStreams
  pets: PetCatalogue
  nextPetId: Int64
  #nextAfterStored: Int64
  #unsettledIds = 0
  /** What it holds of the memory beyond its seed, while nothing is stored. */
  #heldBytes = 0
  #limits = new WeakMap<ApiKey, Limits>()
  #limitsUnder: Settings | undefined
  #turn: Promise<unknown> = Promise.resolve()
  /** The orders, and their JSON. */
  orders: readonly unknown[]
  ordersText: string

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
    this.seed = seed
    this.shared = shared
    this.store = store
    this.log = new ExchangeLog(shared.logLimit, shared.logBudget)
    this.conduct = new ConductLedger(
      PLAN_NAMES.map((plan) => this.planLimits(plan)),
      shared.hide,
    )
    this.settings = shared.start.settings
    this.randomStreams = this.#openStreams()
    this.pets = new PetCatalogue(state.pets)
    this.nextPetId = this.#nextAfterStored = state.nextPetId
    this.orders = state.orders
    this.ordersText = stringifyJson(state.orders)
    this.#begin(wall)
  }

  /**
   * Runs actions one after the other, so that an action that reads first and writes later
   * sees what earlier ones have written.
   */
  inTurn<T>(act: () => T | Promise<T>): Promise<T> {
    const done = this.#turn.then(act)
    this.#turn = done.catch(() => {})
    return done
  }

  /** Every key that is valid. */
  get keys(): ReadonlyMap<string, ApiKey> {
    return this.shared.keys.valid
  }

  get anyKey(): boolean {
    return this.shared.anyKey
  }

  /** What the space's clock shows. Whoever asks has read the wall clock, once, so that all that a request or a verb does has one instant. */
  now(wall: EpochMs): EpochMs {
    return readClock(this.clock, wall)
  }

  /**
   * Sets the clock. If it goes back, whatever began in the time that is undone is
   * over, and does not return when the clock reaches that time again.
   *
   * @source docs/behaviour.md, "The clock"
   */
  setClock(clock: ClockState, wall: EpochMs): void {
    const before = this.now(wall)
    this.clock = clock
    const now = this.now(wall)
    if (now >= before) return
    this.accounts.forgetFuture(now)
    this.conduct.forgetFuture(now)
    if (this.storm !== undefined && this.storm.startedAt > now) this.storm = undefined
  }

  /**
   * Writes a change; or, where nothing is stored, books the memory that it takes.
   *
   * @returns a promise that rejects when it could not be written; undefined in memory
   * @throws StoreFull in memory, for a change that needs more than there is
   */
  keep(change: Change): Promise<void> | undefined {
    if (this.store !== undefined) return this.store.append(change)
    const bytes = this.#bytesOf(change)
    this.shared.memoryRoom.book(bytes)
    this.#heldBytes += bytes
    return undefined
  }

  /** How many bytes a change adds to what is held. A pet, or a key, counts by its text. */
  #bytesOf(change: Change): number {
    switch (change.kind) {
      case 'pet':
        return petText(change.pet).length - this.#petBytes(change.pet.id)
      case 'pet-removed':
        return -this.#petBytes(change.id)
      case 'key':
        return change.key.key.length - (this.shared.keys.stored.get(change.key.key)?.key.length ?? 0)
      case 'key-removed':
        return -(this.shared.keys.stored.get(change.key)?.key.length ?? 0)
      case 'replaced': {
        const { pets, keys } = change.state
        const seeds = new Set(pets === this.seed.pets ? pets : this.seed.pets)
        const added = pets === this.seed.pets ? [] : pets.filter((pet) => !seeds.has(pet))
        const seedKeys = new Set(this.seed.keys.map(({ key }) => key))
        // The default space answers for the keys of all.
        const addedKeys = this.name === '' ? keys.filter(({ key }) => !seedKeys.has(key)) : []
        return (
          added.reduce((bytes, pet) => bytes + petText(pet).length, 0) +
          addedKeys.reduce((bytes, { key }) => bytes + key.length, 0) -
          this.#heldBytes
        )
      }
    }
  }

  #petBytes(id: Int64): number {
    const pet = this.pets.get(id)
    return pet === undefined ? 0 : petText(pet).length
  }

  /** The space is gone: what it held is free. */
  close(): void {
    this.log.close()
    this.shared.memoryRoom.book(-this.#heldBytes)
    this.#heldBytes = 0
  }

  /** What outlives the process. */
  state(): SpaceState {
    return {
      nextPetId: this.nextPetId,
      pets: this.pets.pets(),
      orders: this.orders,
      keys: this.storedKeys(),
    }
  }

  /** The keys that outlive the process, each on its plan in this space, or on another one of `plans`. */
  storedKeys(plans: ReadonlyMap<string, PlanName> = this.#plans): readonly ApiKey[] {
    return [...this.shared.keys.stored.values()].map((apiKey) => {
      const plan = plans.get(apiKey.key)
      return plan === undefined ? apiKey : { ...apiKey, plan }
    })
  }

  /** Replaces pets and orders. Keys, settings, quotas and the rest stay. */
  replaceState(state: SpaceState): void {
    this.pets = new PetCatalogue(state.pets)
    this.nextPetId = this.#nextAfterStored = state.nextPetId
    this.orders = state.orders
    this.ordersText = stringifyJson(state.orders)
  }

  /** Back to the start: fixtures, settings, plans, quotas, bans, storm, faults, clock, chance, log, conduct. */
  restart(wall: EpochMs): void {
    this.shared.onForget(this)
    this.replaceState(this.seed)
    this.setPlans(new Map())
    this.settings = this.shared.start.settings
    this.randomStreams = this.#openStreams()
    this.accounts.clear()
    this.log.clear()
    this.conduct.clear()
    this.#begin(wall)
  }

  /** Takes the next id for a new pet; settlePetId must be told what became of it. */
  takePetId(): Int64 {
    let id = this.nextPetId
    while (this.pets.has(id)) id = followingPetId(id)
    this.nextPetId = followingPetId(id)
    this.#unsettledIds++
    return id
  }

  /** Ids of pets that could not be stored are reused once no later one is in progress. */
  settlePetId(id: Int64, isStored: boolean): void {
    this.#unsettledIds--
    if (isStored) this.#nextAfterStored = followingPetId(id)
    if (this.#unsettledIds === 0) this.nextPetId = this.#nextAfterStored
  }

  planOf({ key, plan = 'free' }: ApiKey): PlanName {
    return key === DEFAULT_KEY ? this.settings.plan : (this.#plans.get(key) ?? plan)
  }

  /** The plans that keys were moved to in this space, by key. The plan of the key `sandbox` is a setting. */
  get plans(): ReadonlyMap<string, PlanName> {
    return this.#plans
  }

  setPlans(plans: ReadonlyMap<string, PlanName>): void {
    this.#plans = plans
    this.#limits = new WeakMap()
  }

  /** Called for every request, so it is cached for each key until the settings change. */
  limitsOf(apiKey: ApiKey): Limits {
    if (this.#limitsUnder !== this.settings) {
      this.#limitsUnder = this.settings
      this.#limits = new WeakMap()
    }
    const known = this.#limits.get(apiKey)
    if (known !== undefined) return known
    const limits = this.#workOutLimits(apiKey)
    this.#limits.set(apiKey, limits)
    return limits
  }

  #workOutLimits(apiKey: ApiKey): Limits {
    const limits = this.planLimits(this.planOf(apiKey))
    const { limits: others } = this.settings
    return apiKey.key === DEFAULT_KEY && others !== undefined ? { ...limits, ...others } : limits
  }

  /** Limits of a plan; for "custom", the sandbox's own choice. */
  planLimits(plan: PlanName): Limits {
    const { perMinute = CUSTOM_LIMITS.perMinute, perDay = CUSTOM_LIMITS.perDay } = this.shared.contract.plans[plan]
    return { perMinute, perDay }
  }

  /** Opens the windows of keys as if this many requests had been charged at an instant; other windows stay. */
  useUp(used: SpaceStart['used'], openedAt: EpochMs): void {
    for (const [name, { perMinute, perDay }] of Object.entries(used)) {
      const account = this.#accountOf(name)
      account.usage = {
        ...account.usage,
        ...(perMinute === undefined ? {} : { minute: { openedAt, used: perMinute } }),
        ...(perDay === undefined ? {} : { day: { openedAt, used: perDay } }),
      }
    }
  }

  /** Bans keys from an instant on. */
  banKeys(bans: SpaceStart['bans'], now: EpochMs): void {
    for (const [name, duration] of Object.entries(bans)) this.#accountOf(name).bans = banFor(duration, now)
  }

  /** Forgets plan, usage and bans of a key that is none any more. */
  forgetKey(key: string): void {
    this.accounts.close(key)
    if (!this.#plans.has(key)) return
    this.setPlans(new Map([...this.#plans].filter(([other]) => other !== key)))
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

  #openStreams(): RandomStreams {
    const stream = (what: string) => randomStream(`${this.shared.seed}:${this.name}:${what}`)
    return { storm: stream('storm'), faults: stream('faults'), latency: stream('latency') }
  }

  #begin(wall: EpochMs): void {
    const { start } = this.shared
    this.clock = start.now === undefined ? REAL_TIME : clockAt(start.now, start.freeze, wall)
    const now = this.now(wall)
    this.storm = start.storm && { ...start.storm, startedAt: now }
    this.faults = start.faults.map(armFault)
    this.useUp(start.used, now)
    this.banKeys(start.bans, now)
  }

  #accountOf(name: string): Account {
    return this.accounts.ofKey(this.findKey(name)?.key ?? name)
  }
}
