import { ConductLedger } from '../conduct/conduct-ledger.js'
import type { PastSpace } from '../conduct/total-conduct.js'
import type { Values } from '../contract/contract.js'
import type { Collection } from '../domain/collection.js'
import type { Account, AccountId, ApiKey } from '../domain/keys.js'
import type { EndedExchange } from '../domain/messages.js'
import { planLimits, planNames } from '../domain/plans.js'
import type { Limits } from '../domain/quota.js'
import { type RecordChange, type RecordId, RecordRefused } from '../domain/records.js'
import type { Change, Snapshot, StoredState } from '../domain/state.js'
import { type EpochMs, readClock } from '../domain/time.js'
import { ExchangeLog, type SavedLog } from '../exchanges/exchange-log.js'
import type { Accounts } from './accounts.js'
import { type Collections, hasUnsavedRecords } from './collections.js'
import type { Instant } from './command.js'
import { currentLimits, currentPlan, type Keys } from './keyring.js'
import { heldAfter, snapshotBytes } from './memory-budget.js'
import type { SpaceContext, Store } from './space-context.js'
import { isEqual, type SpaceState } from './space-state.js'
import { startState } from './start-state.js'
import type { NextState } from './transitions.js'
import type { ReplacedFile, ReplacedSpace, Undo } from './undo.js'

/** What a space reads and fills of its `Transaction`: what that found, and what it has done so far. */
export interface OpenTransaction extends Pick<Space, 'state'> {
  readonly keys: Keys
  /** Written together at its end. */
  readonly changes: Change[]
  /** The log that it has cleared. */
  log: SavedLog | undefined
  /** The snapshot on disk that it has replaced or removed, as it was before. */
  file: ReplacedFile | undefined
  /** Actions that cannot be undone. They run once everything is written. */
  readonly afterwards: (() => void)[]
}

/** What a request has left of its account. */
interface ChargedAccount {
  readonly id: AccountId
  readonly account: Account
}

/** Parts whose memory is counted, apart from records and keys. */
const HELD = ['heldBytes', 'faults', 'idempotent'] as const

/** Of a commit that replaces no part. */
export const NOTHING: NextState = {}

const NO_CHANGES: readonly Change[] = []

/**
 * One isolated space: a state, and `commit`, which changes it. Only a failed transaction and a checkpoint replace it. Log and conduct follow what happens. Neither is part of the
 * state, but conduct tells `checkBan` whether a request is early.
 */
export class Space {
  readonly name: string
  readonly shared: SpaceContext
  readonly store: Store | undefined
  readonly log: ExchangeLog
  state: SpaceState
  /** The state that a reset returns to. */
  seed: StoredState
  /** Only without a store. */
  snapshots: ReadonlyMap<string, Snapshot> = new Map()
  undo: Undo | undefined
  conduct: ConductLedger
  /** Requests so far. No verb resets it; the undo of a removed space brings its number back. */
  requests = 0
  /** The store lacks the contract's examples. The next change stores them. */
  hasUnsavedRecords: boolean
  /** The running one. Its changes are stored at its end. */
  transaction: OpenTransaction | undefined

  /**
   * @param name empty for the default space @param seed the state that a reset returns to @param stored the stored
   * state, if any @param store without one, the space is in memory only
   */
  constructor(
    name: string,
    shared: SpaceContext,
    wall: EpochMs,
    seed: StoredState,
    stored: StoredState = seed,
    store?: Store,
  ) {
    this.name = name
    this.shared = shared
    this.seed = seed
    this.store = store
    this.log = new ExchangeLog(shared.logLimit, shared.logBudget)
    if (shared.onExchange !== undefined) this.log.follow({ onEnded: shared.onExchange, end() {} })
    this.conduct = this.openConduct()
    this.hasUnsavedRecords = hasUnsavedRecords(shared.contract, stored)
    this.state = startState(this, stored, wall)
  }

  openConduct(): ConductLedger {
    return new ConductLedger(planNames(this.shared.contract).map((plan) => planLimits(this.shared.contract, plan)))
  }

  now(wall: EpochMs): EpochMs {
    return readClock(this.state.clock, wall)
  }

