import type { Values } from '../contract/contract.js'
import { parseInt64 } from '../contract/int64.js'
import { isOwnId } from '../contract/names.js'
import { parentKey } from '../contract/parent-key.js'
import { idFromPath, type ParentData, type ResourceData } from '../contract/resource-data.js'
import { inOtherType } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import type { ActionRequest } from './action-request.js'
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

export function hasParent({ resource, parameter, scope, id }: Parent, { state, shared }: Space): boolean {
  const records = state.records.get(resource)
  const data = shared.contract.resources.find(({ name }) => name === resource)
  if (records === undefined || data === undefined) return false
  const named = records.get(scope, id)
  if (named !== undefined && namesBelow(parameter, data, id, named).includes(id)) return true
  const key = parentKey(parameter, data)
  return key !== undefined && records.places(scope, [[key, inOtherType(id)]]).length > 0
}

/** Names of a record in paths below it: its id, and another property that has the name of the parameter. */
export function namesBelow(parameter: string, parent: ResourceData, id: string, value?: Values): readonly string[] {
  const other = value?.[parentKey(parameter, parent) ?? '']
  if (other === undefined) return [id]
  // The number of a user is that property, also if a user has the number as its name.
  const isOther = isOwnId(parameter, parent.path) && typeof other !== 'string' && parseInt64(id) !== undefined
  return isOther ? [String(other)] : [id, String(other)]
}

/** The request with the parents of its record in the path; undefined if there is no such record. */
export function withOwnParents(request: ActionRequest, id: unknown, { state }: Space): ActionRequest | undefined {
  const { resource, path } = request
  const records = state.records.get(resource.name)
  const [place] = records?.places([], [[resource.id.property, inOtherType(id)]]) ?? []
  if (records === undefined || place === undefined) return undefined
  const [scope, value] = [records.scopeAt(place), records.at(place)]
  const parents = Object.fromEntries(
    // A scope has texts; the record has the id in its own type.
    resource.parents.map(({ parameter, property = '' }, index) => [parameter, value[property] ?? scope[index]]),
  )
  return { ...request, path: { ...parents, ...path } }
}
