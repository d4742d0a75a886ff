import type { Int64 } from '../contract/int64.js'

export interface StoredRecord {
  /** Path parameters of the parents, outermost first. */
  readonly scope: readonly string[]
  readonly value: Readonly<Record<string, unknown>>
}

export interface Records {
  get(scope: readonly string[], id: string): StoredRecord | undefined
  /** Oldest first. */
  all(): Iterable<StoredRecord>
  /** For resources with numeric ids. */
  readonly nextId: Int64
}

export interface RecordEntry extends StoredRecord {
  readonly order: number
}

/** Plain data, oldest first. */
export interface SavedRecords {
  /** Identifies a record within its scope. */
  readonly idProperty: string
  readonly nextId: Int64
  readonly nextOrder: number
  readonly entries: readonly RecordEntry[]
}
