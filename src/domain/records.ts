import type { Int64 } from '../contract/int64.js'

/** A record of a resource of the contract. */
export interface StoredRecord {
  /** The values of the parents' path parameters, outermost first; empty for a resource without parents. */
  readonly scope: readonly string[]
  readonly value: Readonly<Record<string, unknown>>
}

/** The records of one resource. */
export interface Records {
  get(scope: readonly string[], id: string): StoredRecord | undefined
  /** Oldest first. */
  all(): Iterable<StoredRecord>
  /** The next id of a resource whose ids are counted. */
  readonly nextId: Int64
}

/** A record with its place in the order of creation. */
export interface RecordEntry extends StoredRecord {
  readonly order: number
}

/** The records of one resource as plain data, oldest first. */
export interface SavedRecords {
  /** The property that identifies a record within its scope. */
  readonly idProperty: string
  readonly nextId: Int64
  readonly nextOrder: number
  readonly entries: readonly RecordEntry[]
}
