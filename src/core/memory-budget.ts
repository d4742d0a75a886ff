import type { Values } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import type { ArmedFault, FaultRule } from '../domain/faults.js'
import type { ApiKey } from '../domain/keys.js'
import { StoreFull } from '../domain/problems.js'
import { type RecordChange, recordText } from '../domain/records.js'
import type { Change, KeptResponse, Snapshot, SpaceStart, StoredState } from '../domain/state.js'
import { utf8Length } from '../system/runtime.js'
import type { Collections } from './collections.js'
import type { Keyring } from './keyring.js'
import type { SpaceState } from './space-state.js'
import type { NextState } from './transitions.js'

/** Places in the lists and indexes of a collection, measured with 1,000,000 pets. */
const COPY_BYTES_PER_RECORD = 40

interface HoldingSpace {
  readonly name: string
  readonly state: SpaceState
  readonly shared: { readonly keys: Pick<Keyring, 'stored'>; readonly start: Pick<SpaceStart, 'faults'> }
  readonly seed: StoredState
  readonly store: unknown
}

/**
 * What a space holds after a commit: fault rules and kept responses; without a store also records and keys, and the copies
 * that the first changes of the seed's records make.
 */
export function heldAfter(
  { name, state, shared, seed, store }: HoldingSpace,
  next: NextState,
  changes: readonly Change[],
): Pick<SpaceState, 'heldBytes'> & Partial<Pick<SpaceState, 'ownRecords'>> {
  const { records, ownRecords } = state
  if (store !== undefined && next.faults === undefined && next.idempotent === undefined)
    return { heldBytes: next.heldBytes ?? state.heldBytes }
  const rulesBefore = ruleBytes(state.faults, shared.start.faults)
  const rules = next.faults === undefined ? rulesBefore : ruleBytes(next.faults, shared.start.faults)
  const kept = next.idempotent === undefined ? 0 : keptBytes(next.idempotent) - keptBytes(state.idempotent)
  let heldBytes = state.heldBytes + rules - rulesBefore + kept
  const copied = new Set<string>()
  if (store === undefined)
    for (const change of changes) {
      if (change.kind === 'replaced') {
        // Only the default space counts keys, for all spaces.
        heldBytes +=
          bytesBeyond(seed, change.state, name === '') - (state.heldBytes - rulesBefore - keptBytes(state.idempotent))
      } else if (change.kind === 'put' || change.kind === 'remove') {
        heldBytes += bytesOf(change, records)
        if (!ownRecords.includes(change.resource)) copied.add(change.resource)
      } else heldBytes += keyBytes(change, shared.keys.stored)
    }
  for (const resource of copied) heldBytes += (records.get(resource)?.size ?? 0) * COPY_BYTES_PER_RECORD
  return {
    heldBytes: next.heldBytes ?? heldBytes,
    ...(copied.size > 0 && { ownRecords: [...ownRecords, ...copied] }),
  }
}

function bytesOf(change: RecordChange, records: Collections): number {
  const collection = records.get(change.resource)
  if (change.kind === 'remove') return -recordBytes(collection?.get(change.scope, change.id))
  const { scope, value } = change.record
  return recordBytes(value) - recordBytes(collection?.get(scope, value[collection.idProperty]))
}

function keyBytes(change: Change & { kind: 'key' | 'key-removed' }, stored: ReadonlyMap<string, ApiKey>): number {
  if (change.kind === 'key') return change.key.key.length - (stored.get(change.key.key)?.key.length ?? 0)
  return -(stored.get(change.key)?.key.length ?? 0)
}

/** Records and keys of a state that its seed does not have, by their text. */
function bytesBeyond(seed: StoredState, state: StoredState, hasKeys: boolean): number {
  const seedKeys = new Set(seed.keys.map(({ key }) => key))
  const addedKeys = hasKeys ? state.keys.filter(({ key }) => !seedKeys.has(key)) : []
  const seeded = new Map(seed.records)
  const added = state.records.flatMap(([name, { values }]) => valuesNotIn(values, seeded.get(name)?.values ?? []))
  const keyLengths = addedKeys.reduce((bytes, { key }) => bytes + key.length, 0)
  return added.reduce<number>((bytes, value) => bytes + recordBytes(value as Values), keyLengths)
}

const texts = new WeakMap<FaultRule, string>()

function ruleText(rule: FaultRule): string {
  const text = texts.get(rule) ?? stringifyJson(rule)
  texts.set(rule, text)
  return text
}

/** Bytes of fault rules with their bodies, without those of the start. */
export function ruleBytes(faults: readonly Pick<ArmedFault, 'rule'>[], start: readonly FaultRule[]): number {
  if (faults.length === 0) return 0
  const ofStart = new Set(start.map(ruleText))
  const added = faults.map(({ rule }) => ruleText(rule)).filter((text) => !ofStart.has(text))
  return added.reduce((sum, text) => sum + utf8Length(text), 0)
}

const sizes = new WeakMap<object, number>()

/** @param measure is called once for each value: values do not change */
function totalBytes<T extends object>(values: Iterable<T>, measure: (value: T) => number): number {
  let total = 0
  for (const value of values) {
    const bytes = sizes.get(value) ?? measure(value)
    sizes.set(value, bytes)
    total += bytes
  }
  return total
}

/** Bytes of responses that an Idempotency-Key keeps. */
export function keptBytes(kept: readonly KeptResponse[]): number {
  return totalBytes(kept, (response) => utf8Length(stringifyJson(response)))
}

/** Bytes of snapshots as UTF-8 text. */
export function snapshotBytes(snapshots: ReadonlyMap<string, Snapshot>): number {
  return totalBytes(snapshots.values(), textBytes)
}

function textBytes({ state, ...rest }: Snapshot): number {
  const records = state.records.flatMap(([, { values }]) => values)
  return records.reduce<number>(
    (bytes, value) => bytes + recordBytes(value as Values),
    utf8Length(stringifyJson({ ...rest, keys: state.keys })),
  )
}

function recordBytes(value: Values | undefined): number {
  return value === undefined ? 0 : utf8Length(recordText(value))
}

/** Compares by text, because a record that was read back is a different object. */
function valuesNotIn(values: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  if (values === others) return []
  const same = new Set(others)
  const unlike = values.filter((value) => !same.has(value))
  if (unlike.length === 0) return unlike
  const texts = new Set(others.map((value) => stringifyJson(value)))
  return unlike.filter((value) => !texts.has(stringifyJson(value)))
}

export interface RoomState {
  readonly bytes: number
  readonly hasWarned: boolean
}

/** The memory of all spaces beyond their start: fault rules, kept responses and snapshots, and without a store records and keys. */
export class MemoryBudget {
  readonly #limit: number
  readonly #warn: (message: string) => void
  state: RoomState = { bytes: 0, hasWarned: false }

  constructor(limit: number, warn: (message: string) => void) {
    this.#limit = limit
    this.#warn = warn
  }

  /** Adds or subtracts bytes. Warns when the memory is first used up. @throws StoreFull */
  reserve(bytes: number): void {
    const { state } = this
    if (bytes > 0 && state.bytes + bytes > this.#limit) {
      const full = new StoreFull('The memory of the spaces', this.#limit)
      if (!state.hasWarned) this.#warn(full.message)
      this.state = { ...state, hasWarned: true }
      throw full
    }
    if (bytes !== 0) this.state = { ...state, bytes: state.bytes + bytes }
  }
}