  get keys(): ReadonlyMap<string, ApiKey> {
    return this.shared.keys.valid
  }

  /** Undefined without quotas. */
  currentPlan(apiKey: ApiKey): string | undefined {
    return currentPlan(this.shared.contract, apiKey, this.state)
  }

  /** @param apiKey undefined for requests without a valid one */
  currentLimits(apiKey: ApiKey | undefined): Limits {
    return currentLimits(this.shared.contract, apiKey, this.state)
  }

  hasRecord({ resource, scope, id }: RecordId): boolean {
    return this.state.records.get(resource)?.get(scope, id) !== undefined
  }

  /** @param keys of the sandbox */
  stored({ records, unserved, plans }: SpaceState = this.state, keys: Keys = this.shared.keys.all): StoredState {
    const saved = Array.from(records, ([name, collection]) => [name, collection.save()] as const)
    return { records: [...saved, ...unserved.records], others: unserved.others, keys: this.storedKeys(plans, keys) }
  }

  /** What the store may contain: while a verb runs, the state before it. */
  committed(): StoredState {
    return this.stored(this.transaction?.state, this.transaction?.keys)
  }

  /** The keys that outlive the process, each on its plan in this space, or on another one of `plans`. */
  storedKeys(plans = this.state.plans, { stored }: Keys = this.shared.keys.all): readonly ApiKey[] {
    return [...stored.values()].map((apiKey) => {
      const plan = plans.get(apiKey.key)
      return plan === undefined ? apiKey : { ...apiKey, plan }
    })
  }

  /**
   * Goes on to the next state: all or nothing, and stored first. Within a verb it is stored at its end.
   * @param next the parts that are replaced @param changes of records, made in place; others are stored only
   * @throws StoreFull, Failure STORE_WRITE_FAILED; RecordRefused if the contract does not allow a record in responses
   */
  commit(next: NextState, changes: readonly Change[] = NO_CHANGES, charged?: ChargedAccount): void {
    let parts = next
    if (changes.length > 0 || (next !== NOTHING && HELD.some((part) => next[part] !== undefined))) {
      const written = this.#write(next, changes)
      if (written !== NOTHING) parts = { ...written, ...next }
    }
    if (charged !== undefined) parts = this.#charge(parts, charged)
    if (parts !== NOTHING) this.state = { ...this.state, ...parts }
  }

