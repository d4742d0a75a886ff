import type { Values } from '../contract/contract.js'
import type { Int64 } from '../contract/int64.js'
import { Collection, nextIdAfter } from '../domain/collection.js'
import type { ApiKey } from '../domain/keys.js'
import type { Pet } from '../domain/pets.js'
import type { SavedRecords } from '../domain/records.js'
import type { Change, StoredState } from '../domain/state.js'
import { check, type Reader, readPackagedPet, record, state } from './shape.js'
import { CorruptionError } from './store-error.js'

/**
 * Rebuilds a state from the document, then from the changes of its journal. A changed pet keeps its place in the order
 * of creation; one that was removed and added again is the newest.
 */
export class Recovery {
  #pets: SavedRecords = { idProperty: 'id', nextId: 1, values: [] }
  /** Opened by the first change: a million pets take time, and most documents have no journal. */
  #changedPets: Collection | undefined
  #keys = new Map<string, ApiKey>()
  #orders: readonly unknown[] = []
  #records = new Map<string, Collection>()
  readonly #readPet: Reader<Pet>

  constructor(readPet: Reader<Pet> = readPackagedPet) {
    this.#readPet = readPet
  }

  /**
   * Takes a whole state from a file, in place of any earlier one. Raises `nextPetId` if necessary, so that it need not be
   * adjusted after adding pets by hand.
   * @throws CorruptionError
   */
  addState(value: unknown): void {
    const { nextPetId, pets, orders, keys, records = {} } = check(state, check(record, value, 'the state'), '')
    this.#pets = this.#checkPets(pets, nextPetId)
    this.#changedPets = undefined
    this.#orders = orders
    this.#records = new Map(Object.entries(records).map(([name, saved]) => [name, new Collection(saved)]))
    this.#keys = new Map()
    for (const [index, key] of keys.entries()) {
      if (this.#keys.has(key.key)) throw new CorruptionError(`keys[${index}].key appears twice`)
      this.#keys.set(key.key, key)
    }
  }

  #checkPets(pets: readonly unknown[], nextPetId: Int64): SavedRecords {
    const known = new Set<Int64>()
    let nextId = nextPetId
    const values = pets.map((value, index) => {
      const pet = this.#readPet(value, `pets[${index}]`)
      const { id } = pet
      if (known.has(id)) throw new CorruptionError(`pets[${index}].id is ${id}, which an earlier pet already has`)
      known.add(id)
      nextId = nextIdAfter(nextId, id)
      return pet as object as Values
    })
    return { idProperty: 'id', nextId, values }
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'pet':
        this.#petsToChange().put({ scope: [], value: change.pet as object as Values }, change.rank)
        return
      case 'pet-removed':
        this.#petsToChange().remove([], change.id)
        return
      case 'record': {
        const { resource, idProperty, entry } = change
        const records = this.#records.get(resource) ?? Collection.empty(idProperty)
        this.#records.set(resource, records)
        records.put(entry, change.rank)
        return
      }
      case 'record-removed':
        this.#records.get(change.resource)?.remove(change.scope, change.id)
        return
      case 'key':
        this.#keys.set(change.key.key, change.key)
        return
      case 'key-removed':
        this.#keys.delete(change.key)
        return
      case 'replaced':
        this.addState(change.state)
    }
  }

  state(): StoredState {
    const { nextId, values: pets } = this.#changedPets?.save() ?? this.#pets
    const records = Object.fromEntries([...this.#records].map(([name, one]) => [name, one.save()]))
    return {
      nextPetId: nextId,
      pets: pets as readonly object[] as readonly Pet[],
      orders: this.#orders,
      keys: [...this.#keys.values()],
      ...(this.#records.size === 0 ? {} : { records }),
    }
  }

  #petsToChange(): Collection {
    this.#changedPets ??= new Collection(this.#pets)
    return this.#changedPets
  }
}

/** Applies the checks of the store. @throws CorruptionError */
export function asState(value: unknown, readPet: Reader<Pet> | undefined): StoredState {
  const recovery = new Recovery(readPet)
  recovery.addState(value)
  return recovery.state()
}
