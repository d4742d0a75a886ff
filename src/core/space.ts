import { ConductLedger, type SavedConduct } from '../conduct/conduct-ledger.js'
import type { WaitFilter } from '../conduct/senders.js'
import type { Values } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import { banFor, NO_BAN_RECORD } from '../domain/ban.js'
import { type ArmedFault, armFault, type FaultRule, findFault } from '../domain/faults.js'
import { type ApiKey, DEFAULT_KEY, keyLabel, PLAN_NAMES, type PlanName } from '../domain/keys.js'
import type { Limits } from '../domain/quota.js'
import { randomStream, streamAt } from '../domain/random.js'
import { InvalidRecord, type RecordChange } from '../domain/records.js'
import { findLatency, type Settings } from '../domain/settings.js'
import { type Change, SNAPSHOT_VERSION, type Snapshot, type SpaceStart, type StoredState } from '../domain/state.js'
import { changeOf, unservedIn } from '../domain/state-layout.js'
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
import { type AccountBefore, Accounts } from './accounts.js'
import {
  beginJournals,
  copyCollections,
  hasUnsavedRecords,
  openCollections,
  openSeed,
  revertRecords,
  stateFrom,
  uuidFrom,
} from './collections.js'
import { currentPlan, PlanLimits, planLimits } from './keyring.js'
import { memoryNeeded, recordBytes, snapshotBytes } from './memory-budget.js'
import type { SpaceContext, Store } from './space-context.js'
import {
  changedEntries,
  changedParts,
  copyRecord,
  loadParts,
  type SavedRecord,
  type SpaceBefore,
  SpaceRecord,
  saveParts,
  withEntries,
} from './space-record.js'

export interface SavedSpace extends SavedRecord {
  readonly name: string
  readonly log: SavedLog
}

export interface VerbChange {
  readonly before: SpaceBefore
  rollBack(): void
  /** After a roll-back, if no request came in between: takes back how it changed conduct. */
  refuse(): void
}

// Which waits a change ends.
const isForQuota: WaitFilter = ({ reason }) => reason === 'quota-minute' || reason === 'quota-day'
const isForBan: WaitFilter = ({ kind }) => kind === 'ban'
const isForStorm: WaitFilter = ({ reason }) => reason === 'storm'
const isForFault: WaitFilter = ({ reason }) => reason === 'fault'

/**
 * One isolated space: its record, and the transitions that change it. A transition gives stored changes to the store
 * first.
 */
