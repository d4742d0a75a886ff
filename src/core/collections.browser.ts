import type { Collection, RecordBefore } from '../domain/collection.js'
import type { SavedRecords } from '../domain/records.js'
import type { SpaceState } from '../domain/state.js'

// The packaged contract has no resources besides pets and orders, and a browser serves no other.

export type Collections = ReadonlyMap<string, Collection>
export type CollectionsBefore = readonly (readonly [resource: string, before: readonly RecordBefore[]])[]

const NONE: Collections = new Map()

export function recordSeeds(..._given: readonly unknown[]): {
  readonly recordFiles?: readonly string[]
  readRecords?(files: unknown): SpaceState['records']
} {
  return {}
}

export function hasUnsavedRecords(..._given: readonly unknown[]): boolean {
  return false
}

export function openCollections(..._given: readonly unknown[]): Collections {
  return NONE
}

export function saveCollections(_collections: Collections): readonly (readonly [name: string, SavedRecords])[] {
  return []
}

export function loadCollections(_saved: ReturnType<typeof saveCollections>): Collections {
  return NONE
}

export function changedRecords(_before: Collections, _after: Collections): CollectionsBefore {
  return []
}

export function revertRecords(now: Collections, _changes: CollectionsBefore): Collections {
  return now
}

export function uuidFrom(..._parts: readonly (string | number)[]): string {
  return ''
}
