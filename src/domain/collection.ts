import type { Values } from '../contract/contract.js'
import { type Int64, parseInt64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'
import type { SavedRecords, Scope, StoredRecord } from './records.js'

/** A record matches if its property has any of the accepted values, or one that passes the test. */
export type Filter = readonly [property: string, accepted: readonly unknown[] | ((own: unknown) => boolean)]

/** Number of results kept: clients ask for the same few lists. */
const MAX_KEPT = 8

/** A whole number, or any other text. */
type RecordId = Int64 | string

interface Kept {
  readonly owner: unknown
  readonly query: string
  readonly made: unknown
}

interface ValueIndex {
  readonly property: string
  readonly places: Map<unknown, number[]>
}

const NO_SCOPE: Scope = []

/**
 * The records of one resource, in order of creation, with lookups by id, parent and indexed properties. Besides the
 * records it holds only numbers: a million more objects would slow down the garbage collector.
 */
export class Collection {
  readonly idProperty: string
  readonly indexed: readonly string[]
  nextId: Int64
  /** In order of creation. A removed record leaves its place empty, so that no other one moves. */
  #values: (Values | undefined)[] = []
  /** By place; empty without parents. */
  #scopes: Scope[] = []
  #placeOf = new Map<RecordId, number>()
  /** Places of all records, ascending, as in the indexes. */
  #all: number[] = []
  #byScope = new Map<string, number[]>()
  #byValue: readonly ValueIndex[]
  /** Cleared by any change. */
  #kept: Kept[] = []
  /** Part of an earlier state too: to be copied before a change. */
  isShared = false

  /** @param indexed properties with few values, which lists are filtered by */
  constructor({ idProperty, nextId, values, scopes = [] }: SavedRecords, indexed: readonly string[] = []) {
    this.idProperty = idProperty
    this.nextId = nextId
    this.indexed = indexed
    this.#byValue = indexed.map((property) => ({ property, places: new Map() }))
    for (let i = 0; i < values.length; i++) this.#append(scopes[i] ?? NO_SCOPE, values[i] as Values)
  }

  static empty(idProperty: string, indexed?: readonly string[]): Collection {
    return new Collection({ idProperty, nextId: 1, values: [] }, indexed)
  }

  get size(): number {
    return this.#all.length
  }

  /** Shares the records, which do not change. */
  copy(): Collection {
    const { idProperty, nextId, indexed } = this
    const copy = new Collection({ idProperty, nextId, values: [] }, indexed)
    copy.#values = this.#values.slice()
    copy.#scopes = this.#scopes.slice()
    copy.#placeOf = new Map(this.#placeOf)
    copy.#all = this.#all.slice()
    copy.#byScope = copyIndex(this.#byScope)
    copy.#byValue = this.#byValue.map(({ property, places }) => ({ property, places: copyIndex(places) }))
    return copy
  }

  save(): SavedRecords {
    const { idProperty, nextId } = this
    const scopes = this.#scopes.length === 0 ? {} : { scopes: this.#all.map((place) => this.#scopes[place] ?? []) }
    return { idProperty, nextId, values: this.values(), ...scopes }
  }

  /** Oldest first. */
  values(): readonly Values[] {
    return this.#values.filter((value) => value !== undefined)
  }

  /** Oldest first. */
  *all(): Iterable<StoredRecord> {
    for (const place of this.#all) yield { scope: this.scopeAt(place), value: this.at(place) }
  }

  newest(count: number): readonly Values[] {
    return this.#all
      .slice(Math.max(0, this.#all.length - count))
      .map((place) => this.at(place))
      .reverse()
  }

  get(scope: Scope, id: unknown): Values | undefined {
    const place = this.placeOf(scope, id)
    return place === undefined ? undefined : this.#values[place]
  }

  placeOf(scope: Scope, id: unknown): number | undefined {
    return this.#placeOf.get(keyOf(scope, id))
  }

  at(place: number): Values {
    const value = this.#values[place]
    if (value === undefined) throw new RangeError(`no record at place ${place}`)
    return value
  }

  scopeAt(place: number): Scope {
    return this.#scopes[place] ?? []
  }

  /** Places of the records that match, ascending. Not to be changed. @param scope of the record, or its beginning */
  places(scope: Scope, filters: readonly Filter[]): readonly number[] {
    let places = scope.length === 0 ? this.#all : (this.#byScope.get(scopeKey(scope)) ?? [])
    const others = filters.filter(([property, accepted]) => {
      const isFirst = places === this.#all && typeof accepted !== 'function' && accepted.length === 1
      const index = isFirst ? this.#byValue.find((valueIndex) => valueIndex.property === property) : undefined
      if (index === undefined || typeof accepted === 'function') return true
      places = index.places.get(accepted[0]) ?? []
      return false
    })
    if (others.length === 0) return places
    const isMatch = matcher(others)
    return places.filter((place) => isMatch(this.at(place)))
  }

  /** What an owner has made of the records for a query since the last change. */
  kept(owner: unknown, query: string): unknown {
    for (const kept of this.#kept) if (kept.query === query && kept.owner === owner) return kept.made
    return undefined
  }

  keep(owner: unknown, query: string, made: unknown): void {
    if (this.#kept.length >= MAX_KEPT) this.#kept = []
    this.#kept.push({ owner, query, made })
  }

  /** The id of the next record, if ids are counted. */
  freeId(): Int64 {
    let id = this.nextId
    while (this.placeOf([], id) !== undefined) id = followingId(id)
    return id
  }

  /**
   * Adds a record as the newest, or replaces the one with its id.
   * @param rank of a removed record that returns to its place: the number of records before it
   */
  put({ scope, value }: StoredRecord, rank = this.#all.length): void {
    this.#kept = []
    const id = value[this.idProperty]
    const place = this.placeOf(scope, id)
    const before = place === undefined ? undefined : this.#values[place]
    if (place === undefined || before === undefined) {
      if (rank < this.#all.length) this.#insert(scope, value, rank)
      else this.#append(scope, value)
      this.nextId = nextIdAfter(this.nextId, id)
      return
    }
    for (const { property, places } of this.#byValue) {
      if (before[property] === value[property]) continue
      for (const item of valuesOf(before[property])) takeOut(placesIn(places, item), place)
      for (const item of valuesOf(value[property])) insert(placesIn(places, item), place)
    }
    this.#values[place] = value
  }

  remove(scope: Scope, id: unknown): void {
    const place = this.placeOf(scope, id)
    const value = place === undefined ? undefined : this.#values[place]
    if (place === undefined || value === undefined) return
    this.#kept = []
    this.#placeOf.delete(keyOf(scope, id))
    this.#eachIndex(scope, value, place, takeOut)
    // No gap at the end, so that collections with equal records are equal.
    if (place === this.#values.length - 1) {
      this.#values.pop()
      if (this.#scopes.length > place) this.#scopes.pop()
    } else this.#values[place] = undefined
  }

  /** The number of records before one. */
  rankOf(scope: Scope, id: unknown): number {
    const place = this.placeOf(scope, id)
    return place === undefined ? this.#all.length : indexOf(this.#all, place)
  }

  #append(scope: Scope, value: Values): void {
    this.#putAt(this.#values.length, scope, value, append)
  }

  #insert(scope: Scope, value: Values, rank: number): void {
    const place = (this.#all[rank - 1] ?? -1) + 1
    if (place < (this.#all[rank] ?? 0)) {
      this.#putAt(place, scope, value, insert)
      return
    }
    // Without a gap, all later records move.
    const records = [...this.all()]
    records.splice(rank, 0, { scope, value })
    this.#values = []
    this.#scopes = []
    this.#placeOf = new Map()
    this.#all = []
    this.#byScope = new Map()
    for (const { places } of this.#byValue) places.clear()
    for (const record of records) this.#append(record.scope, record.value)
  }

  #putAt(place: number, scope: Scope, value: Values, index: (places: number[], place: number) => void): void {
    this.#values[place] = value
    // A gap may have the scope of the record that left it.
    if (scope.length > 0 || place < this.#scopes.length) this.#scopes[place] = scope
    const id = value[this.idProperty]
    // A record without an id can only be listed.
    if (id !== undefined) this.#placeOf.set(keyOf(scope, id), place)
    this.#eachIndex(scope, value, place, index)
  }

  /** The places of all, of each beginning of the scope, and of each indexed value. */
  #eachIndex(scope: Scope, value: Values, place: number, change: (places: number[], place: number) => void): void {
    change(this.#all, place)
    for (let length = 1; length <= scope.length; length++)
      change(placesIn(this.#byScope, scopeKey(scope.slice(0, length))), place)
    for (const { property, places } of this.#byValue) {
      const own = value[property]
      if (Array.isArray(own)) for (const item of valuesOf(own)) change(placesIn(places, item), place)
      else if (own !== undefined) change(placesIn(places, own), place)
    }
  }
}

/** @param id of an added record @source docs/behaviour.md, "Ids of new pets" */
export function nextIdAfter(nextId: Int64, id: unknown): Int64 {
  // Ids beyond 2^53 are left out, so that clients whose numbers are doubles can use the next one.
  if (typeof id === 'number' ? id >= nextId : id === nextId) return followingId(id as Int64)
  return typeof id === 'string' ? followingId(nextId) : nextId
}

export function followingId(id: Int64): Int64 {
  return typeof id === 'number' && id < Number.MAX_SAFE_INTEGER ? id + 1 : BigInt(id) + 1n
}

/** Whether a record matches all filters. */
export function matcher(filters: readonly Filter[]): (value: Values) => boolean {
  const wanted = filters.map(([property, accepted]) => {
    if (typeof accepted === 'function') return [property, accepted] as const
    const all = new Set(accepted.map(comparable))
    return [property, (own: unknown) => all.has(comparable(own))] as const
  })
  return (value) => wanted.every(([property, isMatch]) => valuesOf(propertyOf(value, property)).some(isMatch))
}

/** Of a path such as `attributes.title`, the value inside; of a list, those of its items; of `owner.id|name`, both. */
export function propertyOf(value: Values, path: string): unknown {
  const own = value[path]
  if (own !== undefined || !path.includes('.')) return own
  const inside = (inner: unknown, names: string): unknown => {
    if (Array.isArray(inner)) return inner.flatMap((item) => inside(item, names))
    const values = names.split('|').map((name) => Object(inner)[name])
    return values.length > 1 ? values : values[0]
  }
  return path.split('.').reduce(inside, value)
}

/** A value, and what it is in another type: a parameter may be a text where the property is a number, a flag or null. */
export function inOtherType(value: unknown): readonly unknown[] {
  if (typeof value !== 'string') return typeof value === 'object' ? [value] : [value, String(value)]
  if (/^(true|false|null)$/.test(value)) return [value, JSON.parse(value)]
  const number = value.trim() === '' ? Number.NaN : (parseInt64(value) ?? Number(value))
  return Number.isNaN(number) ? [value] : [value, number]
}

/** The same for equal values: a set finds one among many. */
export function comparable(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? `\u0000${stringifyJson(value)}` : (value ?? null)
}

/** A list has each of its values. */
function valuesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return [...new Set<unknown>(value)]
  return [value]
}

/** An id in a path is text: the text of a whole number and that number are the same id. */
export function keyOf(scope: Scope, id: unknown): RecordId {
  if (scope.length > 0) return JSON.stringify([...scope, String(id)])
  if (typeof id === 'bigint' || Number.isSafeInteger(id)) return id as Int64
  const text = String(id)
  return parseInt64(text) ?? text
}

function scopeKey(scope: Scope): string {
  return JSON.stringify(scope)
}

function copyIndex<Key>(index: ReadonlyMap<Key, readonly number[]>): Map<Key, number[]> {
  return new Map(Array.from(index, ([key, places]) => [key, places.slice()]))
}

function placesIn<Key>(index: Map<Key, number[]>, key: Key): number[] {
  const known = index.get(key)
  if (known !== undefined) return known
  const places: number[] = []
  index.set(key, places)
  return places
}

/** The number of places before this one. */
export function indexOf(places: readonly number[], place: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((places[middle] ?? place) < place) low = middle + 1
    else high = middle
  }
  return low
}

function append(places: number[], place: number): void {
  places.push(place)
}

function insert(places: number[], place: number): void {
  places.splice(indexOf(places, place), 0, place)
}

function takeOut(places: number[], place: number): void {
  places.splice(indexOf(places, place), 1)
}
