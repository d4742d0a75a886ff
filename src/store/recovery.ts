import type { Values } from '../contract/contract.js'
import { Collection } from '../domain/collection.js'
import type { ApiKey } from '../domain/keys.js'
import type { Pet } from '../domain/pets.js'
import type { Change, SpaceState } from '../domain/state.js'
import { check, type Reader, readPackagedPet, record, state } from './shape.js'
import { CorruptionError } from './store-error.js'

/**
 * Rebuilds a state from the document, then from the changes of its journal. A changed pet keeps its place in the order
 * of creation; one that was removed and added again is the newest.
 */
export class Recovery {
  #pets = Collection.empty('id')
  #keys = new Map<string, ApiKey>()
  #orders: readonly unknown[] = []
  #records = new Map<string, Collection>()
  readonly #readPet: Reader<Pet>

  constructor(readPet: Reader<Pet> = readPackagedPet) {
    this.#readPet = readPet
  }

  #addPet(value: unknown): void {
    const count = this.#pets.size
    const pet = this.#readPet(value, `pets[${count}]`)
    this.#putPet(pet)
    if (this.#pets.size === count)
      throw new CorruptionError(`pets[${count}].id is ${pet.id}, which an earlier pet already has`)
  }

  /**
   * Adds a whole state from a file. Raises `nextPetId` if necessary, so that it need not be
   * adjusted after adding pets by hand.
   * @throws CorruptionError
   */
  addState(value: unknown): void {
    const { nextPetId, pets, orders, keys, records } = check(state, check(record, value, 'the state'), '')
    if (nextPetId > this.#pets.nextId) this.#pets.nextId = nextPetId
    for (const pet of pets) this.#addPet(pet)
    this.#orders = orders
    for (const [name, saved] of Object.entries(records ?? {})) this.#records.set(name, new Collection(saved))
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
      case 'pet-removed':
        this.#pets.remove([], change.id)
        return
      case 'record': {
        const { resource, idProperty, entry } = change
        const records = this.#records.get(resource) ?? Collection.empty(idProperty)
        this.#records.set(resource, records)
        records.put(entry)
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
        this.#pets = Collection.empty('id')
        this.#keys = new Map()
        this.#records = new Map()
        this.addState(change.state)
    }
  }

  state(): SpaceState {
    const { nextId, values: pets } = this.#pets.save()
    const records = Object.fromEntries([...this.#records].map(([name, one]) => [name, one.save()]))
    return {
      nextPetId: nextId,
      pets: pets as readonly object[] as readonly Pet[],
      orders: this.#orders,
      keys: [...this.#keys.values()],
      ...(this.#records.size === 0 ? {} : { records }),
    }
  }

  #putPet(pet: Pet): void {
    this.#pets.put({ scope: [], value: pet as object as Values })
  }
}

/** Applies the checks of the store. @throws CorruptionError */
export function asState(value: unknown, readPet: Reader<Pet> | undefined): SpaceState {
  const recovery = new Recovery(readPet)
  recovery.addState(value)
  return recovery.state()
}
