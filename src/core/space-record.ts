import type { ConductLedger, SavedConduct } from '../conduct/conduct-ledger.js'
import { stringifyJson } from '../contract/json.js'
import type { ArmedFault } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import type { Settings } from '../domain/settings.js'
import type { Snapshot, StoredState } from '../domain/state.js'
import type { RunningStorm } from '../domain/storm.js'
import type { ClockState, EpochMs } from '../domain/time.js'
import type { SavedLog } from '../exchanges/exchange-log.js'
import { type AccountBefore, Accounts, type SavedAccount } from './accounts.js'
import { type Collections, type CollectionsBefore, loadCollections, saveCollections } from './collections.js'
import type { SavedKeyring } from './keyring.js'

/**
 * Everything in a space that a request or a verb can change, except the log. Parts are replaced, never changed in
 * place, so a shallow copy is a snapshot. Exceptions are records and accounts, which keep a journal of inverse changes,
 * and conduct.
 */
export class SpaceRecord {
  /** By resource. */
  readonly records!: Collections
  /** What the store has of resources that are not in the contract. */
  readonly unserved!: Omit<StoredState, 'keys'>
  /** Plans that keys were moved to. The plan of `sandbox` is a setting. */
  readonly plans!: ReadonlyMap<string, PlanName>
  readonly settings!: Settings
  readonly clock!: ClockState
  readonly startClock!: ClockState
  readonly storm!: RunningStorm | undefined
  readonly faults!: readonly ArmedFault[]
  readonly accounts!: Accounts
  readonly conduct!: ConductLedger
  readonly dice!: Snapshot['dice']
  /** Only without a store. */
  readonly snapshots!: ReadonlyMap<string, Snapshot>
  /** Bytes beyond the seed, only without a store. */
  heldBytes!: number
  undo: Undo | undefined = undefined
}

/** Null: it did not exist. */
type EntryBefore<Value> = readonly [name: string, before: Value | null]

/** The state before a verb, for everything that it has changed, as plain data. */
export interface SpaceBefore {
  /** Parts that an undo replaces. Of the others it restores the changed entries. */
  readonly parts: Partial<Omit<SavedRecord, 'plans' | 'snapshots' | 'heldBytes' | 'undo'>>
  readonly accounts: readonly AccountBefore[]
  readonly records: CollectionsBefore
  readonly plans: readonly EntryBefore<PlanName>[]
  readonly snapshots: readonly EntryBefore<Snapshot>[]
  readonly log?: SavedLog | undefined
}

export interface Undo {
  /** Position of its command. */
  readonly id: number
  readonly verb: string
  /** Real time. */
  readonly at: EpochMs
  /** Keys before, and those that the verb has added; null if unchanged. */
  readonly keys: (SavedKeyring & { readonly added: readonly string[] }) | null
  /** By name. */
  readonly spaces: readonly (readonly [name: string, before: SpaceBefore])[]
}

type Entries<Part> = Part extends ReadonlyMap<infer Name, infer Value> ? readonly (readonly [Name, Value])[] : never

interface SavedForms {
  readonly records: ReturnType<typeof saveCollections>
  readonly plans: Entries<SpaceRecord['plans']>
  readonly storm: RunningStorm | null
  readonly accounts: readonly SavedAccount[]
  readonly conduct: SavedConduct
  readonly snapshots: Entries<SpaceRecord['snapshots']>
  readonly undo: Undo | null
}
export type SavedRecord = Omit<SpaceRecord, keyof SavedForms> & SavedForms

type OpenConduct = () => ConductLedger

interface Codec<Part, Saved> {
  save(part: Part): Saved
  load(saved: Saved, openConduct: OpenConduct): Part
}

/** Small parts that are plain data. */
// biome-ignore lint/suspicious/noExplicitAny: it changes no type but undefined.
const PLAIN: Codec<any, any> = { save: (part) => part ?? null, load: (saved) => saved ?? undefined }

/** In the order of the text: equal states have equal texts. */
const CODECS: { readonly [Name in keyof SpaceRecord]: Codec<SpaceRecord[Name], SavedRecord[Name]> } = {
  records: { save: saveCollections, load: loadCollections },
  unserved: PLAIN,
  plans: { save: (plans) => [...plans], load: (plans) => new Map(plans) },
  settings: PLAIN,
  clock: PLAIN,
  startClock: PLAIN,
  storm: PLAIN,
  faults: PLAIN,
  accounts: { save: (accounts) => accounts.save(), load: (saved) => new Accounts(saved) },
  conduct: {
    save: (conduct) => conduct.save(),
    load(saved, openConduct) {
      const conduct = openConduct()
      conduct.restore(saved)
      return conduct
    },
  },
  dice: PLAIN,
  snapshots: { save: (snapshots) => [...snapshots], load: (snapshots) => new Map(snapshots) },
  heldBytes: PLAIN,
  undo: PLAIN,
}
const PARTS = Object.entries(CODECS) as readonly (readonly [keyof SpaceRecord, Codec<unknown, unknown>])[]

export function saveParts(parts: SpaceRecord): SavedRecord
export function saveParts(parts: Partial<SpaceRecord>): Partial<SavedRecord>
export function saveParts(parts: Partial<SpaceRecord>): Partial<SavedRecord> {
  return mapParts(parts, (codec, part) => codec.save(part))
}

export function loadParts(saved: Partial<SavedRecord>, openConduct: OpenConduct): Partial<SpaceRecord> {
  return mapParts(saved, (codec, part) => codec.load(part, openConduct))
}

export function copyRecord(record: SpaceRecord): SpaceRecord {
  return mapParts(record, (_codec, part) => part) as SpaceRecord
}

function mapParts(parts: object, change: (codec: Codec<unknown, unknown>, part: unknown) => unknown): object {
  return Object.fromEntries(
    PARTS.flatMap(([name, codec]) => (name in parts ? [[name, change(codec, Reflect.get(parts, name))]] : [])),
  )
}

/**
 * Saves the changed parts, as they were before. Plain ones are compared by value: after loading a checkpoint, equal parts
 * are different objects.
 */
export function changedParts(
  { plans: _plans, snapshots: _snapshots, heldBytes: _bytes, undo: _undo, ...before }: SpaceRecord,
  now: SpaceRecord,
): SpaceBefore['parts'] {
  const hasChanged = ([name, part]: readonly [string, unknown]) => {
    const other: unknown = Reflect.get(now, name)
    const isPlain = Reflect.get(CODECS, name) === PLAIN
    return part !== other && !(isPlain && stringifyJson(part ?? null) === stringifyJson(other ?? null))
  }
  return saveParts(Object.fromEntries(Object.entries(before).filter(hasChanged)))
}

/** The changed entries of a map, as they were before. */
export function changedEntries<Value>(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
): readonly EntryBefore<Value>[] {
  if (before === after) return []
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => [name, before.get(name) ?? null])
}

export function withEntries<Value>(
  now: ReadonlyMap<string, Value>,
  entries: readonly EntryBefore<Value>[],
): ReadonlyMap<string, Value> {
  if (entries.length === 0) return now
  const map = new Map(now)
  for (const [name, value] of entries)
    if (value === null) map.delete(name)
    else map.set(name, value)
  return map
}

export function isEmpty({ parts, accounts, records, plans, snapshots, log }: SpaceBefore): boolean {
  return (
    log === undefined && [Object.keys(parts), accounts, records, plans, snapshots].every(({ length }) => length === 0)
  )
}
