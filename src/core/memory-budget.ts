import type { Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'
import type { ApiKey } from '../domain/keys.js'
import { type Pet, petText } from '../domain/pets.js'
import { StoreFull } from '../domain/problems.js'
import type { StoredRecord } from '../domain/records.js'
import type { Change, Snapshot, SpaceState } from '../domain/state.js'
import { utf8Length } from '../system/utf8.js'

/** A space without a store. */
interface Holder {
  readonly pets: { get(id: Int64): Pet | undefined }
  readonly records: ReadonlyMap<string, { get(scope: readonly string[], id: string): StoredRecord | undefined }>
  readonly seed: SpaceState
  readonly keys: ReadonlyMap<string, ApiKey>
  /** The default space counts the keys of all. */
  readonly hasKeys: boolean
  readonly heldBytes: number
}

/** Bytes that a change adds beyond the seed. Pets and keys count by their text. */
export function memoryNeeded(change: Change, { pets, records, seed, keys, hasKeys, heldBytes }: Holder): number {
  const petBytes = (id: Int64) => lengthOf(pets.get(id))
  const keyBytes = (key: string) => keys.get(key)?.key.length ?? 0
  switch (change.kind) {
    case 'pet':
      return lengthOf(change.pet) - petBytes(change.pet.id)
    case 'pet-removed':
      return -petBytes(change.id)
    case 'record': {
      const { resource, idProperty, entry } = change
      const known = records.get(resource)?.get(entry.scope, String(entry.value[idProperty]))
      return recordBytes(entry) - recordBytes(known)
    }
    case 'record-removed':
      return -recordBytes(records.get(change.resource)?.get(change.scope, change.id))
    case 'key':
      return change.key.key.length - keyBytes(change.key.key)
    case 'key-removed':
      return -keyBytes(change.key)
    case 'replaced': {
      const { state } = change
      const addedPets = state.pets === seed.pets ? [] : notAmong(state.pets, seed.pets)
      const seedKeys = new Set(seed.keys.map(({ key }) => key))
      const addedKeys = hasKeys ? state.keys.filter(({ key }) => !seedKeys.has(key)) : []
      const added = addedPets.map(lengthOf).concat(addedKeys.map(({ key }) => key.length))
      const addedRecords = totalOf(state.records) - totalOf(seed.records)
      return added.reduce((bytes, length) => bytes + length, addedRecords) - heldBytes
    }
  }
}

/** Bytes of a snapshot as UTF-8 text. */
export function snapshotBytes(snapshot: Snapshot | null | undefined): number {
  if (!snapshot) return 0
  const { state } = snapshot
  const rest = stringifyJson({ ...snapshot, state: { ...state, pets: [] } })
  return state.pets.reduce((bytes, pet) => bytes + lengthOf(pet), utf8Length(rest))
}

function recordBytes(record: StoredRecord | undefined): number {
  return record === undefined ? 0 : utf8Length(stringifyJson(record.value))
}

function totalOf(records: SpaceState['records'] = {}): number {
  const entries = Object.values(records).flatMap((one) => one.entries)
  return entries.reduce((bytes, entry) => bytes + recordBytes(entry), 0)
}

function lengthOf(pet: Pet | undefined): number {
  return pet === undefined ? 0 : utf8Length(petText(pet))
}

/** Compared by text: a pet that was read back is another object. */
function notAmong(pets: readonly Pet[], others: readonly Pet[]): readonly Pet[] {
  const same = new Set(others)
  const unlike = pets.filter((pet) => !same.has(pet))
  if (unlike.length === 0) return unlike
  const texts = new Map(others.map((pet) => [pet.id, petText(pet)]))
  return unlike.filter((pet) => texts.get(pet.id) !== petText(pet))
}

export interface RoomState {
  readonly bytes: number
  readonly hasTold: boolean
}

/** The memory of all spaces without a store, beyond their seeds. */
export class MemoryBudget {
  readonly #limit: number
  readonly #warn: (message: string) => void
  #bytes = 0
  #hasTold = false

  constructor(limit: number, warn: (message: string) => void) {
    this.#limit = limit
    this.#warn = warn
  }

  get state(): RoomState {
    return { bytes: this.#bytes, hasTold: this.#hasTold }
  }

  set state({ bytes, hasTold }: RoomState) {
    this.#bytes = bytes
    this.#hasTold = hasTold
  }

  /** Adds or subtracts bytes. Warns when the memory is first used up. @throws StoreFull */
  book(bytes: number): void {
    if (bytes > 0 && this.#bytes + bytes > this.#limit) {
      const full = new StoreFull('The memory of the spaces', this.#limit)
      if (!this.#hasTold) this.#warn(full.message)
      this.#hasTold = true
      throw full
    }
    this.#bytes += bytes
  }
}
