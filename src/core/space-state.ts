import type { ConductLedger, SavedConduct } from '../conduct/conduct-ledger.js'
import { stringifyJson } from '../contract/json.js'
import type { ArmedFault } from '../domain/faults.js'
import type { RecordChange } from '../domain/records.js'
import type { Settings } from '../domain/settings.js'
import type { Snapshot, SnapshotAccount } from '../domain/state.js'
import type { RunningStorm } from '../domain/storm.js'
import type { ClockState, EpochMs } from '../domain/time.js'
import type { SavedLog } from '../exchanges/exchange-log.js'
import { Accounts } from './accounts.js'
import { type Collections, loadCollections, saveCollections, type Unserved } from './collections.js'
import { type Keys, loadKeys, type SavedKeyring, saveKeys } from './keyring.js'

/**
 * Everything that decides the next responses of a space. Its parts are replaced, never changed in place, so a shallow
 * copy is the state of that moment. Collections and accounts are copied by the first change after they were shared.
 */
export interface SpaceState {
  /** By resource. */
  readonly records: Collections
  /** What the store has of resources that are not in the contract. */
  readonly unserved: Unserved
  /** Plans that keys were moved to. The plan of `sandbox` is a setting. */
  readonly plans: ReadonlyMap<string, string>
  readonly settings: Settings
  readonly clock: ClockState
  readonly startClock: ClockState
  readonly storm: RunningStorm | undefined
  readonly faults: readonly ArmedFault[]
  readonly accounts: Accounts
  readonly randomStreams: Snapshot['dice']
  /** Resources whose records are no longer those of the seed. */
  readonly ownRecords: readonly string[]
  /** Bytes of records beyond the seed, only without a store. */
  readonly heldBytes: number
}

/** What a verb has replaced in a space. */
export interface ReplacedSpace {
  readonly state: SpaceState
  /** Undefined unless the space was removed. */
  readonly snapshots: ReadonlyMap<string, Snapshot> | undefined
  /** Undefined unless the verb emptied it, as a reset does. */
  readonly conduct: ConductLedger | undefined
  /** Undefined unless the verb emptied it. */
  readonly log: SavedLog | undefined
}

/** What restores the space of a verb, for a minute. */
export interface Undo {
  /** Position of its command. */
  readonly id: number
  readonly verb: string
  /** Real time. */
  readonly at: EpochMs
  /** Requests to the space before. */
  readonly requests: number
  /** The keys before; undefined if unchanged. */
  readonly keys: Keys | undefined
  /** Of a verb that only removed records: these return, and everything since stays. */
  readonly removedRecords: readonly RecordChange[] | undefined
  /** Of other verbs: the space returns to it. */
  readonly before: ReplacedSpace | undefined
}

interface SavedForms {
  readonly records: ReturnType<typeof saveCollections>
  readonly plans: readonly (readonly [string, string])[]
  readonly storm: RunningStorm | null
  readonly accounts: readonly SnapshotAccount[]
}

export type SavedState = Omit<SpaceState, keyof SavedForms> & SavedForms

/** In the order of the text: equal states have equal texts. */
export function saveState({ records, unserved, plans, storm, accounts, ...plain }: SpaceState): SavedState {
  return {
    records: saveCollections(records),
    unserved,
    plans: [...plans],
    storm: storm ?? null,
    accounts: accounts.save(),
    ...plain,
  }
}

export function loadState({ records, plans, storm, accounts, ...plain }: SavedState): SpaceState {
  return {
    ...plain,
    records: loadCollections(records),
    plans: new Map(plans),
    storm: storm ?? undefined,
    accounts: new Accounts(accounts),
  }
}

/**
 * Whether two states are equal. Plain parts are compared by value: after loading a checkpoint, equal parts are different
 * objects.
 */
export function isSameState(one: SpaceState, other: SpaceState): boolean {
  const { records, accounts, plans, ...plain } = one
  if (records !== other.records || accounts !== other.accounts || plans !== other.plans) return false
  return Object.entries(plain).every(([name, part]) => {
    const present: unknown = Reflect.get(other, name)
    return part === present || stringifyJson(part ?? null) === stringifyJson(present ?? null)
  })
}

interface SavedReplaced {
  readonly state: SavedState
  readonly snapshots: readonly (readonly [string, Snapshot])[] | null
  readonly conduct: SavedConduct | null
  readonly log: SavedLog | null
}

export interface SavedUndo extends Omit<Undo, 'keys' | 'removedRecords' | 'before'> {
  readonly keys: SavedKeyring | null
  readonly removedRecords: readonly RecordChange[] | null
  readonly before: SavedReplaced | null
}

export function saveUndo({ keys, removedRecords, before, ...facts }: Undo): SavedUndo {
  return {
    ...facts,
    keys: keys === undefined ? null : saveKeys(keys),
    removedRecords: removedRecords ?? null,
    before: before === undefined ? null : saveReplaced(before),
  }
}

function saveReplaced({ state, snapshots, conduct, log }: ReplacedSpace): SavedReplaced {
  return {
    state: saveState(state),
    snapshots: snapshots === undefined ? null : [...snapshots],
    conduct: conduct?.save() ?? null,
    log: log ?? null,
  }
}

type LoadConduct = (saved: SavedConduct) => ConductLedger

export function loadUndo({ keys, removedRecords, before, ...facts }: SavedUndo, loadConduct: LoadConduct): Undo {
  return {
    ...facts,
    keys: keys === null ? undefined : loadKeys(keys),
    removedRecords: removedRecords ?? undefined,
    before: before === null ? undefined : loadReplaced(before, loadConduct),
  }
}

function loadReplaced({ state, snapshots, conduct, log }: SavedReplaced, loadConduct: LoadConduct): ReplacedSpace {
  return {
    state: loadState(state),
    snapshots: snapshots === null ? undefined : new Map(snapshots),
    conduct: conduct === null ? undefined : loadConduct(conduct),
    log: log ?? undefined,
  }
}
