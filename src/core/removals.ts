import { idInPath, type ParentData, type ResourceData } from '../contract/resource-data.js'
import { propertyOf } from '../domain/collection.js'
import type { RecordChange, Scope } from '../domain/records.js'
import type { RecordsView } from './collections.js'
import { namesBelow } from './parent-records.js'
import type { Space } from './space.js'

/** Removes a record with the records below it: on nested paths, and on flat ones that a nested path shows by its id. */
export function removals(resource: ResourceData, scope: Scope, id: string, space: Space): readonly RecordChange[] {
  const changes = new Map<string, RecordChange>()
  const indexes = new Map<string, ReadonlyMap<string, readonly number[]>>()
  const shownBelow = (child: ResourceData, property: string, records: RecordsView) => {
    const key = JSON.stringify([child.name, property])
    const index = indexes.get(key) ?? indexById(records, property)
    indexes.set(key, index)
    return index
  }
  const children = space.shared.contract.resources.flatMap((child) => {
    const records = space.state.records.get(child.name)
    return records === undefined ? [] : [{ child, records, filters: parentsOf(child, space) }]
  })
  // Without recursion: a folder in a folder, thousands of times.
  const open: (readonly [ResourceData, Scope, string])[] = [[resource, scope, id]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [parent, within, own] = next
    const key = JSON.stringify([parent.name, within, own])
    if (changes.has(key)) continue
    changes.set(key, { kind: 'remove', resource: parent.name, scope: within, id: own })
    const value = space.state.records.get(parent.name)?.get(within, own)
    for (const { child, records, filters } of children) {
      // Folders in a folder have their `parentId`, as it has its own.
      const namesOf = ({ parameter, property }: ParentData, id: string) =>
        child === parent && property === parameter ? [id] : namesBelow(parameter, parent, id, value)
      const isOf = ({ resource }: ParentData) => resource === parent.name
      const nested = child.parents
        .filter(isOf)
        .flatMap((item) => namesOf(item, idInPath(parent.id, own)))
        .flatMap((name) => records.places([...within, name], []))
      const shown = filters
        .filter(isOf)
        .flatMap((item) => namesOf(item, own).map((name) => [item.property, name] as const))
        .flatMap(([property = '', name]) => shownBelow(child, property, records).get(name) ?? [])
        .filter((place) => records.scopeAt(place).every((id, index) => id === within[index]))
      for (const place of new Set([...nested, ...shown]))
        open.push([child, records.scopeAt(place), String(records.at(place)[child.id.property])])
    }
  }
  return [...changes.values()].reverse()
}

/** The places of records by each id that they have in a property. */
function indexById(records: RecordsView, property: string): ReadonlyMap<string, readonly number[]> {
  const index = new Map<string, number[]>()
  for (const place of records.places([], []))
    for (const id of [propertyOf(records.at(place), property) ?? []].flat()) {
      const places = index.get(String(id))
      if (places === undefined) index.set(String(id), [place])
      else places.push(place)
    }
  return index
}

/** The parents whose paths show records of a resource by a property. */
function parentsOf(child: ResourceData, { shared }: Space): readonly ParentData[] {
  return shared.contract.operations.flatMap(({ action }) =>
    action?.resource === child.name ? (action.pathFilters ?? []) : [],
  )
}
