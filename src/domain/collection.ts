import type { Values } from '../contract/contract.js'
import type { Int64 } from '../contract/int64.js'
import { followingPetId } from './pets.js'
import type { RecordEntry, Records, SavedRecords, StoredRecord } from './records.js'

/** `before` is null for a new entry. */
export interface RecordBefore {
  readonly scope: readonly string[]
  readonly id: string
  readonly before: RecordEntry | null
}

const CHUNK_LENGTH = 256
const BUCKET_COUNT = 1024

type Chunk = readonly RecordEntry[]
type Bucket = ReadonlyMap<string, number>

/**
 * Immutable records of one resource. A change returns a new collection that shares all but one chunk and one bucket, so
 * that 100,000 records can be saved without copying them.
 */
export class Collection implements Records {
  readonly #chunks: readonly Chunk[]
  readonly #buckets: readonly (Bucket | undefined)[]
  readonly #idProperty: string
  readonly nextOrder: number
  readonly nextId: Int64
  readonly size: number

  private constructor(
    idProperty: string,
    chunks: readonly Chunk[],
    buckets: readonly (Bucket | undefined)[],
    nextOrder: number,
    nextId: Int64,
    size: number,
  ) {
    this.#idProperty = idProperty
    this.#chunks = chunks
    this.#buckets = buckets
    this.nextOrder = nextOrder
    this.nextId = nextId
    this.size = size
  }

  /** @param idProperty identifies a record within its scope */
  static empty(idProperty: string): Collection {
    return new Collection(idProperty, [], [], 0, 1, 0)
  }

  static from({ idProperty, nextId, nextOrder, entries }: SavedRecords): Collection {
    const chunks: Chunk[] = []
    const buckets: Map<string, number>[] = []
    for (let at = 0; at < entries.length; at += CHUNK_LENGTH) chunks.push(entries.slice(at, at + CHUNK_LENGTH))
    for (const { scope, value, order } of entries) {
      const key = keyOf(scope, String(value[idProperty]))
      const index = bucketOf(key)
      const bucket = buckets[index] ?? new Map<string, number>()
      buckets[index] = bucket.set(key, order)
    }
    return new Collection(idProperty, chunks, buckets, nextOrder, nextId, entries.length)
  }

  save(): SavedRecords {
    return {
      idProperty: this.#idProperty,
      nextId: this.nextId,
      nextOrder: this.nextOrder,
      entries: this.#chunks.flat(),
    }
  }

  get(scope: readonly string[], id: string): RecordEntry | undefined {
    const key = keyOf(scope, id)
    const order = this.#buckets[bucketOf(key)]?.get(key)
    if (order === undefined) return undefined
    const chunk = this.#chunks[this.#chunkAt(order)] ?? []
    return chunk[placeIn(chunk, order)]
  }