  #write(next: NextState, changes: readonly Change[]): NextState {
    const ofRecords = changes.filter((change) => change.kind === 'put' || change.kind === 'remove')
    for (const change of ofRecords) if (change.kind === 'put') this.#checkRecord(change.resource, change.record.value)
    const held = heldAfter(this, next, changes)
    this.shared.memoryBudget.reserve(held.heldBytes - this.state.heldBytes)
    try {
      this.#store(changes, ofRecords)
    } catch (error) {
      this.shared.memoryBudget.reserve(this.state.heldBytes - held.heldBytes)
      throw error
    }
    let { records } = this.state
    for (const change of ofRecords) {
      records = this.#ownRecords(records, change.resource)
      const collection = records.get(change.resource) as Collection | undefined
      if (change.kind === 'put') collection?.put(change.record, change.rank)
      else collection?.remove(change.scope, change.id)
    }
    // Most writes change a collection in place: a new state would be a copy.
    const isSame = records === this.state.records && held.ownRecords === undefined
    return isSame && held.heldBytes === this.state.heldBytes ? NOTHING : { records, ...held }
  }

  #charge(next: NextState, { id, account }: ChargedAccount): NextState {
    const accounts = this.state.accounts as Accounts
    const own = accounts.isShared ? accounts.copy() : accounts
    own.put(id, account)
    return own === accounts ? next : { ...next, accounts: own }
  }

  #checkRecord(resource: string, value: Values): void {
    const violations = this.shared.contract.rules?.get(resource)?.findViolations(value) ?? []
    if (violations.length > 0)
      throw new RecordRefused(
        'invalid_request',
        `The responses of the contract do not allow this record: ${violations.join('; ')}.`,
      )
  }

  /** Collections in which the one of a resource belongs to no other state. */
  #ownRecords(records: Collections, resource: string): Collections {
    const collection = records.get(resource) as Collection | undefined
    const isOwn = collection?.isShared !== true && this.transaction?.state.records.get(resource) !== collection
    return collection === undefined || isOwn ? records : new Map(records).set(resource, collection.copy())
  }

  #store(changes: readonly Change[], ofRecords: readonly RecordChange[]): void {
    if (changes.length === 0 || this.store === undefined) return
    const isFirst = this.hasUnsavedRecords && ofRecords.length > 0
    const all: readonly Change[] = isFirst ? [{ kind: 'replaced', state: this.stored() }, ...changes] : changes
    if (this.transaction === undefined) this.store.append(all)
    else this.transaction.changes.push(...all)
    if (ofRecords.length > 0) this.hasUnsavedRecords = false
    for (const change of changes)
      if (change.kind === 'replaced') this.hasUnsavedRecords = hasUnsavedRecords(this.shared.contract, change.state)
  }

  /** @throws StoreFull */
  setSnapshots(snapshots: ReadonlyMap<string, Snapshot>): void {
    this.shared.memoryBudget.reserve(snapshotBytes(snapshots) - snapshotBytes(this.snapshots))
    this.snapshots = snapshots
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

  clearLog(): void {
    if (this.log.total === 0 && this.log.events.length === 0) return
    const before = this.log.clear()
    if (this.transaction !== undefined) this.transaction.log ??= before
  }

  restart(wall: EpochMs): void {
    // Tokens of before do not work again.
    const { issued } = this.state.logins
    const logins = { issued, ended: issued }
    const { conduct } = this
    this.commit({ ...startState(this, this.seed, wall), logins }, [{ kind: 'replaced', state: this.seed }])
    this.#afterwards(() => this.keepPast(conduct))
    this.clearLog()
    this.conduct = this.openConduct()
  }

  /** The space is reset or removed. Keeps what a report needs, without the records. */
  keepPast(conduct = this.conduct): void {
    this.shared.pastConduct?.add(pastSpace(this.shared, { ...this.state, name: this.name, conduct }))
  }

  #afterwards(act: () => void): void {
    if (this.transaction === undefined) act()
    else this.transaction.afterwards.push(act)
  }

  /**
   * Returns to the state before a verb. What clients changed since is lost. Conduct, log and snapshots stay, unless the verb
   * replaced them.
   * @throws StoreFull, Failure STORE_WRITE_FAILED
   */
  restore({ state, snapshots, conduct, log }: ReplacedSpace): void {
    const { conduct: dropped } = this
    this.commit(state, this.store === undefined ? [] : this.#changesTo(state))
    if (snapshots !== undefined) this.setSnapshots(snapshots)
    this.conduct = conduct ?? this.conduct
    this.#afterwards(() => {
      // The conduct from before the verb is back; that of the time since is discarded.
      conduct?.forgetOpen()
      if (conduct?.requests) this.shared.pastConduct?.takeBack(this.name)
      if (conduct) this.keepPast(dropped)
      // Requests in flight at the verb may have ended since, and nothing recorded it.
      if (log) this.log.restore({ ...log, records: log.records.filter(({ how }) => how !== undefined), unkept: [] })
    })
  }

  /** The changes that bring the store from the present state to another one. */
  #changesTo(state: SpaceState): readonly Change[] {
    const isSame = [...state.records].every(([name, records]) => this.state.records.get(name) === records)
    if (!isSame) return [{ kind: 'replaced', state: this.stored(state) }]
    const present = this.storedKeys()
    return this.storedKeys(state.plans).flatMap((key, i) => (isEqual(key, present[i]) ? [] : [{ kind: 'key', key }]))
  }

  close(): void {
    this.log.close()
    this.setSnapshots(new Map())
    this.shared.memoryBudget.reserve(-this.state.heldBytes)
  }
}

export function pastSpace(
  shared: SpaceContext,
  { name, conduct, settings, plans }: Pick<SpaceState, 'settings' | 'plans'> & Pick<PastSpace, 'name' | 'conduct'>,
): PastSpace {
  const planOf = (apiKey: ApiKey) => currentPlan(shared.contract, apiKey, { settings, plans })
  return { name, conduct, shared, state: { settings }, plans, currentPlan: planOf }
}