export class Space extends SpaceRecord {
  readonly name: string
  readonly shared: SpaceContext
  readonly log: ExchangeLog
  /** The state that a reset returns to. */
  seed: StoredState
  readonly store: Store | undefined
  readonly #planLimits: PlanLimits
  /** The store lacks the contract's examples. The next change stores them. */
  #hasUnsavedRecords = false
  /** Of the running verb: it changes in place. */
  #conductBefore: { readonly ledger: ConductLedger; saved?: SavedConduct } | undefined
  /** Of the running verb: written together at its end. */
  #verbChanges: Change[] | undefined
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
    super()
    this.name = name
    this.shared = shared
    this.seed = seed
    this.store = store
    this.log = new ExchangeLog(shared.logLimit, shared.logBudget)
    if (shared.onExchange !== undefined) this.log.follow({ onEnded: shared.onExchange, end() {} })
    this.#planLimits = new PlanLimits(shared.contract)
    this.#set({ snapshots: new Map(), heldBytes: 0 })
    this.#start(state, wall)
  }

  #set(changes: Partial<SpaceRecord>): void {
    Object.assign(this, changes)
  }

  #start(state: StoredState, wall: EpochMs): void {
    const { start, seed } = this.shared
    this.#hasUnsavedRecords = hasUnsavedRecords(this.shared.contract, state)
    const stream = (purpose: string) => randomStream(`${seed}:${this.name}:${purpose}`).state
    const clock = start.now === undefined ? REAL_TIME : clockAt(startInstant(start.now, wall), start.freeze, wall)
    const now = readClock(clock, wall)
    this.#openRecords(state)
    this.#set({
      plans: new Map(),
      settings: start.settings,
      clock,
      startClock: clock,
      storm: start.storm && { ...start.storm, startedAt: now },
      faults: start.faults.map(armFault),
      accounts: new Accounts(),
      conduct: this.#openConduct(),
      dice: { storm: stream('storm'), faults: stream('faults'), latency: stream('latency') },
    })
    this.useUp(start.used, now)
    this.banKeys(start.bans, now)
  }

  #openRecords(state: StoredState): void {
    const isSeed = this.name !== '' && state === this.seed
    const records = isSeed ? openSeed(this.shared.contract, state) : openCollections(this.shared.contract, state)
    this.#set({ records, unserved: unservedIn(state, this.shared.contract.resources) })
  }

  #openConduct(): ConductLedger {
    return new ConductLedger(
      PLAN_NAMES.map((plan) => this.planLimits(plan)),
      this.shared.hide,
    )
  }

  #conductToChange(): ConductLedger {
    const before = this.#conductBefore
    if (before?.ledger === this.conduct) before.saved ??= this.conduct.save()
    return this.conduct
  }

  get keys(): ReadonlyMap<string, ApiKey> {
    return this.shared.keys.valid
  }

  now(wall: EpochMs): EpochMs {
    return readClock(this.clock, wall)
  }

  state(): StoredState {
    return stateFrom(this.shared.contract, this.records, this.unserved, this.storedKeys())
  }

  /** The keys that outlive the process, each on its plan in this space, or on another one of `plans`. */
  storedKeys(plans: ReadonlyMap<string, PlanName> = this.plans): readonly ApiKey[] {
    return [...this.shared.keys.stored.values()].map((apiKey) => {
      const plan = plans.get(apiKey.key)
      return plan === undefined ? apiKey : { ...apiKey, plan }
    })
  }

  currentPlan(apiKey: ApiKey): PlanName {
    return currentPlan(apiKey, this)
  }

  currentLimits(apiKey: ApiKey): Limits {
    return this.#planLimits.currentLimits(apiKey, this)
  }

  planLimits(plan: PlanName): Limits {
    return planLimits(this.shared.contract, plan)
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
      if (this.store === undefined) this.#book(changes.reduce((bytes, change) => bytes + this.#bytesOf(change), 0))
      else this.#append(this.#storedForm(changes))
    }
    this.#hasUnsavedRecords = false
    for (const change of changes) {
      const collection = this.records.get(change.resource)
      if (change.kind === 'put') collection?.put(change.record)
      else collection?.remove(change.scope, change.id)
    }
  }

  #bytesOf(change: RecordChange): number {
    const collection = this.records.get(change.resource)
    if (change.kind === 'remove') return -recordBytes(collection?.get(change.scope, change.id))
    const { scope, value } = change.record
    return recordBytes(value) - recordBytes(collection?.get(scope, value[collection.idProperty]))
  }

  #storedForm(changes: readonly RecordChange[]): readonly Change[] {
    const stored = changes.flatMap((change) => {
      const resource = this.shared.contract.resources.find(({ name }) => name === change.resource)
      return resource === undefined ? [] : [changeOf(resource, change)]
    })
    return this.#hasUnsavedRecords ? [{ kind: 'replaced', state: this.state() }, ...stored] : stored
  }

  #checkRecord(resource: string, value: Values): void {
    const violations = this.shared.contract.rules?.get(resource)?.findViolations(value) ?? []
    if (violations.length > 0)
      throw new InvalidRecord(`The responses of the contract do not allow this record: ${violations.join('; ')}.`)
  }

  /** The UUID of the next record of a resource, from the sandbox's seed. */
  newUuid(resource: string): string {
    return uuidFrom(this.shared.seed, this.name, resource, this.records.get(resource)?.nextId ?? 0)
  }

  /** If the clock goes back, whatever began in the undone time is over for good. @source docs/behaviour.md, "The clock" */
  setClock(clock: ClockState, wall: EpochMs): void {
    const before = this.now(wall)
    this.#set({ clock })
    const now = this.now(wall)
    this.#conductToChange().moveClock(before, now, wall)
    if (now >= before) return
    this.accounts.forgetFuture(now)
    if (this.storm !== undefined && this.storm.startedAt > now) this.#set({ storm: undefined })
  }

  changeSettings(settings: Settings): void {
    const before = this.settings
    this.#set({ settings })
    this.#endWaitsForSettings(before)
  }

  /** Equal limits may be different objects: after an undo, or after loading a checkpoint. */
  #endWaitsForSettings({ plan, limits, rateLimit }: Settings): void {
    const now = this.settings
    if (rateLimit && !now.rateLimit) this.#conductToChange().endWaits(isForQuota)
    else if (plan !== now.plan || !isEqual(limits, now.limits))
      this.#conductToChange().endWaits(isForQuota, DEFAULT_KEY)
  }

  startStorm(storm: Storm, now: EpochMs): RunningStorm {
    const started = { ...storm, startedAt: now }
    this.#setStorm(started)
    return started
  }

  stopStorm(): void {
    this.#setStorm(undefined)
  }

  #setStorm(storm: RunningStorm | undefined): void {
    this.#set({ storm })
    this.#conductToChange().endWaits(isForStorm)
  }

  setFaults(rules: readonly FaultRule[]): void {
    this.#set({ faults: rules.map(armFault) })
    this.#conductToChange().endWaits(isForFault)
  }

  addFault(rule: FaultRule): void {
    this.#set({ faults: [...this.faults, armFault(rule)] })
  }

  findFault(operation: string): ArmedFault | undefined {
    return findFault(this.faults, operation, () => this.#draw('faults'))
  }

  useFault({ rule, left }: ArmedFault): FaultRule {
    if (left !== null)
      this.#set({ faults: this.faults.map((fault) => (fault.rule === rule ? { rule, left: left - 1 } : fault)) })
    return rule
  }

  isInStorm(rate: number): boolean {
    return this.#draw('storm') < rate
  }

  drawDelay(operation: string | undefined): DurationMs {
    const latency = findLatency(this.settings, operation)
    if (latency === undefined) return 0
    return latency.min + Math.floor(this.#draw('latency') * (latency.max - latency.min + 1))
  }

  /** Each purpose has its own stream, so that a changed switch does not shift the draws of others. */
  #draw(purpose: keyof Snapshot['dice']): number {
    const stream = streamAt(this.dice[purpose])
    const drawn = stream.next()
    this.#set({ dice: { ...this.dice, [purpose]: stream.state } })
    return drawn
  }

  banKey(key: string, duration: DurationMs, now: EpochMs): void {
    this.#conductToChange().endWaits(isForBan, this.#label(key))
    this.accounts.change(key, { bans: banFor(duration, now) })
  }

  unbanKey(key: string): void {
    this.#conductToChange().endWaits(isForBan, this.#label(key))
    // Without a ban the account is unchanged, or an undo would list it.
    if (this.accounts.view(key).bans.ban !== undefined) this.accounts.change(key, { bans: NO_BAN_RECORD })
  }

  /** By label or key. */
  banKeys(bans: SpaceStart['bans'], now: EpochMs): void {
    for (const [name, duration] of Object.entries(bans)) this.banKey(this.findKey(name)?.key ?? name, duration, now)
  }

  /** @throws StoreFull */
  movePlan(apiKey: ApiKey, plan: PlanName): void {
    if (apiKey.key === DEFAULT_KEY) {
      // A setting, so that a reset restores it.
      this.changeSettings({ ...this.settings, plan })
      return
    }
    if (this.shared.keys.stored.has(apiKey.key)) this.keep({ kind: 'key', key: { ...apiKey, plan } })
    this.#set({ plans: new Map(this.plans).set(apiKey.key, plan) })
    this.#conductToChange().endWaits(isForQuota, keyLabel(apiKey))
  }

  /** Opens windows as if this many requests had been charged at an instant. */
  useUp(used: SpaceStart['used'], openedAt: EpochMs): void {
    for (const [name, { perMinute, perDay }] of Object.entries(used)) {
      const key = this.findKey(name)?.key ?? name
      const usage = {
        ...this.accounts.view(key).usage,
        ...(perMinute === undefined ? {} : { minute: { openedAt, used: perMinute } }),
        ...(perDay === undefined ? {} : { day: { openedAt, used: perDay } }),
      }
      this.accounts.change(key, { usage })
    }
  }

  /** Forgets plan, usage and bans of removed keys. */
  forgetKeys(gone: readonly string[]): void {
    const known = new Set(this.accounts.keys())
    for (const key of gone) if (known.has(key)) this.accounts.put({ kind: 'key', name: key, account: null })
    const plans = gone.filter((key) => this.plans.has(key)).map((key) => [key, null] as const)
    this.#set({ plans: withEntries(this.plans, plans) })
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
  }

  /** Applies changed start settings, storm and faults. Clock, quotas and bans change with the next reset. */
  startAs(before: SpaceStart, start: SpaceStart, wall: EpochMs): void {
    if (!isEqual(before.settings, start.settings)) this.changeSettings(start.settings)
    if (!isEqual(before.storm, start.storm))
      this.#setStorm(start.storm && { ...start.storm, startedAt: this.now(wall) })
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
      faults: this.faults,
      plans: [...this.plans].flatMap(([key, plan]) => (this.keys.has(key) ? [{ name: this.#label(key), plan }] : [])),
      accounts: this.accounts.save().flatMap((account) => {
        if (account.kind === 'stranger') return [account]
        return this.keys.has(account.name) ? [{ ...account, name: this.#label(account.name) }] : []
      }),
      dice: this.dice,
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
      return name === undefined ? [] : [{ ...account, name }]
    })
    if (source !== undefined && source.store === undefined && this.store === undefined)
      this.#book(source.heldBytes - this.heldBytes)
    else this.keep({ kind: 'replaced', state: { ...snapshot.state, keys: this.storedKeys(plans) } })
    // Accounts first: setClock drops windows of the current accounts, and an undo needs the old ones intact.
    if (source === undefined) this.#openRecords(snapshot.state)
    else this.#set({ records: copyCollections(source.records), unserved: source.unserved })
    this.#set({ plans, settings, accounts: new Accounts(accounts) })
    this.setClock(clockAt(clock.now, clock.frozen, wall), wall)
    this.#set({ storm: storm ?? undefined, faults, dice })
    this.#conductToChange().endWaits()
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
    const isThere = this.snapshots.has(name)
    this.#setSnapshots(withEntries(this.snapshots, [[name, null]]))
    return isThere
  }

  /** @throws StoreFull */
  #setSnapshots(snapshots: ReadonlyMap<string, Snapshot>): void {
    let bytes = 0
    for (const [name, before] of changedEntries(this.snapshots, snapshots))
      bytes += snapshotBytes(snapshots.get(name)) - snapshotBytes(before)
    this.shared.memoryBudget.book(bytes)
    this.#set({ snapshots })
  }

  /** For a checkpoint: unlike a snapshot it has the keys themselves, log and conduct. */
  save(): SavedSpace {
    return { name: this.name, ...saveParts(this), log: this.log.save() }
  }

  /** Only for a new space. */
  load({ name: _same, log, ...parts }: SavedSpace): void {
    this.#set(loadParts(parts, () => this.#openConduct()))
    this.log.load(log)
  }

  close(): void {
    this.log.close()
    this.#setSnapshots(new Map())
    this.#book(-this.heldBytes)
  }

  /** Starts the journals of a verb. Returns a function that ends them. */
  beginVerb(wall: EpochMs): () => VerbChange {
    const before = copyRecord(this)
    const endJournals = beginJournals(before.records)
    before.accounts.journal = []
    this.#conductBefore = { ledger: this.conduct }
    return () => {
      const conduct = this.#conductBefore?.saved
      this.#conductBefore = undefined
      const accounts = endJournal(before.accounts, this.accounts)
      const records = endJournals(this.records)
      const bytes = before.heldBytes - this.heldBytes
      const change: SpaceBefore = {
        parts: changedParts(before, this),
        accounts,
        records,
        plans: changedEntries(before.plans, this.plans),
        snapshots: changedEntries(before.snapshots, this.snapshots),
        log: this.#clearedLog,
      }
      this.#clearedLog = undefined
      return {
        before: change,
        rollBack: () => {
          this.#book(bytes)
          this.restore(change, wall)
          this.undo = before.undo
        },
        refuse: () => {
          if (conduct !== undefined) this.conduct.restore(conduct)
        },
      }
    }
  }

  /** For a verb that removes the space. */
  whole(): SpaceBefore {
    const { plans, snapshots, heldBytes: _freed, undo: _gone, ...parts } = saveParts(this)
    return { parts, accounts: [], records: [], plans, snapshots, log: this.log.save() }
  }

  /** Changes made elsewhere since stay. */
  restore(before: SpaceBefore, wall: EpochMs): void {
    const { parts, accounts, records, plans, snapshots, log } = before
    const { clock, ...others } = parts
    const { settings } = this
    // The clock first: going back, it forgets windows and a storm that the state before it had.
    if (clock !== undefined) this.setClock(clock, wall)
    this.#setSnapshots(withEntries(this.snapshots, snapshots))
    if (parts.conduct !== undefined) {
      if (parts.conduct.requests > 0) this.shared.onRecall(this.name)
      this.shared.onForget(this)
    }
    this.#set(loadParts(others, () => this.#openConduct()))
    for (const account of accounts.toReversed()) this.accounts.put(account)
    revertRecords(this.records, records)
    this.#set({ plans: withEntries(this.plans, plans) })
    this.forgetKeys([...this.accounts.keys(), ...this.plans.keys()].filter((key) => !this.keys.has(key)))
    this.#endWaitsForSettings(settings)
    this.#endWaitsFor(before)
    if (log !== undefined) this.log.restore(log)
  }

  #endWaitsFor({ parts, accounts, plans }: SpaceBefore): void {
    const conduct = this.#conductToChange()
    if (parts.conduct !== undefined || parts.accounts !== undefined) conduct.endWaits()
    if ('storm' in parts) conduct.endWaits(isForStorm)
    if ('faults' in parts) conduct.endWaits(isForFault)
    for (const { kind, name } of accounts) if (kind === 'key') conduct.endWaits(undefined, this.#label(name))
    for (const [name] of plans) conduct.endWaits(isForQuota, this.#label(name))
  }

  /** Restores it as a stored change. @throws StoreFull */
  undoVerb(before: SpaceBefore, wall: EpochMs): void {
    const sizes = new Map([...this.records].map(([name, { size }]) => [name, size]))
    for (const resource of this.shared.contract.resources) {
      const { changes = [] } = new Map(before.records).get(resource.name) ?? {}
      const { name } = resource
      for (const one of changes.toReversed()) {
        if ('id' in one) this.keep(changeOf(resource, { kind: 'remove', resource: name, ...one }))
        else this.keep(changeOf(resource, { kind: 'put', resource: name, record: one.record }))
      }
    }
    for (const [name, plan] of before.plans) {
      const apiKey = this.shared.keys.stored.get(name)
      if (apiKey !== undefined) this.keep({ kind: 'key', key: plan === null ? apiKey : { ...apiKey, plan } })
    }
    const { log } = before
    // Those under way then have ended unrecorded.
    const ended = log && { ...log, records: log.records.filter(({ how }) => how !== undefined), unkept: [] }
    this.restore({ ...before, log: undefined }, wall)
    // A change of one record does not include its place.
    const isInside = before.records.some(([name, { changes }]) =>
      changes.some((one) => 'rank' in one && one.rank !== sizes.get(name)),
    )
    if (before.parts.records !== undefined || isInside) this.keep({ kind: 'replaced', state: this.state() })
    // Last, when the store can no longer refuse the change.
    if (ended !== undefined) this.log.restore(ended)
  }

  /** Stores a change before it is made; without a store, books its memory. @throws StoreFull, Failure STORE_WRITE_FAILED */
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
    if (this.#verbChanges !== undefined) this.#verbChanges.push(...changes)
    else this.store?.append(changes)
  }

  /** Collects the stored changes of a verb, to be written together. */
  collectChanges(): void {
    this.#verbChanges = []
  }

  /** @throws StoreFull, Failure STORE_WRITE_FAILED, with none of the changes written */
  writeChanges(): void {
    const changes = this.dropChanges()
    if (changes.length > 0) this.store?.append(changes)
  }

  dropChanges(): readonly Change[] {
    const changes = this.#verbChanges ?? []
    this.#verbChanges = undefined
    return changes
  }

  #book(bytes: number): void {
    this.shared.memoryBudget.book(bytes)
    this.heldBytes += bytes
  }
}

/** The changes to take back; none if the accounts were replaced: then they are taken back here, in those before. */
function endJournal(before: Accounts, now: Accounts): readonly AccountBefore[] {
  const journal = before.journal ?? []
  before.journal = undefined
  if (before === now) return journal
  for (const account of journal.toReversed()) before.put(account)
  return []
}

function isEqual(one: unknown, other: unknown): boolean {
  return stringifyJson(one ?? null) === stringifyJson(other ?? null)
}
