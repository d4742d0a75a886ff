import { parentKey } from '../contract/parent-key.js'
import { idFromPath, type ParentData } from '../contract/resource-data.js'
import { inOtherType } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import type { Space } from './space.js'

/** Whether every parent that is a resource has the record that the path names. */
export function hasParents(parents: readonly ParentData[], ids: Scope, space: Space): boolean {
  return parents.every(({ resource, template, parameter }, index) => {
    if (resource === undefined) return true
    const id = String(idFromPath(template, ids.slice(0, index + 1)) ?? '')
    return hasParent({ resource, parameter, scope: ids.slice(0, index), id }, space)
  })
}

interface Parent {
  readonly resource: string
  readonly parameter: string
  readonly scope: Scope
  readonly id: string
}

/** By its id, or by another property that has the name of the parameter. */
export function hasParent({ resource, parameter, scope, id }: Parent, { state, shared }: Space): boolean {
  const records = state.records.get(resource)
  if (records?.get(scope, id) !== undefined) return true
  const data = shared.contract.resources.find(({ name }) => name === resource)
  const key = data && parentKey(parameter, data)
  return key !== undefined && records !== undefined && records.places(scope, [[key, inOtherType(id)]]).length > 0
}
