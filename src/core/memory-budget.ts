import type { Values } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import type { ArmedFault, FaultRule } from '../domain/faults.js'
import type { ApiKey } from '../domain/keys.js'
import { StoreFull } from '../domain/problems.js'
import { recordText } from '../domain/records.js'
import type { Change, Snapshot, StoredState } from '../domain/state.js'
import { utf8Length } from '../system/runtime.js'

interface Holder {
  readonly seed: StoredState
  readonly keys: ReadonlyMap<string, ApiKey>
  /** Whether keys count for this space: only the default space counts them, for all spaces. */
  readonly hasKeys: boolean
  readonly heldBytes: number
}

/** Bytes that a change of keys, or of everything, adds beyond the seed. Records and keys count by their text. */
export function memoryNeeded(change: Change, { seed, keys, hasKeys, heldBytes }: Holder): number {
  const keyBytes = (key: string) => keys.get(key)?.key.length ?? 0
  switch (change.kind) {
    case 'key':
      return change.key.key.length - keyBytes(change.key.key)
    case 'key-removed':
      return -keyBytes(change.key)
    case 'replaced': {
      const { state } = change
      const seedKeys = new Set(seed.keys.map(({ key }) => key))
      const addedKeys = hasKeys ? state.keys.filter(({ key }) => !seedKeys.has(key)) : []
      const seeded = new Map(seed.records)
      const added = state.records.flatMap(([name, { values }]) => valuesNotIn(values, seeded.get(name)?.values ?? []))
      const keyLengths = addedKeys.reduce((bytes, { key }) => bytes + key.length, 0)
      return added.reduce<number>((bytes, value) => bytes + recordBytes(value as Values), keyLengths) - heldBytes
    }
    default:
      return 0
  }
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

const sizes = new WeakMap<Snapshot, number>()

/** Bytes of snapshots as UTF-8 text. */
export function snapshotBytes(snapshots: ReadonlyMap<string, Snapshot>): number {
  return [...snapshots.values()].reduce((sum, snapshot) => {
    const bytes = sizes.get(snapshot) ?? textBytes(snapshot)
    sizes.set(snapshot, bytes)
    return sum + bytes
  }, 0)
}

function textBytes({ state, ...rest }: Snapshot): number {
  const records = state.records.flatMap(([, { values }]) => values)
  return records.reduce<number>(
    (bytes, value) => bytes + recordBytes(value as Values),
    utf8Length(stringifyJson({ ...rest, keys: state.keys })),
  )
}

export function recordBytes(value: Values | undefined): number {
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

/** The memory of all spaces beyond their start: fault rules and snapshots, and without a store records and keys. */
export class MemoryBudget {
  readonly #limit: number
  readonly #warn: (message: string) => void
  #bytes = 0
  #hasWarned = false

  constructor(limit: number, warn: (message: string) => void) {
    this.#limit = limit
    this.#warn = warn
  }

  get state(): RoomState {
    return { bytes: this.#bytes, hasWarned: this.#hasWarned }
  }

  set state({ bytes, hasWarned }: RoomState) {
    this.#bytes = bytes
    this.#hasWarned = hasWarned
  }

  /** Adds or subtracts bytes. Warns when the memory is first used up. @throws StoreFull */
  book(bytes: number): void {
    if (bytes > 0 && this.#bytes + bytes > this.#limit) {
      const full = new StoreFull('The memory of the spaces', this.#limit)
      if (!this.#hasWarned) this.#warn(full.message)
      this.#hasWarned = true
      throw full
    }
    this.#bytes += bytes
  }
}
