import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Values } from '../../src/contract/contract.js'
import type { Pet } from '../../src/contract/generated/entities.js'
import type { Int64 } from '../../src/contract/int64.js'
import type { ResourceData } from '../../src/contract/resource-data.js'
import type { ApiKey } from '../../src/domain/keys.js'
import type { Change, StoredState } from '../../src/domain/state.js'
import type { Disk } from '../../src/store/disk.js'
import { type FileStore, openFileStore } from '../../src/store/file-store.js'
import { Layout } from '../../src/store/layout.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** Pets and orders, as a contract has them, and toys of owners. */
export const RESOURCES: readonly ResourceData[] = [
  resource({ name: 'pets', path: '/pets' }),
  resource({ name: 'orders', path: '/store/orders', isFixed: true }),
  resource({
    name: 'toys',
    path: '/owners/{ownerId}/toys',
    parents: [{ parameter: 'ownerId', field: 'ownerId', isInteger: true }],
  }),
]

function resource(given: Pick<ResourceData, 'name' | 'path'> & Partial<ResourceData>): ResourceData {
  const because = { record: '', id: '' }
  return { parents: [], id: { property: 'id', kind: 'integer' }, because, properties: {}, unique: [], ...given }
}

const PETS: readonly Pet[] = [
  { id: 1, name: 'Bella', categoryId: 1, status: 'available' },
  { id: 9007199254740993n, name: 'Zoë', categoryId: 9223372036854775807n },
  { id: 2, name: '犬 "\n\u2028\ud800', categoryId: -4, status: 'sold' },
]

export const SEED: StoredState = stateWith({
  pets: PETS,
  orders: [{ id: 9223372036854775807n, note: null, lines: [1.5, 'x'] }],
  keys: [{ key: 'sandbox' }, { key: 'sandbox-banned', plan: 'free', always: 'banned' }],
})

interface Parts {
  readonly pets: readonly Pet[]
  readonly nextId?: Int64
  readonly orders: readonly Values[]
  readonly keys: readonly ApiKey[]
}

export function stateWith({ pets, nextId = 3, orders, keys }: Parts): StoredState {
  const records = [
    ['pets', { idProperty: 'id', nextId, values: pets as readonly object[] as readonly Values[] }],
    ['orders', { idProperty: 'id', nextId: 1, values: orders }],
  ] as const
  return { records, others: [], keys }
}

export function put(pet: Pet): Change {
  return { kind: 'put', resource: 'pets', record: { scope: [], value: pet as object as Values } }
}

export function remove(id: Int64): Change {
  return { kind: 'remove', resource: 'pets', scope: [], id: String(id) }
}

export function petsOf({ records }: StoredState): readonly Pet[] {
  return (new Map(records).get('pets')?.values ?? []) as readonly object[] as readonly Pet[]
}

type Records = StoredState['records'][number][1]

/** Applies a change, independently of the store's code. */
export function changed(state: StoredState, change: Change): StoredState {
  const { records, keys } = state
  const withRecords = (resource: string, change: (before: Records) => Records): StoredState => {
    const before = new Map(records).get(resource) ?? { idProperty: 'id', nextId: 1, values: [] }
    return { ...state, records: [...new Map(records).set(resource, change(before))] }
  }
  const isRecord = (scope: readonly string[], id: unknown, before: Records, index: number) =>
    String(before.values[index]?.id) === String(id) && String(before.scopes?.[index] ?? '') === String(scope)
  switch (change.kind) {
    case 'put':
      return withRecords(change.resource, (before) => {
        const { scope, value } = change.record
        const known = before.values.findIndex((_, index) => isRecord(scope, value.id, before, index))
        const values = known === -1 ? [...before.values, value] : before.values.with(known, value)
        const scopes = [...(before.scopes ?? []), ...(known === -1 && scope.length > 0 ? [scope] : [])]
        const isNewest = typeof value.id === 'number' && known === -1 && value.id >= before.nextId
        const nextId = isNewest ? Number(value.id) + 1 : before.nextId
        return { ...before, values, nextId, ...(scopes.length > 0 && { scopes }) }
      })
    case 'remove':
      return withRecords(change.resource, (before) => {
        const isKept = (_: unknown, index: number) => !isRecord(change.scope, change.id, before, index)
        const { scopes, ...others } = before
        const kept = scopes?.filter(isKept) ?? []
        return { ...others, values: before.values.filter(isKept), ...(kept.length > 0 && { scopes: kept }) }
      })
    case 'key': {
      const { key } = change
      const isKnown = keys.some((other) => other.key === key.key)
      return { ...state, keys: isKnown ? keys.map((other) => (other.key === key.key ? key : other)) : [...keys, key] }
    }
    case 'key-removed':
      return { ...state, keys: keys.filter(({ key }) => key !== change.key) }
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
  readonly resources?: readonly ResourceData[]
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
    { fsync = false, disk, maxBytes = Number.MAX_SAFE_INTEGER, reset = false, resources = RESOURCES }: OpenOptions = {},
  ): Promise<Owner> {
    const warnings: string[] = []
    const { state, store } = await openFileStore(file, {
      fsync,
      maxBytes,
      reset,
      warn: (message) => warnings.push(message),
      now: () => Date.parse('2026-03-01T10:00:00Z'),
      layout: new Layout(resources, SEED.keys),
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
