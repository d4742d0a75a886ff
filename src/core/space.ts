import { ConductLedger, type SavedConduct } from '../conduct/conduct-ledger.js'
import type { Values } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import { banFor, NO_BAN_RECORD } from '../domain/ban.js'
import type { Collection } from '../domain/collection.js'
import { type ArmedFault, armFaults, type FaultCondition, type FaultRule, findFault } from '../domain/faults.js'
import { type ApiKey, DEFAULT_KEY, keyLabel } from '../domain/keys.js'
import type { EndedExchange } from '../domain/messages.js'
import { planLimits, planNames } from '../domain/plans.js'
import { countUsed, type Limits } from '../domain/quota.js'
import { randomStream, streamAt } from '../domain/random.js'
import { InvalidRecord, type RecordChange, type RecordId } from '../domain/records.js'
import { findLatency, type Settings } from '../domain/settings.js'
import { type Change, SNAPSHOT_VERSION, type Snapshot, type SpaceStart, type StoredState } from '../domain/state.js'
import type { RunningStorm, Storm } from '../domain/storm.js'
import {
  type ClockState,
  clockAt,
  type DurationMs,
  type EpochMs,
  REAL_TIME,
  readClock,
  startInstant,
} from '../domain/time.js'
import { ExchangeLog, type SavedLog } from '../exchanges/exchange-log.js'
import { Accounts } from './accounts.js'
import {
  type Collections,
  hasUnsavedRecords,
  openCollections,
  openSeed,
  ownCollection,
  shareCollections,
  unservedRecords,
  uuidFrom,
} from './collections.js'
import type { Instant } from './command.js'
import { currentLimits, currentPlan } from './keyring.js'
import { memoryNeeded, recordBytes, snapshotBytes } from './memory-budget.js'
import type { SpaceContext, Store } from './space-context.js'
import {
  isSameState,
  loadState,
  loadUndo,
  type ReplacedSpace,
  type SavedState,
  type SavedUndo,
  type SpaceState,
  saveState,
  saveUndo,
  type Undo,
} from './space-state.js'

export interface SavedSpace {
  readonly name: string
  readonly state: SavedState
  readonly snapshots: readonly (readonly [string, Snapshot])[]
  readonly undo: SavedUndo | null
  readonly requests: number
  readonly conduct: SavedConduct
  readonly log: SavedLog
}

interface VerbStart extends Pick<ReplacedSpace, 'state'> {
  readonly snapshots: ReadonlyMap<string, Snapshot>
  readonly conduct: ConductLedger
  readonly undo: Undo | undefined
}

/** Places in the lists and indexes of a collection, measured with 1,000,000 pets. */
const COPY_BYTES_PER_RECORD = 40

/**
 * One isolated space: its state, and the transitions that change it. A transition gives stored changes to the store
 * first. Log and conduct follow what happens. Neither is part of the state, but conduct tells `checkBan` whether a
 * request is early.
 */
export class Space implements SpaceState {
  readonly records!: Collections
  readonly unserved!: SpaceState['unserved']
  readonly plans!: SpaceState['plans']
  readonly settings!: Settings
  readonly clock!: ClockState
  readonly startClock!: ClockState
  readonly storm!: RunningStorm | undefined
  readonly faults!: readonly ArmedFault[]
  readonly accounts!: Accounts
  readonly randomStreams!: SpaceState['randomStreams']
  readonly ownRecords!: readonly string[]
  readonly heldBytes!: number
  readonly name: string
  readonly shared: SpaceContext
  readonly log: ExchangeLog
  /** The state that a reset returns to. */
  seed: StoredState
  readonly store: Store | undefined
  /** The store lacks the contract's examples. The next change stores them. */
  #hasUnsavedRecords = false
  /** Only without a store. */
  snapshots: ReadonlyMap<string, Snapshot> = new Map()
  undo: Undo | undefined
  conduct: ConductLedger
  /** Requests so far, which no verb resets. */
  requests = 0
  #isInVerb = false
  /** Of the running verb: written together at its end. */
  #verbChanges: Change[] = []
  /** Of the running verb. They are made in place, because copies of large collections are slow. */
  #recordChanges: ReversibleChange[] = []
  /** The log that the running verb has cleared. */
  #clearedLog: SavedLog | undefined

