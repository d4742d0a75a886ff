import type { Int64 } from '../contract/int64.js'
import type { ApiKey } from '../domain/keys.js'
import { followingPetId } from '../domain/pet-ids.js'
import type { Pet } from '../domain/pets.js'
import { PlacesById } from '../domain/places-by-id.js'
import type { Change, SpaceState } from '../domain/state.js'
import { asKey, asList, asNextPetId, asPet, asRecord, onlyFields, type Reader } from './shape.js'
import { CorruptionError } from './store-error.js'

const STATE_FIELDS = ['nextPetId', 'pets', 'orders', 'keys'] as const

/**
 * A state being read back: first the document, then the changes of its journal.
 *
 * The order of creation is kept: a pet that changes stays in its place, one that
 * was removed and comes back is the newest.
 */
export class Recovery {
  /** In order of creation; the place of a removed one stays empty. */
  #pets: (Pet | undefined)[] = []
  #placeOf = new PlacesById()
  #keys = new Map<string, ApiKey>()
  #orders: readonly unknown[] = []
  #nextPetId: Int64 = 1
  readonly #readPet: Reader<Pet>

  constructor(readPet: Reader<Pet> = asPet) {
    this.#readPet = readPet
  }

  /** Adds the next pet of a document. @throws CorruptionError if it is not a pet or its id is taken */
  addPet(value: unknown): void {
    this.#addChecked(this.#readPet(value, `pets[${this.#pets.length}]`))
  }

  /** Adds the next pet of a document, which is one of the packaged contract. @throws CorruptionError if its id is taken */
  addPlainPet(pet: Pet): void {
    if (this.#readPet === asPet) this.#addChecked(pet)
    else this.addPet(pet)
  }

  #addChecked(pet: Pet): void {
    const count = this.#pets.length
    this.#putPet(pet)
    if (this.#pets.length === count)
      throw new CorruptionError(`pets[${count}].id is ${pet.id}, which an earlier pet already has`)
  }

  /**
   * Takes a whole state from a file, in addition to the pets already added.
   *
   * A nextPetId that a pet has reached is raised, so that pets can be added by hand without minding it.
   *
   * @throws CorruptionError
   */
  addState(value: unknown): void {
    const state = asRecord(value, 'the state')
    onlyFields(state, STATE_FIELDS, 'the state')
    const nextPetId = asNextPetId(state.nextPetId, 'nextPetId')
    if (nextPetId > this.#nextPetId) this.#nextPetId = nextPetId
    for (const pet of asList(state.pets, 'pets')) this.addPet(pet)
    this.#orders = asList(state.orders, 'orders')
    for (const [index, entry] of asList(state.keys, 'keys').entries()) {
      const key = asKey(entry, `keys[${index}]`)
      if (this.#keys.has(key.key)) throw new CorruptionError(`keys[${index}].key appears twice`)
      this.#keys.set(key.key, key)
    }
  }

  /** Applies one change of the journal. */
  apply(change: Change): void {
    switch (change.kind) {
      case 'pet':
        this.#putPet(change.pet)
        break
      case 'pet-removed':
        this.#removePet(change.id)
        break
      case 'key':
        this.#keys.set(change.key.key, change.key)
        break
      case 'key-removed':
        this.#keys.delete(change.key)
        break
      case 'replaced':
        this.#pets = []
        this.#placeOf = new PlacesById()
        this.#keys = new Map()
        this.#nextPetId = 1
        this.addState(change.state)
    }
  }

  state(): SpaceState {
    return {
      nextPetId: this.#nextPetId,
      pets: this.#pets.filter((pet) => pet !== undefined),
      orders: this.#orders,
      keys: [...this.#keys.values()],
    }
  }

  #putPet(pet: Pet): void {
    const place = this.#placeOf.get(pet.id)
    if (place === undefined) this.#placeOf.set(pet.id, this.#pets.push(pet) - 1)
    else this.#pets[place] = pet
    if (typeof pet.id === 'number' && pet.id >= this.#nextPetId) this.#nextPetId = followingPetId(pet.id)
  }

  #removePet(id: Int64): void {
    const place = this.#placeOf.get(id)
    if (place === undefined) return
    this.#pets[place] = undefined
    this.#placeOf.delete(id)
  }
}
