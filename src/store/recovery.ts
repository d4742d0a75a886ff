import { Collection } from '../domain/collection.js'
import type { SavedRecords } from '../domain/records.js'
import type { Change, StoredState } from '../domain/state.js'
import type { Layout } from './layout.js'

/**
 * The state of a document after the changes of its journal. A changed record keeps its place in the order of creation; one
 * that was removed and added again is the newest.
 */
export function recover(document: StoredState, changes: readonly Change[], layout: Layout): StoredState {
  const last = changes.findLastIndex(({ kind }) => kind === 'replaced')
  const replaced = changes[last]
  const { records, others, keys } = replaced?.kind === 'replaced' ? replaced.state : document
  const saved = new Map<string, SavedRecords>(records)
  // Opened by the first change of a resource: a million records take time, and most documents have no journal.
  const changed = new Map<string, Collection>()
  const keysLeft = new Map(keys.map((key) => [key.key, key]))
  const recordsOf = (resource: string): Collection => {
    const opened = changed.get(resource) ?? openRecords(saved.get(resource), resource, layout)
    changed.set(resource, opened)
    return opened
  }
  for (const change of changes.slice(last + 1)) {
    if (change.kind === 'put') recordsOf(change.resource).put(change.record, change.rank)
    else if (change.kind === 'remove') recordsOf(change.resource).remove(change.scope, change.id)
    else if (change.kind === 'key') keysLeft.set(change.key.key, change.key)
    else if (change.kind === 'key-removed') keysLeft.delete(change.key)
  }
  for (const [name, collection] of changed) saved.set(name, collection.save())
  return { records: [...saved], others, keys: [...keysLeft.values()] }
}

function openRecords(saved: SavedRecords | undefined, resource: string, layout: Layout): Collection {
  return saved === undefined ? Collection.empty(layout.find(resource)?.id.property ?? 'id') : new Collection(saved)
}
