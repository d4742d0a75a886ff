import type { Values } from '../contract/contract.js'
import { parseInt64 } from '../contract/int64.js'
import { isNode } from '../contract/json.js'
import { fillValue, idInPath, type ResourceData, type Shape } from '../contract/resource-data.js'
import { type NewId, shapedValue } from '../contract/shaped-value.js'
import { isDeepEqual } from '../domain/collection.js'
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
    const property = resource.properties[name]
    if (name === resource.id.property) continue
    const isOurs =
      property?.readOnly === true ||
      resource.id.parts?.includes(name) ||
      /^(created-at|id)$/.test(property?.fill?.kind ?? '')
    let next =
      property?.fill?.kind === 'updated-at'
        ? fillValue(property.fill, now)
        : isOurs
          ? known[name]
          : shaped(patched[name], property?.shape)
    const isFilled = property?.required === true || request.action.kind === 'replace'
    const isPatched = next === undefined && request.action.kind !== 'replace'
    // A null in a patch keeps a property that each record must have.
    if (isPatched) next = property?.isNullable ? null : property?.required ? known[name] : undefined
    if (next === undefined && isFilled && property?.fill !== undefined) next = fillValue(property.fill, now)
    if (next === undefined && property?.required === true) next = known[name]
    if (next !== undefined) value[name] = next
  }
  return value
}

/** @source RFC 7396, section 2 */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isNode(patch)) return patch
  const result: Record<string, unknown> = isNode(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name]
    else result[name] = mergePatch(result[name], value)
  return result
}

/** Removes a record with the records below it: on nested paths, and on flat ones that a nested path shows by its id. */
export function removals(resource: ResourceData, scope: Scope, id: string, space: Space): readonly RecordChange[] {
  const changes = new Map<string, RecordChange>()
  const remove = (resourceData: ResourceData, within: Scope, own: string): void => {
    const key = JSON.stringify([resourceData.name, within, own])
    if (changes.has(key)) return
    changes.set(key, { kind: 'remove', resource: resourceData.name, scope: within, id: own })
    for (const child of space.shared.contract.resources) {
      const records = space.state.records.get(child.name)
      const isNested = child.parents.some((parent) => parent.resource === resourceData.name)
      const nested = isNested ? (records?.places([...within, idInPath(resourceData.id, own)], []) ?? []) : []
      const shown = shownBy(child, resourceData, space).flatMap(
        (property) => records?.places([], [[property, [own, parseInt64(own)]]]) ?? [],
      )
      for (const place of [...nested, ...shown])
        remove(child, records?.scopeAt(place) ?? [], String(records?.at(place)[child.id.property]))
    }
  }
  remove(resource, scope, id)
  return [...changes.values()].reverse()
}

/** The properties by which paths below one resource show the records of another. */
function shownBy(child: ResourceData, parent: ResourceData, { shared }: Space): readonly string[] {
  return shared.contract.operations
    .flatMap(({ action }) => (action?.resource === child.name ? (action.pathFilters ?? []) : []))
    .flatMap(({ resource, property }) => (resource === parent.name && property !== undefined ? [property] : []))
}

/** A property whose value must be unique, and that another record has. @param made other new records of the request */
export function findTaken(
  { id, unique }: ResourceData,
  value: Values,
  records?: RecordsView,
  made: readonly Values[] = [],
): string | undefined {
  const own = String(value[id.property])
  const others =
    unique.length === 0
      ? []
      : [...(records?.values() ?? []), ...made].filter((item) => String(item[id.property]) !== own)
  return unique.find(
    (property) => value[property] != null && others.some((other) => isDeepEqual(other[property], value[property])),
  )
}
