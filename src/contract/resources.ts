import { type Collections, groupByCollection, literalsOf, type OperationShape, operationsOf } from './collections.js'
import type { Place } from './document.js'
import { readAction } from './read-action.js'
import { type FoundResource, itemParameters, readResource } from './read-resource.js'
import { listExamples } from './record-schema.js'
import { type ParentData, placeInState, type ResourceAction, type ResourceData } from './resource-data.js'

export interface ResourceReading {
  readonly resources: readonly ResourceData[]
  /** By operation id (`operationId`, or method and path). */
  readonly actions: Readonly<Record<string, ResourceAction>>
  /** Why the other operations are mocked, by operation id. */
  readonly mocked: Readonly<Record<string, string>>
  /** Printed at the start: properties that are not stored as they were sent. */
  readonly notes: readonly string[]
}

export const NO_RESOURCES: ResourceReading = { resources: [], actions: {}, mocked: {}, notes: [] }

export function readResources(root: Place): ResourceReading {
  const mocked = new Map<string, string>()
  const found = findResources(groupByCollection(root), mocked)
  const actions = readActions(found, mocked)
  const resources = found.flatMap(({ resource, operations }) => {
    const own = [...actions].filter(([, action]) => action.resource === resource.name)
    if (own.length === 0) return []
    const seeded = withExamples(
      resource,
      own.map(([, action]) => action),
      operations,
    )
    if (typeof seeded !== 'string') return [seeded]
    for (const [id] of own) {
      actions.delete(id)
      mocked.set(id, seeded)
    }
    return []
  })
  const kept = new Set(resources.map(({ path }) => path))
  return withShortNames({
    resources,
    actions: Object.fromEntries(actions),
    mocked: Object.fromEntries(mocked),
    notes: found.flatMap(({ resource: { path }, unlike }) => {
      if (unlike.length === 0 || !kept.has(path)) return []
      return [
        `${path}: the type of ${unlike.join(', ')} in requests differs from the one in responses. Sent values are ignored.`,
      ]
    }),
  })
}

function findResources(collections: Collections, mocked: Map<string, string>): readonly FoundResource[] {
  const parameters = itemParameters(collections)
  return [...collections].flatMap(([path, paths]) => {
    const read = readResource(path, paths, collections, parameters)
    if (!('reason' in read)) return [read]
    for (const { operationId } of paths.flatMap(operationsOf)) mocked.set(operationId, read.reason)
    return []
  })
}

function readActions(found: readonly FoundResource[], mocked: Map<string, string>): Map<string, ResourceAction> {
  const actions = new Map<string, ResourceAction>()
  for (const one of found) {
    const origin = found.find((other) => isViewOf(one, other))
    const { parents } = one.resource
    for (const operation of one.operations) {
      const action = readAction(operation, { ...one, resource: (origin ?? one).resource })
      const isView = origin !== undefined && parents.length > 0
      if (typeof action === 'string') mocked.set(operation.operationId, action)
      else actions.set(operation.operationId, isView ? { ...action, pathFilters: parents } : action)
    }
  }
  return actions
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
  if (resource.parents.length > 0) return 'no operation creates its records, and they belong to other records'
  const examples = actions.some(({ kind }) => kind === 'list') ? listExamples(resource, operations) : []
  if (examples.length > 0) return { ...fixed, examples }
  return 'no operation creates its records, and the list has no valid example'
}

/** Shortens names, which are paths, to their last segment, else to the segments without parameters, where that is enough. */
function withShortNames({ resources, actions, ...rest }: ResourceReading): ResourceReading {
  const names = new Map<string, string>()
  for (const shorten of [
    (path: string) => literalsOf(path).at(-1) ?? path,
    (path: string) => literalsOf(path).join('/'),
  ]) {
    const paths = new Map<string, readonly string[]>()
    for (const { path } of resources) paths.set(shorten(path), [...(paths.get(shorten(path)) ?? []), path])
    for (const [name, [path = '', ...others]] of paths)
      if (others.length === 0 && !names.has(path)) names.set(path, name)
  }
  const short = (path: string) => names.get(path) ?? path.slice(1)
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
    ...rest,
  }
}

/** `/pets/findByStatus` and `/owners/{ownerId}/pets` are views of `/pets`: lists of the same records. */
function isViewOf(one: FoundResource, origin: FoundResource): boolean {
  if (one === origin || one.record.value !== origin.record.value) return false
  const [own, others] = [one.resource.parents, origin.resource.parents]
  if (others.length > 0 || !origin.isWritten) return false
  return own.length === 0 ? !one.isWritten : own.every(({ property }) => property !== undefined)
}
