import type { Int64 } from '../contract/int64.js'
import type { LongBody } from '../domain/long-body.js'
import { petText } from '../domain/pet-text.js'
import type { Pet, PetStatus } from '../domain/pets.js'
import { PlacesById } from '../domain/places-by-id.js'
import type { ListOrder } from '../domain/settings.js'
import { binaryOf } from '../system/utf8.js'

/** A text, and its UTF-8 bytes. */
interface EncodedText {
  readonly text: string
  /**
   * The bytes as a string of one character each: in this form Node joins a body
   * with its headers and sends both fastest, and its length is the Content-Length.
   */
  readonly binary: string
}

/** A list that was sent, and its query. */
interface KeptList {
  readonly limit: number
  readonly status: PetStatus | undefined
  readonly order: ListOrder
  readonly list: EncodedText
}

/** Number of cached lists; clients ask for the same few again and again. */
const LISTS_KEPT = 8
/** Longer ones (with names of a megabyte, or of a contract of --spec that has dropped the limit) are made anew for each reader. */
const LONGEST_KEPT = 1024 * 1024

/** The pets of a space, for whoever does not change them. */
export type PetsOfSpace = Omit<PetCatalogue, 'put' | 'remove'>

/**
 * The pets of a space, in order of creation, with lookups by id and status.
 *
 * Besides the pets it holds only numbers: another million objects would slow down
 * the garbage collector, and with it every request.
 */
export class PetCatalogue {
  /** In order of creation. A removed pet leaves its place empty, so that no other pet moves. */
  readonly #pets: (Pet | undefined)[] = []
  readonly #placeOf = new PlacesById()
  /** Places of all pets, and of those of each status, ascending. */
  readonly #all: number[] = []
  readonly #byStatus = new Map<PetStatus, number[]>()
  /** Bodies of recent lists; any change clears it. */
  #lists: KeptList[] = []

  constructor(pets: readonly Pet[]) {
    for (const pet of pets) this.#append(pet)
  }

  get size(): number {
    return this.#all.length
  }

  pets(): readonly Pet[] {
    return this.#pets.filter((pet) => pet !== undefined)
  }

  /** The newest pets, newest first, without touching the others. */
  newest(count: number): readonly Pet[] {
    return this.#all
      .slice(Math.max(0, this.#all.length - count))
      .flatMap((place) => this.#pets[place] ?? [])
      .reverse()
  }

  has(id: Int64): boolean {
    return this.#placeOf.get(id) !== undefined
  }

  /** How many pets stand before one. */
  rankOf(id: Int64): number {
    return indexOf(this.#all, this.#placeOf.get(id) ?? 0)
  }

  get(id: Int64): Pet | undefined {
    const place = this.#placeOf.get(id)
    return place === undefined ? undefined : this.#pets[place]
  }

  /** A pet as JSON text, undefined if there is none with this id. */
  textOf(id: Int64): string | undefined {
    const pet = this.get(id)
    return pet && petText(pet)
  }

  /** Adds a pet as the newest, or replaces the one with its id. */
  put(pet: Pet): void {
    this.#lists = []
    const place = this.#placeOf.get(pet.id)
    if (place === undefined) {
      this.#append(pet)
      return
    }
    const before = this.#pets[place]?.status
    if (before !== pet.status) {
      if (before !== undefined) takeOut(this.#placesOf(before), place)
      if (pet.status !== undefined) insert(this.#placesOf(pet.status), place)
    }
    this.#pets[place] = pet
  }

  /** Removes a pet. @returns puts it back in its place, if nothing has happened to the catalogue since */
  remove(id: Int64): () => void {
    const place = this.#placeOf.get(id)
    const pet = place === undefined ? undefined : this.#pets[place]
    if (place === undefined || pet === undefined) return () => {}
    this.#lists = []
    this.#placeOf.delete(id)
    takeOut(this.#all, place)
    if (pet.status !== undefined) takeOut(this.#placesOf(pet.status), place)
    // The newest leaves no empty place, so that adding and taking back leaves nothing behind.
    if (place === this.#pets.length - 1) this.#pets.pop()
    else this.#pets[place] = undefined
    return () => {
      this.#lists = []
      this.#pets[place] = pet
      this.#placeOf.set(id, place)
      insert(this.#all, place)
      if (pet.status !== undefined) insert(this.#placesOf(pet.status), place)
    }
  }

  /**
   * The JSON array of at most `limit` pets, those of one status only if one is given.
   *
   * @source docs/specification.md, "GET /pets"; docs/behaviour.md, "list order"
   */
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

  /** The pets as they are now, whatever becomes of them before the list was read. */
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

/** Index of the first place not before the given one; places are ascending. */
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