  *all(): Iterable<RecordEntry> {
    for (const chunk of this.#chunks) yield* chunk
  }

  entryFor({ scope, value }: StoredRecord): RecordEntry {
    return { scope, value, order: this.get(scope, this.#idOf(value))?.order ?? this.nextOrder }
  }

  get idProperty(): string {
    return this.#idProperty
  }

  /** Adds a record as the newest, or replaces the record with its id in place. */
  put({ scope, value }: StoredRecord): Collection {
    const known = this.get(scope, this.#idOf(value))
    return known === undefined
      ? this.#insert({ scope, value, order: this.nextOrder })
      : this.#replace({ scope, value, order: known.order })
  }

  remove(scope: readonly string[], id: string): Collection {
    const known = this.get(scope, id)
    if (known === undefined) return this
    const at = this.#chunkAt(known.order)
    const kept = (this.#chunks[at] ?? []).filter((entry) => entry !== known)
    const chunks = kept.length === 0 ? this.#chunks.toSpliced(at, 1) : this.#chunks.with(at, kept)
    return this.#copy(chunks, this.#withKey(scope, id, undefined), this.size - 1, this.nextId)
  }

  /** Restores an entry in its place, replacing the entry with its id. */
  restore(entry: RecordEntry): Collection {
    return this.revert({ scope: entry.scope, id: this.#idOf(entry.value), before: entry })
  }

  revert({ scope, id, before }: RecordBefore): Collection {
    const known = this.get(scope, id)
    if (before !== null && before.order === known?.order) return this.#replace(before)
    const without = this.remove(scope, id)
    return before === null ? without : without.#insert(before)
  }

  changesSince(earlier: Collection): readonly RecordBefore[] {
    if (earlier === this) return []
    const theirs = new Set(earlier.#chunks)
    const shared = new Set(this.#chunks.filter((chunk) => theirs.has(chunk)))
    const own = this.#chunks.filter((chunk) => !shared.has(chunk)).flat()
    const before = earlier.#chunks.filter((chunk) => !shared.has(chunk)).flat()
    const gone = before.filter((entry) => this.get(entry.scope, this.#idOf(entry.value)) !== entry)
    const added = own.filter(({ scope, value }) => earlier.get(scope, this.#idOf(value)) === undefined)
    return [
      ...gone.map((entry) => ({ scope: entry.scope, id: this.#idOf(entry.value), before: entry })),
      ...added.map(({ scope, value }) => ({ scope, id: this.#idOf(value), before: null })),
    ]
  }

  #insert(entry: RecordEntry): Collection {
    const { scope, value, order } = entry
    const at = this.#chunkAt(order)
    const chunk = this.#chunks[at] ?? []
    const place = placeIn(chunk, order)
    const isNew = chunk.length >= CHUNK_LENGTH && place === chunk.length
    const chunks = isNew
      ? this.#chunks.toSpliced(at + 1, 0, [entry])
      : chunk.length === 0
        ? [[entry]]
        : this.#chunks.with(at, chunk.toSpliced(place, 0, entry))
    const id = value[this.#idProperty]
    const isCounted = typeof id === 'number' || typeof id === 'bigint'
    const nextId = isCounted && id >= this.nextId ? followingPetId(id) : this.nextId
    return this.#copy(chunks, this.#withKey(scope, this.#idOf(value), order), this.size + 1, nextId)
  }

  #replace(entry: RecordEntry): Collection {
    const at = this.#chunkAt(entry.order)
    const chunk = this.#chunks[at] ?? []
    const chunks = this.#chunks.with(at, chunk.with(placeIn(chunk, entry.order), entry))
    return this.#copy(chunks, this.#buckets, this.size, this.nextId)
  }

  #copy(chunks: readonly Chunk[], buckets: readonly (Bucket | undefined)[], size: number, nextId: Int64): Collection {
    const nextOrder = Math.max(this.nextOrder, (chunks.at(-1)?.at(-1)?.order ?? -1) + 1)
    return new Collection(this.#idProperty, chunks, buckets, nextOrder, nextId, size)
  }

  #withKey(scope: readonly string[], id: string, order: number | undefined): readonly (Bucket | undefined)[] {
    const key = keyOf(scope, id)
    const index = bucketOf(key)
    const bucket = new Map(this.#buckets[index])
    if (order === undefined) bucket.delete(key)
    else bucket.set(key, order)
    const buckets = this.#buckets.slice()
    buckets[index] = bucket
    return buckets
  }

  #chunkAt(order: number): number {
    let low = 0
    let high = this.#chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#chunks[middle]?.[0]?.order ?? 0) <= order) low = middle
      else high = middle - 1
    }
    return low
  }

  #idOf(value: Values): string {
    return String(value[this.#idProperty])
  }
}

function placeIn(chunk: Chunk, order: number): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((chunk[middle]?.order ?? 0) < order) low = middle + 1
    else high = middle
  }
  return low
}

function keyOf(scope: readonly string[], id: string): string {
  return scope.length === 0 ? id : JSON.stringify([...scope, id])
}

function bucketOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % BUCKET_COUNT
}
