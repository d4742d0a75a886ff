import type { Operation, Values } from '../contract/contract.js'
import { isNode, parseShallowJson, stringifyJson } from '../contract/json.js'
import type { MetaField, ResourceAction, ResourceData } from '../contract/resource-data.js'
import type { Collection } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import { originalsName } from './collections.js'
import { isFirstPage } from './record-page.js'
import type { RequestContext } from './request-context.js'
import { filtersOf } from './resource-actions.js'

/** Local records of a resource in front of a real service, and the service's records that they replace. */
export interface OverlayRecords {
  readonly resource: ResourceData
  readonly own: Collection
  /** The records of the service before the change. One without a record in `own` was removed here. */
  readonly originals: Collection
}

/** @returns undefined if no operation creates records */
export function overlayRecords({ space }: RequestContext, name: string | undefined): OverlayRecords | undefined {
  const resource = space.shared.contract.resources.find((one) => one.name === name && one.isFixed === undefined)
  const own = resource && space.records.get(resource.name)
  const originals = resource && space.records.get(originalsName(resource.name))
  return resource && own && originals && { resource, own, originals }
}

export interface Named {
  readonly scope: Scope
  readonly id: unknown
}

export function namedBy({ readings }: RequestContext, action: ResourceAction, { id, parents }: ResourceData): Named {
  const path = Object.values(readings?.path.values ?? {})
  const scope = action.pathFilters === undefined ? path.slice(0, parents.length).map(String) : []
  const isOne = action.kind !== 'list' && action.kind !== 'create'
  const own = action.isIdInBody ? readings?.body?.values[id.property] : path.at(-1)
  return { scope, id: isOne ? own : undefined }
}

/** Whether the sandbox decides on a record, because it has added, changed or removed it. */
export function isDecidedHere({ own, originals }: OverlayRecords, { scope, id }: Named): boolean {
  return own.get(scope, id) !== undefined || originals.get(scope, id) !== undefined
}

interface ParentRecord extends Named {
  readonly resource: string
  readonly isHere: boolean
  readonly isRemoved: boolean
}

/** The parents in the path that are records, outermost first. */
export function parentRecords(context: RequestContext, action: ResourceAction): readonly ParentRecord[] {
  const parents = action.pathFilters ?? overlayRecords(context, action.resource)?.resource.parents ?? []
  const ids = Object.values(context.readings?.path.values ?? {}).map(String)
  return parents.flatMap(({ resource }, index) => {
    const records = overlayRecords(context, resource)
    if (resource === undefined || records === undefined) return []
    const named = { scope: ids.slice(0, index), id: ids[index] }
    const isHere = records.own.get(named.scope, named.id) !== undefined
    return [{ ...named, resource, isHere, isRemoved: !isHere && isDecidedHere(records, named) }]
  })
}

/** Where the real service has one record, below the base path; undefined if no operation returns it. */
export function addressOfOne({ space }: RequestContext, resource: string, { scope, id }: Named): string | undefined {
  const get = getOperation(space.shared.contract.operations, resource)
  if (get === undefined || id === undefined) return undefined
  const values = [...scope, String(id)]
  return get.path.replaceAll(/\{[^{}]*\}/g, () => encodeURIComponent(values.shift() ?? ''))
}

function getOperation(operations: readonly Operation[], resource: string): Operation | undefined {
  return operations.find(
    ({ action, isMocked }) =>
      action?.kind === 'get' && action.resource === resource && !action.pathFilters && !isMocked,
  )
}

/** Copies a record of the real service, so that a request can change or remove it here. @throws StoreFull, InvalidRecord */
export function copyOriginal(
  context: RequestContext,
  { resource }: OverlayRecords,
  named: Named,
  body: string,
): boolean {
  const { space } = context
  const envelope = getOperation(space.shared.contract.operations, resource.name)?.action?.envelope
  const document = parsed(body)
  const value = envelope === undefined ? document : isNode(document) ? document[envelope] : undefined
  if (!isNode(value) || String(value[resource.id.property]) !== String(named.id)) return false
  const record = { scope: named.scope, value }
  space.changeRecord({ kind: 'put', resource: resource.name, record })
  space.changeRecord({ kind: 'put', resource: originalsName(resource.name), record })
  return true
}

function parsed(text: string): unknown {
  try {
    return parseShallowJson(text)
  } catch {
    return undefined
  }
}

/** A list of the real service with the records kept here; undefined if they change nothing. */
export function mergedList(context: RequestContext, action: ResourceAction, body: string): string | undefined {
  const records = overlayRecords(context, action.resource)
  const { readings, space } = context
  if (records === undefined || readings === undefined || records.own.size + records.originals.size === 0)
    return undefined
  const { envelope, query: roles, meta = {} } = action
  const document = parsed(body)
  const theirs: unknown = envelope === undefined ? document : isNode(document) ? document[envelope] : undefined
  if (!Array.isArray(theirs)) return undefined
  const { own, originals, resource } = records
  const { scope } = namedBy(context, action, resource)
  const query = readings.query.values
  const filters = filtersOf({ action, path: readings.path.values, query })
  const places = own.places(scope, filters)
  const replaced = originals.places(scope, filters)
  /** A changed record is at its place in the service's list, on this page or another. */
  const isInTheirs = (place: number) =>
    replaced.includes(originals.placeOf(own.scopeAt(place), own.at(place)[own.idProperty]) ?? -1)
  const added = places.filter((place) => !isInTheirs(place)).map((place) => own.at(place))
  const first = isFirstPage(query, roles) ? (space.shared.order === 'newest' ? added.reverse() : added) : []
  const scopeOf = (item: Values) =>
    action.pathFilters === undefined ? scope : resource.parents.map(({ property = '' }) => String(item[property]))
  const others = (theirs as readonly unknown[]).flatMap((item) => {
    if (!isNode(item)) return [item]
    const named = { scope: scopeOf(item), id: item[own.idProperty] }
    const place = own.placeOf(named.scope, named.id) ?? -1
    if (places.includes(place) && isInTheirs(place)) return [own.at(place)]
    return isDecidedHere(records, named) ? [] : [item]
  })
  const limit = Number(query[roles?.limit ?? ''] ?? Number.POSITIVE_INFINITY)
  const items = [...first, ...others].slice(0, limit)
  if (envelope === undefined) return stringifyJson(items)
  const more = places.length - replaced.length
  return stringifyJson({ ...withCounts(document as Values, meta, more, items.length), [envelope]: items })
}

function withCounts(document: Values, meta: Readonly<Record<string, MetaField>>, added: number, count: number): Values {
  const changed = Object.entries(meta).flatMap(([name, field]): readonly (readonly [string, unknown])[] => {
    const value = document[name]
    if (field.role === 'group') return isNode(value) ? [[name, withCounts(value, field.fields, added, count)]] : []
    if (typeof value !== 'number') return []
    return field.role === 'total' ? [[name, value + added]] : field.role === 'count' ? [[name, count]] : []
  })
  return { ...document, ...Object.fromEntries(changed) }
}
