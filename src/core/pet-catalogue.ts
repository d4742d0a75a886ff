import type { Int64 } from '../contract/int64.js'
import type { LongBody } from '../domain/messages.js'
import { type Pet, type PetStatus, petText } from '../domain/pets.js'
import { PlacesById } from '../domain/places-by-id.js'
import type { ListOrder } from '../domain/settings.js'
import { binaryOf } from '../system/utf8.js'

interface EncodedText {
  readonly text: string
  /**
   * The UTF-8 bytes as a string of one character each: Node sends this form fastest, and its length is the Content-
   * Length.
   */
  readonly binary: string
}

interface KeptList {
  readonly limit: number
  readonly status: PetStatus | undefined
  readonly order: ListOrder
  readonly list: EncodedText
}

/** Number of cached lists: clients ask for the same few. */
const LISTS_KEPT = 8
/** Longer lists are made anew for each reader. */
const LONGEST_KEPT = 1024 * 1024

/** The inverse of one change of a pet: it was not there, was another, or stood behind `rank` others. */
export type PetBefore = { readonly id: Int64 } | { readonly pet: Pet; readonly rank?: number }

/**
 * The pets of a space, in order of creation, with lookups by id and status. Besides the pets it holds only numbers: a
 * million more objects would slow down the garbage collector.
 */
export class PetCatalogue {
  /** In order of creation. A removed pet leaves its place empty, so that no other pet moves. */
  readonly #pets: (Pet | undefined)[] = []
  readonly #placeOf = new PlacesById()
  /** Places of all pets, and of each status, ascending. */
  readonly #all: number[] = []
  readonly #byStatus = new Map<PetStatus, number[]>()
  /** Cleared by any change. */
  #lists: KeptList[] = []
  /** The inverse of each change while a verb runs. */
  journal: PetBefore[] | undefined

  constructor(pets: readonly Pet[]) {
    for (const pet of pets) this.#append(pet)
  }

  get size(): number {
    return this.#all.length
  }

  pets(): readonly Pet[] {
    return this.#pets.filter((pet) => pet !== undefined)
  }

  newest(count: number): readonly Pet[] {
    return this.#all
      .slice(Math.max(0, this.#all.length - count))
      .flatMap((place) => this.#pets[place] ?? [])
      .reverse()
  }

  has(id: Int64): boolean {
    return this.#placeOf.get(id) !== undefined
  }

  get(id: Int64): Pet | undefined {
    const place = this.#placeOf.get(id)
    return place === undefined ? undefined : this.#pets[place]
  }

  textOf(id: Int64): string | undefined {
    const pet = this.get(id)
    return pet && petText(pet)
  }

  /** Adds a pet as the newest, or replaces the one with its id. */
  put(pet: Pet): void {
    this.#lists = []
    const place = this.#placeOf.get(pet.id)
    const before = place === undefined ? undefined : this.#pets[place]
    this.journal?.push(before === undefined ? { id: pet.id } : { pet: before })
    if (place === undefined || before === undefined) {
      this.#append(pet)
      return
    }
    if (before.status !== pet.status) {
      if (before.status !== undefined) takeOut(this.#placesOf(before.status), place)
      if (pet.status !== undefined) insert(this.#placesOf(pet.status), place)
    }
    this.#pets[place] = pet
  }

  remove(id: Int64): void {
    const place = this.#placeOf.get(id)
    const pet = place === undefined ? undefined : this.#pets[place]
    if (place === undefined || pet === undefined) return
    this.#lists = []
    this.journal?.push({ pet, rank: indexOf(this.#all, place) })
    this.#placeOf.delete(id)
    takeOut(this.#all, place)
    if (pet.status !== undefined) takeOut(this.#placesOf(pet.status), place)
    // Without a gap at the end, adding and reverting leaves no trace.
    if (place === this.#pets.length - 1) this.#pets.pop()
    else this.#pets[place] = undefined
  }

  revert(before: PetBefore): void {
    if ('id' in before) this.remove(before.id)
    else if (before.rank === undefined || this.has(before.pet.id)) this.put(before.pet)
    else this.#insert(before.pet, before.rank)
  }

  /** Adds a pet after `rank` others: into a gap, or moves all pets after it. */
  #insert(pet: Pet, rank: number): void {
    this.#lists = []
    this.journal?.push({ id: pet.id })
    const after = this.#all[rank] ?? this.#pets.length
    const place = (this.#all[rank - 1] ?? -1) + 1
    if (place === after) {
      const behind = this.#pets.splice(place).filter((other) => other !== undefined)
      this.#all.length = rank
      for (const places of this.#byStatus.values()) places.length = indexOf(places, place)
      for (const other of [pet, ...behind]) this.#append(other)
      return
    }
    this.#pets[place] = pet
    this.#placeOf.set(pet.id, place)
    insert(this.#all, place)
    if (pet.status !== undefined) insert(this.#placesOf(pet.status), place)
  }

  /** @source docs/specification.md, "GET /pets"; docs/behaviour.md, "list order" */
  list(limit: number, status: PetStatus | undefined, order: ListOrder): EncodedText | LongBody {
    for (const kept of this.#lists) {
      if (kept.limit === limit && kept.status === status && kept.order === order) return kept.list
    }
    const places = status === undefined ? this.#all : (this.#byStatus.get(status) ?? [])
    const count = Math.min(limit, places.length)
    let text = '['
    for (let i = 0; i < count; i++) {
      const pet = this.#pets[places[order === 'newest' ? places.length - 1 - i : i] ?? -1]
      if (pet !== undefined) text += i === 0 ? petText(pet) : `,${petText(pet)}`
      if (text.length > LONGEST_KEPT) return this.#longList(places, count, order)
    }
    text += ']'
    const list = encodeText(text)
    if (this.#lists.length >= LISTS_KEPT) this.#lists = []
    this.#lists.push({ limit, status, order, list })
    return list
  }

  /** A copy, so that later changes do not affect readers. */
  #longList(places: readonly number[], count: number, order: ListOrder): LongBody {
    const listed = order === 'newest' ? places.slice(places.length - count).reverse() : places.slice(0, count)
    const pets = listed.flatMap((place) => this.#pets[place] ?? [])
    return {
      *pieces() {
        let before = '['
        for (const pet of pets) {
          yield before + petText(pet)
          before = ','
        }
        yield ']'
      },
    }
  }

  #placesOf(status: PetStatus): number[] {
    const known = this.#byStatus.get(status)
    if (known !== undefined) return known
    const places: number[] = []
    this.#byStatus.set(status, places)
    return places
  }

  #append(pet: Pet): void {
    const place = this.#pets.push(pet) - 1
    this.#placeOf.set(pet.id, place)
    this.#all.push(place)
    if (pet.status !== undefined) this.#placesOf(pet.status).push(place)
  }
}

function encodeText(text: string): EncodedText {
  return { text, binary: binaryOf(text) }
}

function indexOf(places: readonly number[], place: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((places[middle] ?? place) < place) low = middle + 1
    else high = middle
  }
  return low
}

function insert(places: number[], place: number): void {
  places.splice(indexOf(places, place), 0, place)
}

function takeOut(places: number[], place: number): void {
  places.splice(indexOf(places, place), 1)
}
