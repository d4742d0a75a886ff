import { Collection } from '../domain/collection.js'
import type { ApiKey } from '../domain/keys.js'
import type { SavedRecords } from '../domain/records.js'
import type { Change, OtherContent, StoredState } from '../domain/state.js'
import type { Layout } from './layout.js'

/**
 * Rebuilds a state from the document, then from the changes of its journal. A changed record keeps its place in the order
 * of creation; one that was removed and added again is the newest.
 */
export class Recovery {
  readonly #layout: Layout
  #saved = new Map<string, SavedRecords>()
  /** Opened by the first change of a resource: a million records take time, and most documents have no journal. */
  #changed = new Map<string, Collection>()
  #keys = new Map<string, ApiKey>()
  #others: readonly OtherContent[] = []

  constructor(layout: Layout, state: StoredState) {
    this.#layout = layout
    this.#start(state)
  }

  #start({ records, others, keys }: StoredState): void {
    this.#saved = new Map(records)
    this.#changed = new Map()
    this.#others = others
    this.#keys = new Map(keys.map((key) => [key.key, key]))
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'put':
        this.#recordsOf(change.resource).put(change.record, change.rank)
        return
      case 'remove':
        this.#recordsOf(change.resource).remove(change.scope, change.id)
        return
      case 'key':
        this.#keys.set(change.key.key, change.key)
        return
      case 'key-removed':
        this.#keys.delete(change.key)
        return
      case 'replaced':
        this.#start(change.state)
    }
  }

  state(): StoredState {
    for (const [name, collection] of this.#changed) this.#saved.set(name, collection.save())
    return { records: [...this.#saved], others: this.#others, keys: [...this.#keys.values()] }
  }

  #recordsOf(resource: string): Collection {
    const known = this.#changed.get(resource)
    if (known !== undefined) return known
    const saved = this.#saved.get(resource)
    const idProperty = this.#layout.find(resource)?.id.property ?? 'id'
    const opened = saved === undefined ? Collection.empty(idProperty) : new Collection(saved)
    this.#changed.set(resource, opened)
    return opened
  }
}
