import { idInPath, type ResourceData } from '../contract/resource-data.js'
import { propertyOf } from '../domain/collection.js'
import type { RecordChange, Scope } from '../domain/records.js'
import type { RecordsView } from './collections.js'
import type { Space } from './space.js'

/** Removes a record with the records below it: on nested paths, and on flat ones that a nested path shows by its id. */
export function removals(resource: ResourceData, scope: Scope, id: string, space: Space): readonly RecordChange[] {
  const changes = new Map<string, RecordChange>()
  const indexes = new Map<string, ReadonlyMap<string, readonly number[]>>()
  const shownBelow = (child: ResourceData, parent: ResourceData, records: RecordsView) => {
    const key = JSON.stringify([child.name, parent.name])
    const index = indexes.get(key) ?? indexById(records, shownBy(child, parent, space))
    indexes.set(key, index)
    return index
  }
  // Without recursion: a folder in a folder, thousands of times.
  const open: (readonly [ResourceData, Scope, string])[] = [[resource, scope, id]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [parent, within, own] = next
    const key = JSON.stringify([parent.name, within, own])
    if (changes.has(key)) continue
    changes.set(key, { kind: 'remove', resource: parent.name, scope: within, id: own })
    for (const child of space.shared.contract.resources) {
      const records = space.state.records.get(child.name)
      if (records === undefined) continue
      const isNested = child.parents.some((item) => item.resource === parent.name)
      const nested = isNested ? records.places([...within, idInPath(parent.id, own)], []) : []
      for (const place of [...nested, ...(shownBelow(child, parent, records).get(own) ?? [])])
        open.push([child, records.scopeAt(place), String(records.at(place)[child.id.property])])
    }
  }
  return [...changes.values()].reverse()
}

/** The places of records by each id that they have in some properties. */
function indexById(records: RecordsView, properties: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const index = new Map<string, number[]>()
  for (const property of properties)
    for (const place of records.places([], []))
      for (const id of [propertyOf(records.at(place), property) ?? []].flat()) {
        const places = index.get(String(id))
        if (places === undefined) index.set(String(id), [place])
        else places.push(place)
      }
  return index
}

/** The properties by which paths below one resource show the records of another. */
function shownBy(child: ResourceData, parent: ResourceData, { shared }: Space): readonly string[] {
  return shared.contract.operations
    .flatMap(({ action }) => (action?.resource === child.name ? (action.pathFilters ?? []) : []))
    .flatMap(({ resource, property }) => (resource === parent.name && property !== undefined ? [property] : []))
}
