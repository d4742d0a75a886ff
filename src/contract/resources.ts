import { groupByCollection, literalsOf, type OperationShape, operationsOf } from './collections.js'
import type { Place } from './document.js'
import { readAction } from './read-action.js'
import { type FoundResource, readResource } from './read-resource.js'
import { listExamples } from './record-schema.js'
import { type ParentData, placeInState, type ResourceAction, type ResourceData } from './resource-data.js'

export interface ResourceReading {
  readonly resources: readonly ResourceData[]
  /** By operation id (`operationId`, or method and path). */
  readonly actions: Readonly<Record<string, ResourceAction>>
  /** Why the other operations are mocked, by operation id. */
  readonly mocked: Readonly<Record<string, string>>
}

export const NO_RESOURCES: ResourceReading = { resources: [], actions: {}, mocked: {} }

export function readResources(root: Place): ResourceReading {
  const collections = groupByCollection(root)
  const actions: Record<string, ResourceAction> = {}
  const mocked: Record<string, string> = {}
  const found = new Map<string, FoundResource>()
  for (const [path, paths] of collections) {
    const read = readResource(path, paths, collections)
    if ('reason' in read) for (const { operationId } of paths.flatMap(operationsOf)) mocked[operationId] = read.reason
    else found.set(path, read)
  }
  const resources = [...found].flatMap(([path, one]) => {
    const origin = [...found.values()].find((other) => isViewOf(one, other))
    const own = (collections.get(path) ?? []).flatMap(operationsOf)
    for (const operation of own) {
      const action = readAction(operation, { ...one, resource: (origin ?? one).resource })
      if (typeof action === 'string') mocked[operation.operationId] = action
      else actions[operation.operationId] = origin === undefined ? action : asView(action, one.resource)
    }
    const isStateful = own.some(({ operationId }) => Object.hasOwn(actions, operationId))
    return isStateful && origin === undefined ? [one.resource] : []
  })
  const kept = resources.flatMap((resource) => {
    const own = Object.entries(actions).filter(([, action]) => action.resource === resource.name)
    const seeded = withExamples(
      resource,
      own.map(([, action]) => action),
      (collections.get(resource.path) ?? []).flatMap(operationsOf),
    )
    if (typeof seeded !== 'string') return [seeded]
    for (const [id] of own) {
      delete actions[id]
      mocked[id] = seeded
    }
    return []
  })
  return withShortNames({ resources: kept, actions, mocked })
}

function asView(action: ResourceAction, { parents }: ResourceData): ResourceAction {
  return parents.length === 0 ? action : { ...action, pathFilters: parents }
}

/** A resource with the records that it starts with, or why its operations are mocked. */
function withExamples(
  resource: ResourceData,
  actions: readonly ResourceAction[],
  operations: readonly OperationShape[],
): ResourceData | string {
  if (resource.path === '/pets') return resource
  if (!actions.some(({ kind }) => kind === 'list' || kind === 'get')) return 'no operation reads its records'
  if (actions.some(({ kind }) => kind === 'create')) return resource
  const fixed = { ...resource, isFixed: true } as const
  if (actions.every(({ kind }) => kind === 'list') && placeInState(fixed) === 'orders') return fixed
  const examples = listExamples(resource, operations)
  if (examples.length > 0) return { ...fixed, examples }
  return 'no operation creates its records, and the list has no example'
}

/** Shortens names, which are paths, to their last segment, else to the segments without parameters, where that is enough. */
function withShortNames({ resources, actions, mocked }: ResourceReading): ResourceReading {
  const lastOf = (path: string) => literalsOf(path).at(-1) ?? path
  const literalsIn = (path: string) => literalsOf(path).join('/')
  const isOwn = (path: string, shorten: (path: string) => string) =>
    resources.every((one) => one.path === path || shorten(one.path) !== shorten(path))
  const short = (path: string) => [lastOf, literalsIn].find((shorten) => isOwn(path, shorten))?.(path) ?? path.slice(1)
  const shortParents = (parents: readonly ParentData[]) =>
    parents.map(({ resource, ...parent }) => ({
      ...parent,
      ...(resources.some(({ name }) => name === resource) ? { resource: short(resource ?? '') } : {}),
    }))
  const shortAction = ({ pathFilters, ...action }: ResourceAction): ResourceAction => ({
    ...action,
    resource: short(action.resource),
    ...(pathFilters && { pathFilters: shortParents(pathFilters) }),
  })
  return {
    resources: resources.map((one) => ({ ...one, name: short(one.name), parents: shortParents(one.parents) })),
    actions: Object.fromEntries(Object.entries(actions).map(([id, action]) => [id, shortAction(action)])),
    mocked,
  }
}

/** `/pets/findByStatus` and `/owners/{ownerId}/pets` are views of `/pets`: lists of the same records. */
function isViewOf(one: FoundResource, origin: FoundResource): boolean {
  if (one === origin || one.record.value !== origin.record.value) return false
  const [own, others] = [one.resource.parents, origin.resource.parents]
  if (others.length > 0 || !origin.isWritten) return false
  return own.length === 0 ? !one.isWritten : own.every(({ property }) => property !== undefined)
}
