import type { Int64 } from '../contract/int64.js'
import { petText } from '../domain/pet-text.js'
import type { Pet, PetStatus } from '../domain/pets.js'
import type { ListOrder } from '../domain/settings.js'
import { type EncodedText, encodeText } from './encoded-text.js'

/** A pet with its place in the order of creation and, once it was shown, its JSON text. */
interface Entry {
  pet: Pet
  readonly place: number
  text: string | undefined
}

/** A list as it was answered, and to what. */
interface KeptList {
  readonly limit: number
  readonly status: PetStatus | undefined
  readonly order: ListOrder
  readonly list: EncodedText
}

/** Lists kept as answered; a client asks for the same few again and again. */
const LISTS_KEPT = 8
/** A list is whole where a contract of --spec has dropped the limit; that of a million pets is not kept. */
const LONGEST_KEPT = 1024 * 1024

/**
 * The pets of a space, in order of creation, found by id and by status without a scan.
 */
export class PetCatalogue {
  readonly #byId = new Map<Int64, Entry>()
  readonly #all: Entry[] = []
  readonly #byStatus: Record<PetStatus, Entry[]> = { available: [], pending: [], sold: [] }
  /** Bodies of lists as they were last answered; any change empties it. */
  #lists: KeptList[] = []
  #nextPlace = 0

  constructor(pets: readonly Pet[]) {
    for (const pet of pets) this.#append(pet)
  }

  get size(): number {
    return this.#all.length
  }

  pets(): readonly Pet[] {
    return this.#all.map(({ pet }) => pet)
  }

  /** The newest so many, newest first; without a look at the others. */
  newest(count: number): readonly Pet[] {
    return this.#all
      .slice(Math.max(0, this.#all.length - count))
      .map(({ pet }) => pet)
      .reverse()
  }

  has(id: Int64): boolean {
    return this.#byId.has(id)
  }

  get(id: Int64): Pet | undefined {
    return this.#byId.get(id)?.pet
  }

  /** A pet as JSON text, undefined if there is none with this id. */
  textOf(id: Int64): string | undefined {
    const entry = this.#byId.get(id)
    return entry && textOf(entry)
  }

  /** Adds a pet as the newest, or puts it in the place of the one with its id. */
  put(pet: Pet): void {
    this.#lists = []
    const entry = this.#byId.get(pet.id)
    if (entry === undefined) {
      this.#append(pet)
      return
    }
    if (entry.pet.status !== pet.status) {
      if (entry.pet.status !== undefined) takeOut(this.#byStatus[entry.pet.status], entry)
      if (pet.status !== undefined) insert(this.#byStatus[pet.status], entry)
    }
    entry.pet = pet
    entry.text = undefined
  }

  /** @returns whether there was such a pet */
  remove(id: Int64): boolean {
    const entry = this.#byId.get(id)
    if (entry === undefined) return false
    this.#lists = []
    this.#byId.delete(id)
    takeOut(this.#all, entry)
    if (entry.pet.status !== undefined) takeOut(this.#byStatus[entry.pet.status], entry)
    return true
  }

  /**
   * The JSON array of at most `limit` pets, those of one status only if one is given.
   *
   * @source specification, "GET /pets"; order: interface, "order of the list"
   */
  list(limit: number, status: PetStatus | undefined, order: ListOrder): EncodedText {
    for (const kept of this.#lists) {
      if (kept.limit === limit && kept.status === status && kept.order === order) return kept.list
    }
    const entries = status === undefined ? this.#all : this.#byStatus[status]
    const count = Math.min(limit, entries.length)
    let text = '['
    for (let i = 0; i < count; i++) {
      const entry = entries[order === 'newest' ? entries.length - 1 - i : i]
      if (entry !== undefined) text += i === 0 ? textOf(entry) : `,${textOf(entry)}`
    }
    text += ']'
    const list = encodeText(text)
    if (text.length > LONGEST_KEPT) return list
    if (this.#lists.length >= LISTS_KEPT) this.#lists = []
    this.#lists.push({ limit, status, order, list })
    return list
  }

  #append(pet: Pet): void {
    const entry: Entry = { pet, place: this.#nextPlace++, text: undefined }
    this.#byId.set(pet.id, entry)
    this.#all.push(entry)
    if (pet.status !== undefined) this.#byStatus[pet.status].push(entry)
  }
}

function textOf(entry: Entry): string {
  entry.text ??= petText(entry.pet)
  return entry.text
}

/** Index of the first entry whose place is not before the given one; entries are in order of place. */
function indexOfPlace(entries: readonly Entry[], place: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.place ?? place) < place) low = middle + 1
    else high = middle
  }
  return low
}

function insert(entries: Entry[], entry: Entry): void {
  entries.splice(indexOfPlace(entries, entry.place), 0, entry)
}

function takeOut(entries: Entry[], entry: Entry): void {
  entries.splice(indexOfPlace(entries, entry.place), 1)
}
