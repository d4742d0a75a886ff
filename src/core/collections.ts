import type { Contract } from '../contract/contract.js'
import type { ResourceData } from '../contract/resource-data.js'
import { Collection, type RecordBefore } from '../domain/collection.js'
import type { ApiKey } from '../domain/keys.js'
import type { SavedRecords } from '../domain/records.js'
import type { StoredState } from '../domain/state.js'
import { savedIn, stateOf, type unservedIn } from '../domain/state-layout.js'
import { digestOf } from '../system/runtime.js'

/** Records by resource. */
export type Collections = ReadonlyMap<string, Collection>

/** The changes of one resource to take back, and its next id before them if they changed it. */
interface CollectionBefore {
  readonly nextId?: Collection['nextId']
  readonly changes: readonly RecordBefore[]
}
export type CollectionsBefore = readonly (readonly [resource: string, before: CollectionBefore])[]

/** Whether some records that a space starts with are not in its stored state. */
export function hasUnsavedRecords({ resources }: Pick<Contract, 'resources'>, state: StoredState): boolean {
  return resources.some((one) => (one.examples ?? []).length > 0 && savedIn(state, one) === undefined)
}

/** The stored records of each resource; without any, the records of the contract's examples. */
export function openCollections({ resources }: Pick<Contract, 'resources'>, state: StoredState): Collections {
  return new Map(
    resources.map((resource) => {
      const { name, id, examples = [], properties } = resource
      const indexed = Object.keys(properties).filter((property) => properties[property]?.choices)
      const saved = savedIn(state, resource)
      const collection = saved ? new Collection(saved, indexed) : Collection.empty(id.property, indexed)
      if (saved === undefined) for (const value of examples) collection.put({ scope: [], value })
      return [name, collection]
    }),
  )
}

/** Named spaces start with the same records. */
const seeded = new WeakMap<StoredState, Collections>()

export function openSeed(contract: Pick<Contract, 'resources'>, seed: StoredState): Collections {
  let known = seeded.get(seed)
  if (known === undefined) {
    known = openCollections(contract, seed)
    seeded.set(seed, known)
  }
  return copyCollections(known)
}

export function copyCollections(collections: Collections): Collections {
  return new Map(Array.from(collections, ([name, collection]) => [name, collection.copy()]))
}

/** The state of collections, beside what no resource of the contract has. */
export function stateFrom(
  { resources }: Pick<Contract, 'resources'>,
  collections: Collections,
  unserved: ReturnType<typeof unservedIn>,
  keys: readonly ApiKey[],
): StoredState {
  const saved = resources.flatMap((resource): readonly (readonly [ResourceData, SavedRecords])[] => {
    const collection = collections.get(resource.name)
    return collection === undefined ? [] : [[resource, collection.save()]]
  })
  return stateOf(unserved, saved, keys)
}

type SavedCollection = SavedRecords & { readonly indexed: readonly string[] }

export function saveCollections(collections: Collections): readonly (readonly [name: string, SavedCollection])[] {
  return [...collections].map(([name, collection]) => [name, { ...collection.save(), indexed: collection.indexed }])
}

export function loadCollections(saved: ReturnType<typeof saveCollections>): Collections {
  return new Map(saved.map(([name, records]) => [name, new Collection(records, records.indexed)]))
}

/** Starts the journals of a verb. Returns a function that ends them, and returns the changes to take back. */
export function beginJournals(before: Collections): (now: Collections) => CollectionsBefore {
  const nextIds = [...before].map(([name, collection]) => {
    collection.journal = []
    return [name, collection.nextId] as const
  })
  return (now) => {
    const changed = nextIds.flatMap(([name, nextId]) => {
      const collection = before.get(name)
      const changes = collection?.journal ?? []
      const hasNextId = collection?.nextId !== nextId
      if (changes.length === 0 && !hasNextId) return []
      // An undo must not return ids that clients have used since.
      return [[name, { changes, ...(hasNextId && { nextId }) }] as const]
    })
    for (const collection of before.values()) collection.journal = undefined
    if (now === before) return changed
    // They were replaced: those before are taken back as a whole.
    revertRecords(before, changed)
    return []
  }
}

export function revertRecords(collections: Collections, before: CollectionsBefore): void {
  for (const [name, { nextId, changes }] of before) {
    const collection = collections.get(name)
    if (collection === undefined) continue
    for (const change of changes.toReversed()) collection.revert(change)
    if (nextId !== undefined) collection.nextId = nextId
  }
}

/** The UUID (version 8, RFC 9562) of the next record of a resource: the same for the same seed. */
export function uuidFrom(...parts: readonly (string | number | bigint)[]): string {
  const bytes = atob(digestOf(parts.join(':')))
  const hex = Array.from(bytes, (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5')
}
