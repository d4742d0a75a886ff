import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Change, StoredState } from '../../src/domain/state.js'
import type { Disk } from '../../src/store/disk.js'
import { type FileStore, openFileStore } from '../../src/store/file-store.js'
import { temporaryFolder } from '../support/temporary-files.js'

export const SEED: StoredState = {
  nextPetId: 3,
  pets: [
    { id: 1, name: 'Bella', categoryId: 1, status: 'available' },
    { id: 9007199254740993n, name: 'Zoë', categoryId: 9223372036854775807n },
    { id: 2, name: '犬 "\n\u2028\ud800', categoryId: -4, status: 'sold' },
  ],
  orders: [{ id: 9223372036854775807n, note: null, lines: [1.5, 'x'] }],
  keys: [{ key: 'sandbox' }, { key: 'sandbox-banned', plan: 'free', always: 'banned' }],
}

/** Applies a change, independently of the store's code. */
export function changed(state: StoredState, change: Change): StoredState {
  const { pets, keys, nextPetId } = state
  switch (change.kind) {
    case 'pet': {
      const { pet } = change
      const known = pets.some(({ id }) => id === pet.id)
      const later = known ? pets.map((other) => (other.id === pet.id ? pet : other)) : [...pets, pet]
      const isNewest = typeof pet.id === 'number' && pet.id >= nextPetId
      return { ...state, pets: later, nextPetId: isNewest ? Number(pet.id) + 1 : nextPetId }
    }
    case 'pet-removed':
      return { ...state, pets: pets.filter(({ id }) => id !== change.id) }
    case 'key': {
      const { key } = change
      const isKnown = keys.some((other) => other.key === key.key)
      return { ...state, keys: isKnown ? keys.map((other) => (other.key === key.key ? key : other)) : [...keys, key] }
    }
    case 'key-removed':
      return { ...state, keys: keys.filter(({ key }) => key !== change.key) }
    case 'record':
    case 'record-removed':
      throw new Error('The packaged contract has no other records.')
    case 'replaced':
      return change.state
  }
}

export function folderWithin(folder: string): string {
  const inner = join(folder, randomUUID())
  mkdirSync(inner)
  return inner
}

interface OpenOptions {
  readonly fsync?: boolean
  readonly disk?: Disk
  readonly maxBytes?: number
  readonly reset?: boolean
}

/** Owns a state as a space does: a change takes effect once it is written. */
export class Owner {
  state: StoredState
  readonly store: FileStore
  readonly warnings: readonly string[]

  private constructor(state: StoredState, store: FileStore, warnings: readonly string[]) {
    this.state = state
    this.store = store
    this.warnings = warnings
  }

  static async open(
    file: string,
    { fsync = false, disk, maxBytes = Number.MAX_SAFE_INTEGER, reset = false }: OpenOptions = {},
  ): Promise<Owner> {
    const warnings: string[] = []
    const { state, store } = await openFileStore(file, {
      fsync,
      maxBytes,
      reset,
      warn: (message) => warnings.push(message),
      now: () => Date.parse('2026-03-01T10:00:00Z'),
      ...(disk === undefined ? {} : { disk }),
    })
    return new Owner(state ?? SEED, store, warnings)
  }

  static async start(file: string, options: OpenOptions = {}): Promise<Owner> {
    const owner = await Owner.open(file, options)
    owner.store.start(() => owner.state)
    return owner
  }

  change(...changes: readonly Change[]): void {
    this.store.append(changes)
    for (const change of changes) this.state = changed(this.state, change)
  }
}

/** A new store in a folder of its own. */
export async function aStore(options: OpenOptions = {}): Promise<{ readonly file: string; readonly owner: Owner }> {
  const file = join(temporaryFolder(), 'store.json')
  return { file, owner: await Owner.start(file, options) }
}

/** The state that the next process finds. */
export async function stateIn(file: string): Promise<StoredState> {
  const { state, store } = await Owner.open(file)
  store.close()
  return state
}
