import type { Values } from '../contract/contract.js'
import { isNode, ownValue, stringifyJson } from '../contract/json.js'
import { fillValue, idInPath, type ResourceData, type Shape } from '../contract/resource-data.js'
import { type NewId, shapedValue } from '../contract/shaped-value.js'
import { propertyOf } from '../domain/collection.js'
import type { RecordChange, Scope } from '../domain/records.js'
import type { ActionRequest } from './action-request.js'
import type { RecordsView } from './collections.js'
import { newRowIds } from './new-ids.js'
import type { Space } from './space.js'

/** The record after PUT (on nothing) or PATCH (on what there is): read-only properties stay, timestamps move. */
export function changedRecord(request: ActionRequest, known: Values, base: Values, space: Space): Values {
  const { resource, body, now } = request
  let rowIds: NewId | undefined
  const shaped = (sent: unknown, shape: Shape | undefined) => {
    if (shape === undefined) return sent
    rowIds ??= newRowIds(space, resource, known[resource.id.property], [known, body])
    return shapedValue(sent, shape, rowIds)
  }
  const value: Record<string, unknown> = { [resource.id.property]: known[resource.id.property] }
  const patched = mergePatch(base, body) as Values
  const declared = Object.keys(resource.properties)
  const sent = declared.length === 0 || resource.isOpen ? Object.keys(patched) : []
  const names = new Set([...declared, ...Object.keys(known), ...sent])
  for (const name of names) {
    const property = ownValue(resource.properties, name)
    if (name === resource.id.property || name === '__proto__') continue
    const isOurs =
      property?.readOnly === true ||
      resource.id.parts?.includes(name) ||
      /^(created-at|id)$/.test(property?.fill?.kind ?? '')
    let next =
      property?.fill?.kind === 'updated-at'
        ? fillValue(property.fill, now)
        : isOurs
          ? ownValue(known, name)
          : shaped(ownValue(patched, name), property?.shape)
    const isFilled = property?.required === true || request.action.kind === 'replace'
    const isPatched = next === undefined && request.action.kind !== 'replace'
    // A null in a patch keeps a property that each record must have.
    if (isPatched) next = property?.isNullable ? null : property?.required ? ownValue(known, name) : undefined
    if (next === undefined && isFilled && property?.fill !== undefined) next = fillValue(property.fill, now)
    if (next === undefined && property?.required === true) next = ownValue(known, name)
    if (next !== undefined) value[name] = next
  }
  return value
}

/** @source RFC 7396, section 2 */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isNode(patch)) return patch
  const result = new Map(isNode(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), value))
  return Object.fromEntries(result)
}

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

/**
 * Finds a property whose value must be unique, and that another record has: a known one, or one that was asked about before.
 * @param own the id of the record, if it is known
 */
export function takenFinder(
  { id, unique }: ResourceData,
  records?: RecordsView,
  own?: string,
): (value: Values) => string | undefined {
  if (unique.length === 0) return () => undefined
  const taken = unique.map((property) => [property, new Set<unknown>()] as const)
  const add = (value: Values) => {
    for (const [property, values] of taken) if (value[property] != null) values.add(comparable(value[property]))
  }
  for (const known of records?.values() ?? []) if (String(known[id.property]) !== own) add(known)
  return (value) => {
    const [found] = taken.find(([property, values]) => values.has(comparable(value[property]))) ?? []
    if (found === undefined) add(value)
    return found
  }
}

/** The same for equal values. */
function comparable(value: unknown): unknown {
  return typeof value === 'object' ? `\u0000${stringifyJson(value)}` : value
}