  /**
   * @param name empty for the default space @param seed the state that a reset returns to @param state the stored
   * state, if any @param store without one, the space is in memory only
   */
  constructor(
    name: string,
    shared: SpaceContext,
    wall: EpochMs,
    seed: StoredState,
    state: StoredState = seed,
    store?: Store,
  ) {
    this.name = name
    this.shared = shared
    this.seed = seed
    this.store = store
    this.log = new ExchangeLog(shared.logLimit, shared.logBudget)
    if (shared.onExchange !== undefined) this.log.follow({ onEnded: shared.onExchange, end() {} })
    this.conduct = this.#openConduct()
    this.#set({ heldBytes: 0 })
    this.#start(state, wall)
  }

  #set(changes: Partial<SpaceState>): void {
    Object.assign(this, changes)
  }

  #start(state: StoredState, wall: EpochMs): void {
    const { start, seed } = this.shared
    this.#hasUnsavedRecords = hasUnsavedRecords(this.shared.contract, state)
    const stream = (purpose: string) => randomStream(`${seed}:${this.name}:${purpose}`).state
    const clock =
      start.now === undefined
        ? REAL_TIME
        : clockAt(startInstant(start.now, wall, this.shared.contract), start.freeze, wall)
    const now = readClock(clock, wall)
    this.#openRecords(state)
    this.#set({
      plans: new Map(),
      settings: start.settings,
      clock,
      startClock: clock,
      storm: start.storm && this.#stormAt(start.storm, now),
      faults: armFaults(
        start.faults.map((rule) => ({ rule })),
        [],
        0,
      ),
      accounts: new Accounts(),
      randomStreams: { storm: stream('storm'), faults: stream('faults'), latency: stream('latency') },
    })
    this.useUp(start.used, now)
    this.banKeys(start.bans, now)
  }

  #openRecords(state: StoredState): void {
    const isSeed = this.name !== '' && state === this.seed
    const records = isSeed ? openSeed(this.shared.contract, state) : openCollections(this.shared.contract, state)
    const ownRecords = isSeed ? [] : [...records.keys()]
    this.#set({ records, ownRecords, unserved: unservedRecords(this.shared.contract, state) })
  }

  #openConduct(): ConductLedger {
    return new ConductLedger(planNames(this.shared.contract).map((plan) => planLimits(this.shared.contract, plan)))
  }

  accountsToChange(): Accounts {
    if (this.accounts.isShared) this.#set({ accounts: this.accounts.copy() })
    return this.accounts
  }

  get keys(): ReadonlyMap<string, ApiKey> {
    return this.shared.keys.valid
  }

  now(wall: EpochMs): EpochMs {
    return readClock(this.clock, wall)
  }

  state(): StoredState {
    const saved = Array.from(this.records, ([name, collection]) => [name, collection.save()] as const)
    const { records, others } = this.unserved
    return { records: [...saved, ...records], others, keys: this.storedKeys() }
  }

  /** The keys that outlive the process, each on its plan in this space, or on another one of `plans`. */
  storedKeys(plans: ReadonlyMap<string, string> = this.plans): readonly ApiKey[] {
    return [...this.shared.keys.stored.values()].map((apiKey) => {
      const plan = plans.get(apiKey.key)
      return plan === undefined ? apiKey : { ...apiKey, plan }
    })
  }

  /** Undefined without quotas. */
  currentPlan(apiKey: ApiKey): string | undefined {
    return currentPlan(this.shared.contract, apiKey, this)
  }

  currentLimits(apiKey: ApiKey): Limits {
    return currentLimits(this.shared.contract, apiKey, this)
  }

  /** Of requests without a valid key. */
  get anonymousLimits(): Limits {
    return currentLimits(this.shared.contract, undefined, this)
  }

  /** How many records each resource of the contract has. */
  countRecords(): Readonly<Record<string, number>> {
    const { resources } = this.shared.contract
    return Object.fromEntries(resources.map(({ name }) => [name, this.records.get(name)?.size ?? 0]))
  }

  hasRecord({ resource, scope, id }: RecordId): boolean {
    return this.records.get(resource)?.get(scope, id) !== undefined
  }

  /** Log and conduct learn how a response ended. */
  recordEnd(ended: EndedExchange, { now: wall, position: endedAt }: Instant): void {
    this.log.end(ended)
    const { position, how, connection, durationMs, waitingMs, bodyMs, instead } = ended
    const slackMs = Math.max(0, durationMs - waitingMs - bodyMs)
    const isWithheld = instead !== undefined
    const at = this.now(wall)
    this.conduct.ended({ position, how, at, wall, endedAt, connection, slackMs, isWithheld })
  }

  /** By label, or by text. */
  findKey(name: string): ApiKey | undefined {
    return this.keys.get(name) ?? [...this.keys.values()].find((apiKey) => keyLabel(apiKey) === name)
  }

  #label(key: string): string {
    const apiKey = this.keys.get(key)
    return apiKey === undefined ? key : keyLabel(apiKey)
  }

  /**
   * Makes changes of records, all or none: writes them, then applies them.
   * @throws StoreFull, Failure STORE_WRITE_FAILED; InvalidRecord if the contract does not allow a record in responses
   */
  commit(changes: readonly RecordChange[]): void {
    for (const change of changes) if (change.kind === 'put') this.#checkRecord(change.resource, change.record.value)
    if (changes.length > 0) {
      if (this.store === undefined) {
        this.#bookCopies(changes)
        this.#book(changes.reduce((bytes, change) => bytes + this.#bytesOf(change), 0))
      } else this.#append(this.#hasUnsavedRecords ? [{ kind: 'replaced', state: this.state() }, ...changes] : changes)
    }
    this.#hasUnsavedRecords = false
    for (const change of changes) {
      const { records, collection } = ownCollection(this.records, change.resource)
      this.#set({ records })
      if (collection === undefined) continue
      if (this.#isInVerb) this.#recordChanges.push(reversible(collection, change))
      if (change.kind === 'put') collection.put(change.record, change.rank)
      else collection.remove(change.scope, change.id)
    }
  }

  /** Books the copies that the first changes of the seed's records make. */
  #bookCopies(changes: readonly RecordChange[]): void {
    const copied = [...new Set(changes.map(({ resource }) => resource))].filter(
      (resource) => !this.ownRecords.includes(resource),
    )
    if (copied.length === 0) return
    const records = copied.reduce((count, resource) => count + (this.records.get(resource)?.size ?? 0), 0)
    this.#book(records * COPY_BYTES_PER_RECORD)
    this.#set({ ownRecords: [...this.ownRecords, ...copied] })
  }

  #bytesOf(change: RecordChange): number {
    const collection = this.records.get(change.resource)
    if (change.kind === 'remove') return -recordBytes(collection?.get(change.scope, change.id))
    const { scope, value } = change.record
    return recordBytes(value) - recordBytes(collection?.get(scope, value[collection.idProperty]))
  }

  #checkRecord(resource: string, value: Values): void {
    const violations = this.shared.contract.rules?.get(resource)?.findViolations(value) ?? []
    if (violations.length > 0)
      throw new InvalidRecord(`The responses of the contract do not allow this record: ${violations.join('; ')}.`)
  }

  /** The UUID of the next record of a resource, from the sandbox's seed. */
  /** @param property if it is not the id */
  newUuid(resource: string, property = ''): string {
    return uuidFrom(this.shared.seed, this.name, resource + property, this.records.get(resource)?.nextId ?? 0)
  }

  /** If the clock goes back, whatever began in the time that it goes back is over for good. @source docs/behaviour.md, "The clock" */
  setClock(clock: ClockState, wall: EpochMs): void {
    const before = this.now(wall)
    this.#set({ clock })
    const now = this.now(wall)
    if (now >= before) return
    this.accountsToChange().forgetFuture(before, now, wall)
    if (this.storm !== undefined && this.storm.startedAt > now) this.#set({ storm: undefined })
  }

  changeSettings(settings: Settings): void {
    this.#set({ settings })
  }

  startStorm(storm: Storm, now: EpochMs): RunningStorm {
    const started = this.#stormAt(storm, now)
    this.#set({ storm: started })
    return started
  }

  #stormAt(storm: Storm, startedAt: EpochMs): RunningStorm {
    return { ...storm, startedAt, afterRequests: this.requests }
  }

  stopStorm(): void {
    this.#set({ storm: undefined })
  }

  setFaults(rules: readonly FaultRule[]): void {
    this.#set({
      faults: armFaults(
        rules.map((rule) => ({ rule })),
        this.faults,
        this.requests,
      ),
    })
  }

  addFault(rule: FaultRule): void {
    this.#set({ faults: armFaults([...this.faults, { rule }], this.faults, this.requests) })
  }

  findFault(operation: string, matches: (when: FaultCondition) => boolean): ArmedFault | undefined {
    return findFault(this.faults, operation, matches, () => this.#draw('faults'))
  }

  useFault(used: ArmedFault): ArmedFault {
    const { id, left } = used
    if (left !== null)
      this.#set({ faults: this.faults.map((fault) => (fault.id === id ? { ...fault, left: left - 1 } : fault)) })
    return used
  }

  drawStorm(rate: number): boolean {
    return this.#draw('storm') < rate
  }

  drawDelay(operation: string | undefined): DurationMs {
    const latency = findLatency(this.settings, operation)
    if (latency === undefined) return 0
    return latency.min + Math.floor(this.#draw('latency') * (latency.max - latency.min + 1))
  }

  /** Each purpose has its own stream, so that a changed switch does not shift the draws of others. */
  #draw(purpose: keyof SpaceState['randomStreams']): number {
    const stream = streamAt(this.randomStreams[purpose])
    const drawn = stream.next()
    this.#set({ randomStreams: { ...this.randomStreams, [purpose]: stream.state } })
    return drawn
  }

  banKey(key: string, duration: DurationMs, now: EpochMs): void {
    this.accountsToChange().change(key, { bans: banFor(duration, now, this.requests) })
  }

  unbanKey(key: string): void {
    // Without a ban the account is unchanged, or an undo would list it.
    if (this.accounts.view(key).bans.ban !== undefined) this.accountsToChange().change(key, { bans: NO_BAN_RECORD })
  }

  /** By label or key. */
  banKeys(bans: SpaceStart['bans'], now: EpochMs): void {
    for (const [name, duration] of Object.entries(bans)) this.banKey(this.findKey(name)?.key ?? name, duration, now)
  }

  /** @throws StoreFull */
  movePlan(apiKey: ApiKey, plan: string): void {
    if (apiKey.key === DEFAULT_KEY) {
      // A setting, so that a reset restores it.
      this.changeSettings({ ...this.settings, plan })
      return
    }
    if (this.shared.keys.stored.has(apiKey.key)) this.keep({ kind: 'key', key: { ...apiKey, plan } })
    this.#set({ plans: new Map(this.plans).set(apiKey.key, plan) })
  }

  /** Opens windows as if this many requests had been charged at an instant. */
  useUp(used: SpaceStart['used'], openedAt: EpochMs): void {
    for (const [name, { perMinute, perDay }] of Object.entries(used)) {
      const apiKey = this.findKey(name)
      const key = apiKey?.key ?? name
      const limits = apiKey === undefined ? this.anonymousLimits : this.currentLimits(apiKey)
      const usage = {
        ...this.accounts.view(key).usage,
        ...(perMinute === undefined ? {} : { minute: { openedAt, used: countUsed(perMinute, limits.perMinute) } }),
        ...(perDay === undefined ? {} : { day: { openedAt, used: countUsed(perDay, limits.perDay) } }),
      }
      this.accountsToChange().change(key, { usage })
    }
  }

  /** Forgets plan, usage and bans that a key had before it was removed. */
  forgetKey(key: string): void {
    if (this.accounts.has(key)) this.accountsToChange().remove(key)
    if (!this.plans.has(key)) return
    this.#set({ plans: new Map([...this.plans].filter(([other]) => other !== key)) })
  }

  clearLog(): void {
    if (this.log.total === 0) return
    const before = this.log.clear()
    this.#clearedLog ??= before
  }

  restart(wall: EpochMs): void {
    this.keep({ kind: 'replaced', state: this.seed })
    this.shared.onForget(this)
    this.clearLog()
    this.#start(this.seed, wall)
    this.conduct = this.#openConduct()
  }

  /** Applies changed start settings, storm and faults. Clock, quotas and bans change with the next reset. */
  startAs(before: SpaceStart, start: SpaceStart, wall: EpochMs): void {
    if (!isEqual(before.settings, start.settings)) this.changeSettings(start.settings)
    if (!isEqual(before.storm, start.storm))
      this.#set({ storm: start.storm && this.#stormAt(start.storm, this.now(wall)) })
    if (!isEqual(before.faults, start.faults)) this.setFaults(start.faults)
  }

  /** Everything that decides its next responses, with labels instead of secret keys. */
  snapshot(wall: EpochMs): Snapshot {
    return {
      version: SNAPSHOT_VERSION,
      state: this.state(),
      settings: this.settings,
      clock: { now: this.now(wall), frozen: this.clock.kind === 'frozen' },
      storm: this.storm ?? null,
      faults: this.faults.map(({ rule, left }) => ({ rule, left })),
      plans: [...this.plans].flatMap(([key, plan]) => (this.keys.has(key) ? [{ name: this.#label(key), plan }] : [])),
      accounts: this.accounts.save().flatMap((account) => {
        if (account.kind === 'stranger') return [account]
        return this.keys.has(account.name) ? [{ ...account, name: this.#label(account.name) }] : []
      }),
      dice: this.randomStreams,
    }
  }

  /**
   * Keys belong to the sandbox: one added since stays, one removed does not return. Their plans and bans are restored.
   * @source docs/state.md, "Snapshots"
   */
  restoreSnapshot(snapshot: Snapshot, wall: EpochMs, source?: Space): void {
    const { settings, clock, storm, faults, dice } = snapshot
    const plans = new Map(
      snapshot.plans.flatMap(({ name, plan }) => {
        const apiKey = this.findKey(name)
        return apiKey === undefined ? [] : [[apiKey.key, plan] as const]
      }),
    )
    const accounts = snapshot.accounts.flatMap((account) => {
      const name = account.kind === 'key' ? this.findKey(account.name)?.key : account.name
      const { ban } = account.bans
      const bans = ban === undefined ? NO_BAN_RECORD : { ban: { ...ban, afterRequests: this.requests } }
      return name === undefined ? [] : [{ ...account, name, bans }]
    })
    if (source !== undefined && source.store === undefined && this.store === undefined)
      this.#book(source.heldBytes - this.heldBytes)
    else this.keep({ kind: 'replaced', state: { ...snapshot.state, keys: this.storedKeys(plans) } })
    if (source === undefined) this.#openRecords(snapshot.state)
    else this.#set({ records: shareCollections(source.records), ownRecords: [], unserved: source.unserved })
    this.#set({ plans, settings, accounts: new Accounts(accounts) })
    this.setClock(clockAt(clock.now, clock.frozen, wall), wall)
    const restored = storm === null ? undefined : this.#stormAt(storm, storm.startedAt)
    this.#set({ storm: restored, faults: armFaults(faults, this.faults, this.requests), randomStreams: dice })
  }

  /** Takes over everything that decides the next responses of another space. @throws StoreFull */
  copyFrom(source: Space, wall: EpochMs): void {
    this.restoreSnapshot(source.snapshot(wall), wall, source)
  }

  /** @throws StoreFull */
  saveSnapshot(name: string, wall: EpochMs): void {
    this.#setSnapshots(new Map(this.snapshots).set(name, this.snapshot(wall)))
  }

  /** @returns whether it existed */
  removeSnapshot(name: string): boolean {
    if (!this.snapshots.has(name)) return false
    this.#setSnapshots(new Map([...this.snapshots].filter(([other]) => other !== name)))
    return true
  }

  /** @throws StoreFull */
  #setSnapshots(snapshots: ReadonlyMap<string, Snapshot>): void {
    const bytes = (all: ReadonlyMap<string, Snapshot>) =>
      [...all.values()].reduce((sum, snapshot) => sum + this.#snapshotBytes(snapshot), 0)
    this.shared.memoryBudget.book(bytes(snapshots) - bytes(this.snapshots))
    this.snapshots = snapshots
  }

  readonly #sizes = new WeakMap<Snapshot, number>()

  #snapshotBytes(snapshot: Snapshot): number {
    const known = this.#sizes.get(snapshot)
    if (known !== undefined) return known
    const bytes = snapshotBytes(snapshot)
    this.#sizes.set(snapshot, bytes)
    return bytes
  }

  /** For a checkpoint: unlike a snapshot it has the keys themselves, log and conduct. */
  save(): SavedSpace {
    return {
      name: this.name,
      state: saveState(this.captureState()),
      snapshots: [...this.snapshots],
      undo: this.undo === undefined ? null : saveUndo(this.undo),
      requests: this.requests,
      conduct: this.conduct.save(),
      log: this.log.save(),
    }
  }

  /** Only for a new space. */
  load({ state, snapshots, undo, requests, conduct, log }: SavedSpace): void {
    this.#set(loadState(state))
    this.snapshots = new Map(snapshots)
    this.undo = undo === null ? undefined : this.loadUndo(undo)
    this.requests = requests
    this.conduct.restore(conduct)
    this.log.load(log)
  }

  loadUndo(undo: SavedUndo): Undo {
    return loadUndo(undo, (saved) => {
      const conduct = this.#openConduct()
      conduct.restore(saved)
      return conduct
    })
  }

  close(): void {
    this.log.close()
    this.#setSnapshots(new Map())
    this.#book(-this.heldBytes)
  }

  /** The present state. The next change of a collection copies it, so that this state keeps its records. */
  captureState(): SpaceState {
    shareCollections(this.records)
    return this.#presentState()
  }

  /** Its collections change in place, because copying them for each verb is slow. */
  #presentState(): SpaceState {
    const { unserved, plans, settings, clock, startClock, storm, faults, accounts, randomStreams } = this
    const { records, ownRecords, heldBytes } = this
    accounts.isShared = true
    const state = { unserved, plans, settings, clock, startClock, storm, faults, accounts, randomStreams }
    return { ...state, records, ownRecords, heldBytes }
  }

  /** Begins a verb. Its stored changes are collected, to be written together. */
  beginVerb(): VerbStart {
    this.#isInVerb = true
    this.#verbChanges = []
    return { state: this.#presentState(), snapshots: this.snapshots, conduct: this.conduct, undo: this.undo }
  }

  /**
   * Writes the stored changes of a verb, and shows its clock to conduct.
   * @returns what was before, and whether the verb has changed anything
   * @throws StoreFull, Failure STORE_WRITE_FAILED, with none of the changes written
   */
  endVerb(
    { state, snapshots, conduct }: VerbStart,
    wall: EpochMs,
  ): Pick<Undo, 'removedRecords' | 'before'> & { readonly isChanged: boolean } {
    const changes = this.#verbChanges
    if (changes.length > 0) this.store?.append(changes)
    const log = this.#clearedLog
    const reversed = this.#recordChanges.toReversed().flatMap(({ inverse }) => inverse ?? [])
    const isRemoval =
      reversed.length > 0 && reversed.every((change) => change.kind === 'put' && change.rank !== undefined)
    this.#leaveVerb()
    // By value: after loading a checkpoint, equal clocks are different objects.
    if (!isEqual(state.clock, this.clock)) this.conduct.clockMoved(readClock(state.clock, wall), this.now(wall), wall)
    const isReplaced = conduct !== this.conduct
    const isSameElse = !isReplaced && log === undefined && snapshots === this.snapshots
    const before = { state, snapshots: undefined, conduct: isReplaced ? conduct : undefined, log }
    if (
      isRemoval &&
      isSameElse &&
      isSameState({ ...state, records: this.records, ownRecords: this.ownRecords, heldBytes: this.heldBytes }, this)
    )
      return { removedRecords: reversed, before: undefined, isChanged: true }
    // Verbs that add or change records have no undo: they change the records of `state` in place.
    if (reversed.length > 0) return { removedRecords: undefined, before: undefined, isChanged: true }
    return { removedRecords: undefined, before, isChanged: !(isSameElse && isSameState(state, this)) }
  }

  rollBackVerb({ state, snapshots, conduct, undo }: VerbStart): void {
    const log = this.#clearedLog
    for (const { collection, nextId, inverse } of this.#recordChanges.toReversed()) {
      if (inverse?.kind === 'put') collection.put(inverse.record, inverse.rank)
      else if (inverse !== undefined) collection.remove(inverse.scope, inverse.id)
      collection.nextId = nextId
    }
    this.#leaveVerb()
    this.shared.memoryBudget.book(state.heldBytes - this.heldBytes)
    this.#set(state)
    this.#setSnapshots(snapshots)
    this.conduct = conduct
    if (log !== undefined) this.log.restore(log)
    this.undo = undo
  }

  #leaveVerb(): void {
    this.#isInVerb = false
    this.#verbChanges = []
    this.#recordChanges = []
    this.#clearedLog = undefined
  }

  /** Everything, for a verb that removes the space. */
  whole(): ReplacedSpace {
    return { state: this.captureState(), snapshots: this.snapshots, conduct: this.conduct, log: this.log.save() }
  }

  /**
   * Returns to the state before a verb, also of what clients changed since. Conduct and log stay, unless the verb emptied
   * them.
   * @throws StoreFull, Failure STORE_WRITE_FAILED
   */
  restore({ state, snapshots, conduct, log }: ReplacedSpace): void {
    if (this.store === undefined) this.shared.memoryBudget.book(state.heldBytes - this.heldBytes)
    if (snapshots !== undefined) this.#setSnapshots(snapshots)
    if (conduct !== undefined) {
      // The conduct since the verb is dropped, and what the verb dropped is back.
      if (conduct.requests > 0) this.shared.onRecall(this.name)
      this.shared.onForget(this)
      this.conduct = conduct
    }
    this.#set({ ...state, accounts: state.accounts, records: state.records })
    if (this.store !== undefined) this.keep({ kind: 'replaced', state: this.state() })
    // Those under way then have ended unrecorded.
    if (log !== undefined)
      this.log.restore({ ...log, records: log.records.filter(({ how }) => how !== undefined), unkept: [] })
  }

  /** Stores a change: within a verb at its end. Without a store, books its memory. @throws StoreFull, Failure STORE_WRITE_FAILED */
  keep(change: Change): void {
    if (this.store !== undefined) this.#append([change])
    else
      this.#book(
        memoryNeeded(change, {
          seed: this.seed,
          keys: this.shared.keys.stored,
          hasKeys: this.name === '',
          heldBytes: this.heldBytes,
        }),
      )
  }

  #append(changes: readonly Change[]): void {
    if (this.#isInVerb) this.#verbChanges.push(...changes)
    else this.store?.append(changes)
  }

  #book(bytes: number): void {
    this.shared.memoryBudget.book(bytes)
    this.#set({ heldBytes: this.heldBytes + bytes })
  }
}

interface ReversibleChange extends Pick<Collection, 'nextId'> {
  readonly collection: Collection
  readonly inverse: RecordChange | undefined
}

/** A change that is about to be made. */
function reversible(collection: Collection, change: RecordChange): ReversibleChange {
  const { nextId } = collection
  const { resource } = change
  const [scope, id] =
    change.kind === 'put'
      ? [change.record.scope, change.record.value[collection.idProperty]]
      : [change.scope, change.id]
  const value = collection.get(scope, id)
  const inverse = (): RecordChange | undefined => {
    if (value === undefined)
      return change.kind === 'put' ? { kind: 'remove', resource, scope, id: String(id) } : undefined
    const record = { scope, value }
    return change.kind === 'put'
      ? { kind: 'put', resource, record }
      : { kind: 'put', resource, record, rank: collection.rankOf(scope, id) }
  }
  return { collection, nextId, inverse: inverse() }
}

function isEqual(one: unknown, other: unknown): boolean {
  return stringifyJson(one ?? null) === stringifyJson(other ?? null)
}
