import type { Int64 } from '../contract/int64.js'
import { Collection } from '../domain/collection.js'
import type { ApiKey } from '../domain/keys.js'
import { followingPetId, type Pet } from '../domain/pets.js'
import { PlacesById } from '../domain/places-by-id.js'
import type { Change, SpaceState } from '../domain/state.js'
import { check, type Reader, readPackagedPet, record, state } from './shape.js'
import { CorruptionError } from './store-error.js'

/**
 * Rebuilds a state from the document, then from the changes of its journal. A changed pet keeps its place in the order
 * of creation; one that was removed and added again is the newest.
 */
export class Recovery {
  #pets: (Pet | undefined)[] = []
  #indexes = new PlacesById()
  #keys = new Map<string, ApiKey>()
  #orders: readonly unknown[] = []
  #nextPetId: Int64 = 1
  #records: ReadonlyMap<string, Collection> | undefined
  readonly #readPet: Reader<Pet>

  constructor(readPet: Reader<Pet> = readPackagedPet) {
    this.#readPet = readPet
  }

  addPet(value: unknown): void {
    this.#addChecked(this.#readPet(value, `pets[${this.#pets.length}]`))
  }

  /** @param pet matches the packaged contract. @throws CorruptionError if its id is taken */
  addPlainPet(pet: Pet): void {
    if (this.#readPet === readPackagedPet) this.#addChecked(pet)
    else this.addPet(pet)
  }

  #addChecked(pet: Pet): void {
    const count = this.#pets.length
    this.#putPet(pet)
    if (this.#pets.length === count)
      throw new CorruptionError(`pets[${count}].id is ${pet.id}, which an earlier pet already has`)
  }

  /**
   * Adds a whole state from a file to the pets already added. Raises `nextPetId` if necessary, so that it need not be
   * adjusted after adding pets by hand.
   * @throws CorruptionError
   */
  addState(value: unknown): void {
    const { nextPetId, pets, orders, keys, records } = check(state, check(record, value, 'the state'), '')
    if (nextPetId > this.#nextPetId) this.#nextPetId = nextPetId
    for (const pet of pets) this.addPet(pet)
    this.#orders = orders
    if (records !== undefined)
      this.#records = new Map(Object.entries(records).map(([name, saved]) => [name, Collection.from(saved)]))
    for (const [index, key] of keys.entries()) {
      if (this.#keys.has(key.key)) throw new CorruptionError(`keys[${index}].key appears twice`)
      this.#keys.set(key.key, key)
    }
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'pet':
        this.#putPet(change.pet)
        return
      case 'pet-removed': {
        const index = this.#indexes.get(change.id)
        if (index === undefined) return
        this.#pets[index] = undefined
        this.#indexes.delete(change.id)
        return
      }
      case 'record': {
        const { resource, idProperty, entry } = change
        const records = this.#records?.get(resource) ?? Collection.empty(idProperty)
        this.#records = new Map(this.#records).set(resource, records.restore(entry))
        return
      }
      case 'record-removed': {
        const records = this.#records?.get(change.resource)
        if (records === undefined) return
        this.#records = new Map(this.#records).set(change.resource, records.remove(change.scope, change.id))
        return
      }
      case 'key':
        this.#keys.set(change.key.key, change.key)
        return
      case 'key-removed':
        this.#keys.delete(change.key)
        return
      case 'replaced':
        this.#pets = []
        this.#indexes = new PlacesById()
        this.#keys = new Map()
        this.#nextPetId = 1
        this.#records = undefined
        this.addState(change.state)
    }
  }

  state(): SpaceState {
    const records = this.#records && Object.fromEntries([...this.#records].map(([name, one]) => [name, one.save()]))
    return {
      nextPetId: this.#nextPetId,
      pets: this.#pets.filter((pet) => pet !== undefined),
      orders: this.#orders,
      keys: [...this.#keys.values()],
      ...(records === undefined ? {} : { records }),
    }
  }

  #putPet(pet: Pet): void {
    const index = this.#indexes.get(pet.id)
    if (index === undefined) this.#indexes.set(pet.id, this.#pets.push(pet) - 1)
    else this.#pets[index] = pet
    if (typeof pet.id === 'number' && pet.id >= this.#nextPetId) this.#nextPetId = followingPetId(pet.id)
  }
}
